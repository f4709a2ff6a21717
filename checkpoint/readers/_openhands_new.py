"""The events of OpenHands' newer software kit, told apart by `kind`."""

from __future__ import annotations

import re
from typing import Any

from checkpoint.model import Category, Compaction, Origin, Part, Reasoning, Text
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._blocks import content_text
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._whole import Record, dict_of, records_of, text_of

TOOLS: dict[str, Category] = {
    "terminal": "shell",
    "execute_bash": "shell",
    "file_editor": "edit",
    "str_replace_editor": "edit",
    "task_tracker": "todo",
    "think": "other",
    "finish": "other",
    "browser_navigate": "fetch",
    "delegate": "subagent",
    "planning_file_editor": "edit",
}
_SILENT = frozenset(
    {
        "ConversationStateUpdateEvent",
        "PauseEvent",
        "TokenEvent",
        "LLMCompletionLogEvent",
        "CondensationRequest",
    }
)


def put_kind(event: Record, fields: dict[str, Any], into: Assembler) -> None:
    """Put one event."""
    kind = text_of(event.get("kind"))
    if kind == "MessageEvent":
        _message(event, fields, into)
    elif kind == "ActionEvent":
        _action(event, fields, into)
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        _observation(kind, event, into)
    elif kind == "SystemPromptEvent":
        text = text_of(dict_of(event.get("system_prompt")).get("text"))
        into.message("system", [Text(text, injected=True)], origin="injected", **fields)
    elif kind in ("Condensation", "CondensationSummaryEvent"):
        summary = text_of(event.get("summary"))
        parts: list[Part] = [Compaction("auto"), *([Text(summary)] if summary.strip() else [])]
        into.message("system", parts, origin="summary", **fields)
    elif kind == "ConversationErrorEvent":
        text = text_of(event.get("detail"))
        into.message("system", [Text(text, injected=True)], origin="injected", **fields)
    elif kind not in _SILENT:
        into.problems.add(f"unknown event kind {kind!r}", f"event {fields['id']}", "note")


def _message(event: Record, fields: dict[str, Any], into: Assembler) -> None:
    message = dict_of(event.get("llm_message"))
    text = content_text(message.get("content"))
    parts: list[Part] = [Text(text)] if text.strip() else []
    extended = records_of(event.get("extended_content"))
    parts.extend(Text(text_of(one.get("text")), injected=True) for one in extended)
    person = event.get("source") == "user"
    origin: Origin = "person" if person else "agent"
    into.message("user" if person else "assistant", parts, origin=origin, **fields)


def _action(event: Record, fields: dict[str, Any], into: Assembler) -> None:
    parts: list[Part] = []
    thought = text_of(event.get("reasoning_content"))
    parts.extend([Reasoning(thought)] if thought.strip() else [])
    words = content_text(event.get("thought"))
    parts.extend([Text(words)] if words.strip() else [])
    action = dict_of(event.get("action"))
    given = {key: value for key, value in action.items() if key != "kind" and value is not None}
    asked = dict_of(event.get("tool_call"))
    if not given:
        given = asked.get("arguments") or dict_of(asked.get("function")).get("arguments") or {}
    tool = text_of(event.get("tool_name"))
    name = text_of(event.get("tool_call_id")) or fields["id"]
    if tool == "finish":
        parts.append(Text(text_of(dict_of(given).get("message"))))
        into.message("assistant", parts, origin="agent", **fields)
        return
    call = make_call(tool, given, id=name, table=TOOLS)
    into.message("assistant", [*parts, call], origin="agent", **fields)


def _observation(kind: str, event: Record, into: Assembler) -> None:
    name = text_of(event.get("tool_call_id")) or text_of(event.get("action_id"))
    call = into.call(name)
    if call is None:
        if event.get("tool_name") != "finish":
            into.problems.add("a result without its call", name or "event", "note")
        return
    seen = dict_of(event.get("observation"))
    output = content_text(seen.get("content")) or text_of(seen.get("output"))
    output = output or text_of(event.get("error")) or text_of(event.get("rejection_reason"))
    code = seen.get("exit_code", dict_of(seen.get("metadata")).get("exit_code"))
    failed = kind != "ObservationEvent" or seen.get("is_error") is True
    known = isinstance(code, int) and code != -1
    output = re.sub(r"\n?\[(?:The command completed with|Current working)[^\n]*", "", output)
    close_call(call, output, failed=failed, exit_code=code if known else None)
    call.cwd = text_of(dict_of(seen.get("metadata")).get("working_dir"))
    if kind == "UserRejectObservation":
        call.refused, call.person = True, text_of(event.get("rejection_reason"))
    if call.failed:
        call.changes = ()
    elif seen.get("prev_exist") is False:
        for change in call.changes:
            change.action = "created"
    into.close(name)
