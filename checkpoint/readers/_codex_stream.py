"""Codex: what `codex exec --json` prints, as far as it tells what the rollout would.

It holds neither times nor the person's words.
"""

from __future__ import annotations

import re
import shlex

from checkpoint.readers._jsonl import Record, names
from checkpoint.readers._whole import list_of, records_of, text_of

STREAM = names(
    "thread.started turn.started turn.completed turn.failed item.started item.updated error"
)
"""Lines of the stream that are no part of the conversation."""

_EVENTS = {
    "command_execution": "exec_command_end",
    "file_change": "patch_apply_end",
    "mcp_tool_call": "mcp_tool_call_end",
    "web_search": "web_search_end",
    "agent_message": "agent_message",
}
_SHELL = re.compile(r"\S*\b(?:bash|sh|zsh) -l?c ")
_KINDS = {"add": "add", "delete": "delete"}


def is_stream(records: list[Record]) -> bool:
    """Whether the file is such a stream."""
    return (
        bool(records) and records[0].get("type") == "thread.started" and "thread_id" in records[0]
    )


def as_event(item: Record) -> Record | None:
    """Return an item of the stream as the event that a rollout holds; None if there is none."""
    kind = item.get("type")
    event = {**item, "type": _EVENTS.get(text_of(kind)), "call_id": item.get("id")}
    if kind == "agent_message":
        event["message"] = item.get("text")
    elif kind == "command_execution":
        event["command"] = _words(text_of(item.get("command")))
    elif kind == "file_change":
        event["changes"] = {
            text_of(one.get("path")): {"type": _KINDS.get(text_of(one.get("kind")), "update")}
            for one in records_of(item.get("changes"))
        }
    elif kind == "mcp_tool_call":
        event["invocation"] = item
        event["result"] = {"Ok": item.get("result")}
    return event if event["type"] else None


def _words(command: str) -> list[str] | str:
    """Return a command line as its words if a shell stands before it, else as it is."""
    if not _SHELL.match(command):
        return command
    try:
        return shlex.split(command)
    except ValueError:
        return command


def as_item(item: Record) -> Record | None:
    """Return an item of the stream as a response item; None if it is an event."""
    if item.get("type") == "reasoning":
        return {"type": "reasoning", "summary": [{"text": item.get("text")}]}
    if item.get("type") == "todo_list":
        plan = [
            {"step": one.get("text"), "status": "completed" if one.get("completed") else "pending"}
            for one in records_of(list_of(item.get("items")))
        ]
        return {"type": "plan", "name": "update_plan", "arguments": {"plan": plan}}
    return None
