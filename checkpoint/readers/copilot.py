"""GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, older `<id>.jsonl` beside it.

Events `{type, data, id, timestamp, parentId}`. A person's words are `user.message` `content`; what
the program wrapped around them (`transformedContent`) is left out. To-do items stand in calls of
the `sql` tool (older: `update_todo` with a check list) and are taken from its INSERT and UPDATE
statements.

Not in the format: what a refused call was refused for, but in the words of its result.

Source: sessions by versions 0.0.340 to 1.0.64.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import (
    Attachment,
    Category,
    Compaction,
    Cursor,
    Origin,
    Part,
    Reasoning,
    Text,
    Todo,
    ToolCall,
)
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._calls import close_call, diff_of, make_call, status_of
from checkpoint.readers._jsonl import JsonlReader, Session
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import Record, at_of, dict_of, records_of, text_of

TABLE: dict[str, Category] = {
    "report_intent": "other",
    "read_bash": "shell",
    "write_bash": "shell",
    "stop_bash": "shell",
    "list_bash": "other",
    "update_todo": "todo",
    "sql": "other",
    "view": "read",
    "rg": "search",
    "skill": "other",
    "exit_plan_mode": "other",
}
_FAMILIES = ("session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent.", "skill.")
_SILENT = (
    "hook.", "permission.", "assistant.turn_", "assistant.usage", "assistant.intent",
    "assistant.reasoning", "assistant.streaming", "tool.execution_progress",
    "tool.execution_partial", "tool.user_requested", "session.idle",
    "session.usage", "session.shutdown", "session.title",
    "session.mode", "session.plan", "session.workspace", "session.truncation", "session.handoff",
    "session.snapshot", "session.background", "session.task_complete", "session.tools",
    "session.skills", "session.mcp", "session.custom", "session.context", "session.remote",
    "pending_messages.", "external_tool.", "user_input.", "elicitation.", "command.", "subagent.",
    "sampling.", "mcp.", "system.notification", "exit_plan_mode.", "capabilities.", "auto_mode",
)  # fmt: skip


class CopilotCli(JsonlReader):
    """Reads the events of GitHub Copilot CLI."""

    name = "copilot-cli"
    title = "GitHub Copilot CLI"

    def identify(self, head: Head) -> bool:
        records = head.records[:20]
        if not records or not all("type" in one and "data" in one for one in records):
            return False
        first = records[0]
        if first.get("type") == "session.start":
            return True
        kinds = [text_of(one.get("type")) for one in records]
        return {"id", "timestamp", "parentId"} <= first.keys() and all(
            kind.startswith(_FAMILIES) for kind in kinds[:5]
        )

    def begin(self, start: Head, into: Assembler) -> None:
        for record in start.records:
            if record.get("type") == "session.start":
                _start(dict_of(record.get("data")), into)
                return

    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        return _Events(path, into)

    def roots(self) -> list[Path]:
        home = os.environ.get("COPILOT_HOME") or os.environ.get("XDG_STATE_HOME", "")
        places = [Path(home) / "session-state", Path(home) / ".copilot" / "session-state"]
        own = Path.home() / ".copilot"
        places = places if home else []
        return [*places, own / "session-state", own / "history-session-state"]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in (*root.glob("*/events.jsonl"), *root.glob("*.jsonl")):
                try:
                    head, changed = Head.of(path), path.stat().st_mtime
                except (OSError, ReadError):
                    continue
                first = next((r for r in head.records if r.get("type") == "session.start"), {})
                data = dict_of(first.get("data"))
                context = dict_of(data.get("context"))
                name = path.parent.name if path.name == "events.jsonl" else path.stem
                started = at_of(data.get("startTime") or first.get("timestamp"))
                yield Found(
                    self.name, path, text_of(data.get("sessionId")) or name,
                    text_of(context.get("cwd")), "", started.timestamp() if started else 0.0,
                    changed, None, "", False, b'"user.message"' not in head.start and head.whole,
                    text_of(context.get("branch")),
                )  # fmt: skip


def _start(data: Record, into: Assembler) -> None:
    head = into.head
    head.id = text_of(data.get("sessionId"))
    head.version = text_of(data.get("copilotVersion"))
    head.started = at_of(data.get("startTime"))
    head.model = text_of(data.get("selectedModel"))
    _place(data, into)


def _place(data: Record, into: Assembler) -> None:
    context = dict_of(data.get("context"))
    if context:
        known = {"cwd": text_of(context.get("cwd")), "branch": text_of(context.get("branch"))}
        into.head.cwd = known["cwd"] or into.head.cwd
        into.head.branch = known["branch"] or into.head.branch
        into.carry = into.carry | known


class _Events(Session):
    """Turns the events of one session into messages."""

    def record(self, record: Record) -> None:
        kind = text_of(record.get("type"))
        data = dict_of(record.get("data"))
        fields: dict[str, Any] = {
            "id": text_of(record.get("id")),
            "at": self.at(record),
            "cwd": self.into.carry.get("cwd", ""),
            "branch": self.into.carry.get("branch", ""),
            "subagent": text_of(data.get("parentToolCallId")) or text_of(record.get("agentId")),
        }
        if kind == "user.message":
            self._user(data, fields)
        elif kind == "assistant.message":
            self._assistant(data, fields)
        elif kind == "tool.execution_start":
            self._started(data, fields)
        elif kind == "tool.execution_complete":
            self._complete(data)
        elif kind == "subagent.started":
            known = self.into.carry.get("subagents", ())
            self.carry(subagents=[*known, text_of(data.get("toolCallId"))])
        else:
            self._program(kind, data, fields)

    def _user(self, data: Record, fields: dict[str, Any]) -> None:
        parts: list[Part] = [*split_injected(text_of(data.get("content")))]
        for one in records_of(data.get("attachments")):
            name = text_of(one.get("path")) or text_of(one.get("displayName"))
            parts.append(Attachment(name, text_of(one.get("mimeType"))))
        origin: Origin = "person"
        source = text_of(data.get("source"))
        if source not in ("", "user") or data.get("isAutopilotContinuation") is True:
            origin = "injected"
        task = text_of(data.get("parentAgentTaskId"))
        if fields["subagent"] or (task and task in self.into.carry.get("subagents", ())):
            origin, fields["subagent"] = "agent", fields["subagent"] or task
        words = [part for part in parts if isinstance(part, Text)]
        if words and all(part.injected for part in words):
            origin = "injected"
        self.into.message("user", parts, origin=origin, **fields)

    def _assistant(self, data: Record, fields: dict[str, Any]) -> None:
        model = text_of(data.get("model")) or self.into.carry.get("model", "")
        self.into.head.model = model or self.into.head.model
        parts: list[Part] = []
        thought = text_of(data.get("reasoningText"))
        if thought.strip():
            parts.append(Reasoning(thought))
        if text_of(data.get("content")).strip():
            parts.append(Text(self.text(text_of(data.get("content")))))
        parts.extend(
            self._call(asked.get("name"), asked.get("arguments"), asked)
            for asked in records_of(data.get("toolRequests"))
        )
        join = text_of(data.get("messageId"))
        self.into.message("assistant", parts, origin="agent", model=model, join=join, **fields)

    def _call(self, name: Any, arguments: Any, source: Record) -> ToolCall:
        call = make_call(
            text_of(name), arguments, id=text_of(source.get("toolCallId")), table=TABLE
        )
        if call.tool == "sql":
            _todos(call, self.into)
        if call.category == "shell" and call.input.get("mode") in ("async", "detached"):
            call.background = True
        return call

    def _started(self, data: Record, fields: dict[str, Any]) -> None:
        """Take a call that no message asked for, as older versions and subagents write them."""
        name = text_of(data.get("toolCallId"))
        seen = self.into.last()
        if self.into.call(name) or (seen and any(one.id == name for one in seen.calls())):
            return
        call = self._call(data.get("toolName"), data.get("arguments"), data)
        model = text_of(data.get("model"))
        self.into.message("assistant", [call], origin="agent", model=model, **fields)

    def _complete(self, data: Record) -> None:
        name = text_of(data.get("toolCallId"))
        call = self.into.call(name)
        if call is None:
            self.problem("a result without its call")
            return
        result = data.get("result")
        output = result if isinstance(result, str) else text_of(dict_of(result).get("content"))
        error = dict_of(data.get("error"))
        failed = data.get("success") is False
        output = self.text(output)
        _give(call, output or text_of(error.get("message")), failed, text_of(error.get("code")))
        shown = text_of(dict_of(result).get("detailedContent"))
        if not failed and call.category in ("edit", "write"):
            _changes(call, shown)
        self.into.close(name)

    def _program(self, kind: str, data: Record, fields: dict[str, Any]) -> None:
        if kind in ("session.start", "session.resume"):
            _place(data, self.into)
        elif kind == "session.model_change":
            model = text_of(data.get("newModel"))
            self.into.head.model = model
            self.carry(model=model)
        elif kind == "session.compaction_complete":
            before = data.get("preCompactionTokens")
            parts: list[Part] = [Compaction("unknown", before if isinstance(before, int) else None)]
            summary = text_of(data.get("summaryContent"))
            parts.extend([Text(summary)] if summary.strip() else [])
            self.into.message("system", parts, origin="summary", **fields)
        elif kind in (
            "system.message",
            "session.error",
            "session.info",
            "session.warning",
            "abort",
        ):
            text = text_of(data.get("content")) or text_of(data.get("message"))
            text = text or text_of(data.get("reason"))
            parts = [Text(text, injected=True)] if text.strip() else []
            self.into.message("system", parts, origin="injected", **fields)
        elif kind == "skill.invoked":
            parts = [Text(text_of(data.get("content")), injected=True)]
            self.into.message("user", parts, origin="injected", **fields)
        elif kind != "session.compaction_start" and not kind.startswith(_SILENT):
            self.problem(f"unknown event {kind!r}")


_EXIT = re.compile(
    r"\n?<(?:shellId: \S+ completed|exited|command)[^<>\n]* with exit code (-?\d+)>\s*\Z"
)
_RUNNING = re.compile(r"<(?:command|shell)[^<>\n]* (?:is still running|started in)[^<>]*>")
_ANSWER = re.compile(
    r"\A(?:User (?:responded|selected|answered|chose)|Answer)[^:\n]*: ?", re.IGNORECASE
)
_REFUSED = re.compile(
    r"(?:rejected|denied|declined) (?:this|by the user|permission)|user rejected", re.IGNORECASE
)


def _give(call: ToolCall, output: str, failed: bool, code: str) -> None:
    exit_code = None
    if call.category == "shell":
        ended = _EXIT.search(output)
        if ended:
            exit_code = int(ended.group(1))
            output = output[: ended.start()]
        elif _RUNNING.search(output[-400:]):
            call.background = True
    elif call.category == "question":
        call.person = _ANSWER.sub("", output).strip()
    if failed and (code in ("rejected", "denied") or _REFUSED.search(output[:300])):
        call.refused = True
        said = re.search(r"feedback[^:\n]*:\s*(.+)", output, re.DOTALL | re.IGNORECASE)
        call.person = said.group(1).strip() if said else ""
    close_call(call, output, failed=failed, exit_code=exit_code)
    if failed:
        call.changes = ()


def _changes(call: ToolCall, shown: str) -> None:
    """Take from the shown diff whether the file is new, and what a patch changed."""
    found = diff_of(shown.lstrip("\n"), "") if shown else []
    if "new file mode" in shown or call.output.startswith("Created file"):
        for change in call.changes:
            change.action = "created"
    elif not call.changes:
        call.changes = tuple(found)


_INSERT = re.compile(
    r"INSERT\s+(?:OR\s+\w+\s+)?INTO\s+todos\s*\(([^)]*)\)\s*VALUES\s*(.+?)(?:;|\Z)", re.I | re.S
)
_UPDATE = re.compile(r"UPDATE\s+todos\s+SET\s+(.+?)\s+WHERE\s+(.+?)(?:;|\Z)", re.I | re.S)
_ROW = re.compile(r"\(((?:'(?:[^']|'')*'|[^()'])*)\)")
_VALUE = re.compile(r"'((?:[^']|'')*)'|([^,']+)")
_ID = re.compile(r"'((?:[^']|'')*)'")


def _todos(call: ToolCall, into: Assembler) -> None:
    """Read the statements that add to the list of to-do items, or change their status."""
    query = text_of(call.input.get("query"))
    titles: dict[str, str] = dict(into.carry.get("todos", {}))
    found: list[Todo] = []
    for columns, rows in _INSERT.findall(query):
        names = [name.strip(' "`').lower() for name in columns.split(",")]
        for row in _ROW.findall(rows):
            values = [(a or b).replace("''", "'").strip() for a, b in _VALUE.findall(row)]
            fields = dict(zip(names, values, strict=False))
            todo = Todo(
                fields.get("title", ""), status_of(fields.get("status")), fields.get("id", "")
            )
            titles[todo.id] = todo.text
            found.append(todo)
    for sets, condition in _UPDATE.findall(query):
        status = re.search(r"status\s*=\s*'([^']*)'", sets, re.IGNORECASE)
        if status:
            now = status_of(status.group(1))
            named = _ID.findall(condition) if "id" in condition.lower() else []
            found.extend(Todo(titles.get(one, ""), now, one) for one in named)
    if found:
        call.category, call.todos, call.todos_whole = "todo", tuple(found), False
        into.carry = into.carry | {"todos": titles}
