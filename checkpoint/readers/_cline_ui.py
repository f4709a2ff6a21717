"""The display's messages of Cline, Roo Code and Kilo Code: `ui_messages.json`.

They tell who spoke and when, but little of what tools gave back.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from checkpoint.model import Category, Change, Origin, Part, Reasoning, Role, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._calls import checklist, close_call, diff_of
from checkpoint.readers._cline import summary_part
from checkpoint.readers._whole import Record, at_of, dict_of, text_of

_TOOLS: dict[str, Category] = {
    "readFile": "read",
    "listFilesTopLevel": "read",
    "listFilesRecursive": "read",
    "listCodeDefinitionNames": "read",
    "searchFiles": "search",
    "codebaseSearch": "search",
    "editedExistingFile": "edit",
    "appliedDiff": "edit",
    "searchAndReplace": "edit",
    "insertContent": "edit",
    "newFileCreated": "write",
    "fileDeleted": "edit",
    "webFetch": "fetch",
    "newTask": "subagent",
    "updateTodoList": "todo",
}
_PERSON = frozenset({"task", "user_feedback", "user_feedback_diff"})
_AGENT = frozenset({"text", "completion_result", "plan_mode_respond", "followup"})
_WRONG = frozenset(
    {"error", "diff_error", "clineignore_error", "mistake_limit_reached", "api_req_failed"}
)
_SILENT = frozenset(
    {
        "api_req_started", "api_req_finished", "api_req_retried", "api_req_retry_delayed",
        "api_req_deleted", "checkpoint_created", "checkpoint_saved", "resume_task",
        "resume_completed_task", "shell_integration_warning", "deleted_api_reqs", "info",
        "mcp_server_request_started", "load_mcp_documentation", "generate_explanation",
        "command_permission_denied", "subagent_usage", "hook_status", "hook_output_stream",
        "browser_action_launch", "codebase_search_result", "conditional_rules_applied",
    }
)  # fmt: skip


def put_ui(records: list[Record], into: Assembler) -> None:
    """Put the display's messages; unfinished (`partial`) ones are left out."""
    shown = _Shown(into)
    for number, record in enumerate(records):
        if record.get("partial") is True:
            continue
        asked = record.get("type") == "ask"
        kind = text_of(record.get("ask" if asked else "say"))
        if number == 0 and kind == "text":
            kind = "task"
        model = text_of(dict_of(record.get("modelInfo")).get("modelId"))
        into.head.model = model or into.head.model
        shown.put(kind, text_of(record.get("text")), at_of(record.get("ts")), number)


class _Shown:
    def __init__(self, into: Assembler) -> None:
        self._into = into
        self._command: ToolCall | None = None
        self._last = ""

    def put(self, kind: str, text: str, at: datetime | None, number: int) -> None:
        """Put one message of the display."""
        if kind in _PERSON:
            words: list[Part] = [Text(self._feedback(kind, text))] if text.strip() else []
            self._say("user", words, "person", at)
        elif kind in _AGENT and text.strip():
            if text != self._last:
                self._say("assistant", [Text(self._question(kind, text))], "agent", at)
            self._last = text
        elif kind == "reasoning" and text.strip():
            self._say("assistant", [Reasoning(text)], "agent", at)
        elif kind == "tool":
            self._tool(text, at, number)
        elif kind in ("command", "command_output"):
            self._shell(kind, text, at, number)
        elif kind == "task_progress":
            todos = tuple(checklist(text))
            if todos:
                self._say("assistant", [ToolCall(kind, "todo", todos=todos)], "agent", at)
        elif kind in ("condense", "condense_context", "summarize_task"):
            words = [Text(text)] if text.strip() else []
            self._say("user", [summary_part(), *words], "summary", at)
        elif kind in (
            "error",
            "diff_error",
            "clineignore_error",
            "mistake_limit_reached",
            "api_req_failed",
        ):
            self._say("system", [Text(text, injected=True)], "injected", at)
        elif kind not in _SILENT and kind not in _AGENT and kind != "reasoning":
            self._into.problems.add(
                f"unknown display message {kind!r}", f"message {number}", "note"
            )

    def _say(self, role: Role, parts: list[Part], origin: Origin, at: datetime | None) -> None:
        self._into.message(role, parts, origin=origin, at=at, cwd=self._into.head.cwd)

    def _feedback(self, kind: str, text: str) -> str:
        if kind != "user_feedback_diff":
            return text
        fields = _json(text)
        return (
            f"(edited {text_of(fields.get('path'))})\n{text_of(fields.get('diff'))}"
            if fields
            else text
        )

    def _question(self, kind: str, text: str) -> str:
        fields = _json(text) if kind in ("followup", "plan_mode_respond") else {}
        return text_of(fields.get("question")) or text_of(fields.get("response")) or text

    def _shell(self, kind: str, text: str, at: datetime | None, number: int) -> None:
        if kind == "command":
            line = text.removesuffix("REQ_APP").strip()
            if self._command and self._command.target == line and not self._command.finished:
                return
            if self._command and not self._command.finished:
                self._into.abandon(self._command.id)
            self._command = ToolCall(
                "execute_command", "shell", line, f"ui-{number}", finished=False
            )
            self._say("assistant", [self._command], "agent", at)
        elif self._command:
            output = "\n".join(filter(None, (self._command.output, text)))
            close_call(self._command, output)
            self._into.close(self._command.id)

    def _tool(self, text: str, at: datetime | None, number: int) -> None:
        fields = _json(text)
        name = text_of(fields.get("tool"))
        if not name:
            self._into.problems.add(
                "a tool's display message without its name", f"message {number}", "note"
            )
            return
        category = _TOOLS.get(name, "other")
        path = text_of(fields.get("path"))
        call = ToolCall(name, category, path or text_of(fields.get("regex")), input=fields)
        content = text_of(fields.get("content")) or text_of(fields.get("diff"))
        if category in ("edit", "write") and path:
            changes = diff_of(text_of(fields.get("diff")) or content, path)
            made = Change(path, "created" if category == "write" else "edited", new=content)
            gone = Change(path, "deleted")
            call.changes = tuple(changes) or ((gone if name == "fileDeleted" else made),)
        elif category != "read":
            call.output = content
        call.todos = tuple(checklist(content)) if category == "todo" else ()
        self._say("assistant", [call], "agent", at)


def _json(text: str) -> Record:
    try:
        return dict_of(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
