"""Amp: `~/.local/share/amp/threads/T-*.json`, a JSON object a thread.

Not in the format: exit codes of commands other than in their results, the version.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from checkpoint.errors import ReadError
from checkpoint.model import Category, Compaction, Origin, Part, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._blocks import content_text, take
from checkpoint.readers._calls import close_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    list_of,
    load_json,
    records_of,
    text_of,
)

TABLE: dict[str, Category] = {
    "Bash": "shell",
    "create_file": "write",
    "edit_file": "edit",
    "undo_edit": "edit",
    "finder": "search",
    "codebase_search_agent": "search",
    "librarian": "subagent",
    "oracle": "subagent",
    "Task": "subagent",
    "todo_read": "other",
    "todo_write": "todo",
    "mermaid": "other",
}


class Amp(WholeReader):
    """Reads Amp's threads."""

    name = "amp"
    title = "Amp"

    def identify(self, head: Head) -> bool:
        if head.start.lstrip()[:1] != b"{" or not head.has_key("messages"):
            return False
        thread = b'"T-' in head.start and head.has_key("id")
        return thread and (head.has_key("v") or head.has_key("created")) and head.has_key("role")

    def build(self, path: Path, session: str, into: Assembler) -> None:
        thread = dict_of(load_json(path, into.problems))
        head = into.head
        head.id = text_of(thread.get("id"))
        head.title = text_of(thread.get("title"))
        head.started = at_of(thread.get("created"))
        head.cwd, head.branch = _place(thread)
        for relation in records_of(thread.get("relationships")):
            if relation.get("role") == "child":
                head.parent = text_of(relation.get("threadID"))
        for number, message in enumerate(records_of(thread.get("messages"))):
            _message(message, number, into)

    def roots(self) -> list[Path]:
        data = os.environ.get("XDG_DATA_HOME")
        bases = [Path(data)] if data else []
        found = [one / "amp" / "threads" for one in (*bases, Path.home() / ".local" / "share")]
        return list(dict.fromkeys(found))

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in root.glob("T-*.json"):
                try:
                    changed = path.stat().st_mtime
                    thread = dict_of(load_json(path, Problems()))
                except (OSError, ReadError):
                    continue
                cwd, branch = _place(thread)
                started = at_of(thread.get("created"))
                messages = list_of(thread.get("messages"))
                yield Found(
                    self.name, path, text_of(thread.get("id")) or path.stem, cwd,
                    text_of(thread.get("title")), started.timestamp() if started else 0.0,
                    changed, len(messages), "", False, not messages, branch,
                )  # fmt: skip


def _place(thread: Record) -> tuple[str, str]:
    """Return the directory and the branch of the thread's first work tree."""
    initial = dict_of(dict_of(thread.get("env")).get("initial"))
    for tree in records_of(initial.get("trees")):
        uri = urlsplit(text_of(tree.get("uri")))
        ref = text_of(dict_of(tree.get("repository")).get("ref"))
        if uri.scheme == "file":
            return unquote(uri.path), ref.removeprefix("refs/heads/")
    return "", ""


def _message(message: Record, number: int, into: Assembler) -> None:
    role = message.get("role")
    usage = dict_of(message.get("usage"))
    sent = dict_of(message.get("meta")).get("sentAt") or usage.get("timestamp")
    fields: dict[str, Any] = {
        "id": str(message.get("messageId", number)),
        "at": at_of(sent),
        "cwd": into.head.cwd,
        "branch": into.head.branch,
    }
    content = list_of(message.get("content"))
    ours = ("tool_result", "summary")
    rest = [one for one in content if dict_of(one).get("type") not in ours]
    for block in records_of(content):
        if block.get("type") == "tool_result":
            _result(block, into)
        elif block.get("type") == "summary":
            text = content_text(dict_of(block.get("summary")).get("summary"))
            into.message("user", [Compaction(), Text(text)], origin="summary", **fields)
    parts, _results = take(rest, into, TABLE)
    if role == "assistant":
        model = text_of(usage.get("model"))
        into.head.model = model or into.head.model
        into.message("assistant", parts, origin="agent", model=model, **fields)
    elif role in ("user", "info"):
        own: list[Part] = []
        for part in parts:
            own.extend(split_injected(part.text) if isinstance(part, Text) else [part])
        if own or not content:
            words = [part for part in own if isinstance(part, Text)]
            injected = role == "info" or (bool(words) and all(part.injected for part in words))
            origin: Origin = "injected" if injected else "person"
            into.message("user", own, origin=origin, **fields)
    else:
        into.problems.add(f"unknown role {role!r}", fields["id"], "note")


def _result(block: Record, into: Assembler) -> None:
    name = text_of(block.get("toolUseID")) or text_of(block.get("tool_use_id"))
    call = into.call(name)
    if call is None:
        into.problems.add("a result without its call", name or "content", "note")
        return
    run = dict_of(block.get("run"))
    status = text_of(run.get("status"))
    output, code = _output(run)
    close_call(call, output, failed=status in ("error", "cancelled"), exit_code=code)
    _refusal(call, run, status)
    if call.failed:
        call.changes = ()
    into.close(name)


def _refusal(call: ToolCall, run: Record, status: str) -> None:
    if status == "rejected-by-user":
        call.refused = call.failed = True
        call.person = text_of(run.get("reason"))


def _output(run: Record) -> tuple[str, int | None]:
    result = run.get("result")
    if isinstance(result, dict):
        code = result.get("exitCode")
        shown = text_of(result.get("output")) or content_text(result.get("content"))
        if not shown:
            shown = msgspec.json.encode(result).decode()
        return shown, code if isinstance(code, int) else None
    wrong = run.get("error")
    message = text_of(dict_of(wrong).get("message")) or text_of(wrong)
    return content_text(result) or message, None
