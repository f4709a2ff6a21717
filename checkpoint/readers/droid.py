"""Factory Droid: `~/.factory/sessions/<slug>/<id>.jsonl`, and the older folder without a slug.

Records `session_start`, `message` with the content blocks of Anthropic's API, `todo_state`,
`compaction_state`; the model stands in `<id>.settings.json` beside the file.

Not in the format: the branch, exit codes of commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Category, Compaction, Cursor, Origin, Part, Text, Todo, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._blocks import give_all, take
from checkpoint.readers._calls import status_of
from checkpoint.readers._jsonl import JsonlReader, Session
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import Record, at_of, dict_of, load_json, text_of

TABLE: dict[str, Category] = {
    "Execute": "shell",
    "Read": "read",
    "LS": "read",
    "Create": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "ApplyPatch": "edit",
    "Grep": "search",
    "Glob": "search",
    "WebSearch": "fetch",
    "FetchUrl": "fetch",
    "TodoWrite": "todo",
    "Task": "subagent",
    "AskUser": "question",
}
_KINDS = frozenset({"session_start", "message", "todo_state", "compaction_state", "session_end"})
_SILENT = frozenset({"session_start", "session_end", "todo_state", "hook", "usage"})


class Droid(JsonlReader):
    """Reads Factory Droid's sessions."""

    name = "droid"
    title = "Factory Droid"

    def identify(self, head: Head) -> bool:
        records = head.records[:20]
        if not records:
            return False
        first = records[0]
        if first.get("type") == "session_start":
            return "id" in first
        return all(text_of(one.get("type")) in _KINDS for one in records) and any(
            "role" in dict_of(one.get("message")) and "timestamp" in one for one in records
        )

    def begin(self, start: Head, into: Assembler) -> None:
        head = into.head
        first = next((one for one in start.records if one.get("type") == "session_start"), {})
        head.id = text_of(first.get("id")) or start.path.name.split(".jsonl")[0]
        head.title = text_of(first.get("sessionTitle")) or text_of(first.get("title"))
        head.cwd = text_of(first.get("cwd"))
        head.parent = text_of(first.get("parent"))
        settings = start.path.with_name(f"{head.id}.settings.json")
        if settings.is_file():
            head.model = text_of(dict_of(load_json(settings, Problems())).get("model"))
        times = (at_of(one.get("timestamp")) for one in start.records)
        head.started = next(filter(None, times), None)

    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        return _Records(path, into)

    def roots(self) -> list[Path]:
        return [Path.home() / ".factory" / "sessions"]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in root.glob("**/*.jsonl"):
                try:
                    head, changed = Head.of(path), path.stat().st_mtime
                except (OSError, ReadError):
                    continue
                first = next(iter(head.records), {})
                yield Found(
                    self.name, path, text_of(first.get("id")) or path.stem,
                    text_of(first.get("cwd")), text_of(first.get("title")), 0.0, changed,
                    None, text_of(first.get("parent")), False, b'"message"' not in head.start,
                )  # fmt: skip


class _Records(Session):
    def record(self, record: Record) -> None:
        kind = text_of(record.get("type"))
        fields: dict[str, Any] = {
            "id": text_of(record.get("id")),
            "at": self.at(record),
            "cwd": self.head.cwd,
        }
        if kind == "message":
            self._message(dict_of(record.get("message")), fields)
        elif kind == "compaction_state":
            summary = text_of(record.get("summaryText")) or text_of(record.get("summary"))
            parts: list[Part] = [Compaction(), *([Text(summary)] if summary.strip() else [])]
            self.into.message("system", parts, origin="summary", **fields)
        elif kind not in _SILENT:
            self.problem(f"unknown record type {kind!r}")

    def _message(self, message: Record, fields: dict[str, Any]) -> None:
        parts, results = take(message.get("content"), self.into, TABLE)
        give_all(results, self.into)
        if message.get("role") == "assistant":
            for part in parts:
                if isinstance(part, ToolCall) and part.category == "todo" and not part.todos:
                    part.todos = tuple(_numbered(text_of(part.input.get("todos"))))
            model = self.head.model
            self.into.message("assistant", parts, origin="agent", model=model, **fields)
            return
        own: list[Part] = []
        for part in parts:
            own.extend(split_injected(part.text) if isinstance(part, Text) else [part])
        if not own and results:
            return
        words = [part for part in own if isinstance(part, Text)]
        injected = bool(words) and all(part.injected for part in words)
        origin: Origin = "injected" if injected else "person"
        self.into.message("user", own, origin=origin, **fields)


def _numbered(text: str) -> list[Todo]:
    """Return the items of a list like `1. [in_progress] Fix the parser`."""
    found = re.findall(r"^\s*(\d+)\.\s*\[(\w+)\]\s*(.+)$", text, re.MULTILINE)
    return [Todo(words.strip(), status_of(status)) for _number, status, words in found]
