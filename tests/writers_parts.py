"""What writers of other agents' session files share: times, names of tools, lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from checkpoint.model import Compaction, Message, ToolCall


def iso(at: datetime | None) -> str:
    assert at is not None
    return at.isoformat().replace("+00:00", "Z")


def millis(at: datetime | None) -> int:
    assert at is not None
    return int(at.timestamp() * 1000)


def is_pivot(message: Message) -> bool:
    return any(isinstance(part, Compaction) for part in message.parts)


def compaction(message: Message) -> Compaction:
    return next(part for part in message.parts if isinstance(part, Compaction))


NAMES: dict[str, dict[str, str]] = {
    "gemini": {"shell": "run_shell_command", "edit": "replace", "todo": "write_todos"},
    "qwen": {"shell": "run_shell_command", "edit": "edit", "todo": "todo_write"},
    "cline": {"shell": "execute_command", "edit": "replace_in_file", "todo": "update_todo_list"},
    "copilot": {"shell": "bash", "edit": "edit", "todo": "todo_write"},
    "amp": {"shell": "Bash", "edit": "edit_file", "todo": "todo_write"},
    "droid": {"shell": "Execute", "edit": "Edit", "todo": "TodoWrite"},
    "pi": {"shell": "bash", "edit": "edit", "todo": "todo"},
    "goose": {"shell": "developer__shell", "edit": "developer__text_editor", "todo": "todo__write"},
    "openhands": {"shell": "run", "edit": "edit", "todo": "task_tracking"},
}
BACKGROUND: dict[str, dict[str, Any]] = {
    "gemini": {"is_background": True},
    "qwen": {"is_background": True},
    "copilot": {"mode": "async"},
}
"""How an agent says that it runs a command in the background; the others cannot."""
COMPRESSED = (
    "IMPORTANT: This conversation exceeded the compress threshold. A compressed context will be "
    "sent for future messages (compressed from: {} to 9000 tokens)."
)


def tool(agent: str, call: ToolCall) -> tuple[str, dict[str, Any]]:
    """The agent's own name of a tool, and the arguments as it names them."""
    name = NAMES[agent].get(call.category, call.tool)
    if call.category == "shell":
        aside = BACKGROUND.get(agent, {}) if call.background else {}
        return name, {"command": call.target} | aside
    if call.category == "edit":
        change = call.changes[0] if call.changes else None
        given = call.input
        old = change.old if change else given.get("old_string", "")
        new = change.new if change else given.get("new_string", "")
        fields = {"path": call.target, "old_str": old, "new_str": new}
        if agent == "gemini":
            fields = {"file_path": call.target, "old_string": old, "new_string": new}
        if agent in ("goose", "openhands"):
            fields["command"] = "str_replace"
        return name, fields
    if call.category == "todo":
        key = "description" if agent == "gemini" else "content"
        items = [{key: one.text, "status": one.status, "id": one.id} for one in call.todos]
        return name, {("task_list" if agent == "openhands" else "todos"): items}
    if agent == "openhands" and call.category in ("read", "fetch"):
        key = {"read": "path", "fetch": "url"}[call.category]
        return {"read": "read", "fetch": "browse"}[call.category], {key: call.target}
    return name, dict(call.input)


def lines(records: Iterator[dict[str, Any]]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
