"""Pi (and programs built on it): `~/.pi/agent/sessions/<slug>/<time>_<id>.jsonl`.

Entries form a tree by `parentId`; the session is the branch that the last entry ends, and a person
who went back and asked anew left the others. Files of version 1 have no ids and are one line of
entries. `bashExecution` entries are commands that the person ran.

Not in the format: the branch of git, to-do lists, subagents; exit codes of the agent's commands but
in the words of their results.

Source: packages/coding-agent/src/core/session-manager.ts of badlogic/pi-mono.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Category, Compaction, Part, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._blocks import content_text, take
from checkpoint.readers._calls import close_call
from checkpoint.readers._edits import unified
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import Record, WholeReader, at_of, dict_of, load_lines, text_of

TABLE: dict[str, Category] = {"bash": "shell", "read": "read", "edit": "edit", "write": "write"}
_SILENT = frozenset(
    {"session", "thinking_level_change", "label", "custom", "session_info", "leaf", "model_change"}
)


class Pi(WholeReader):
    """Reads Pi's sessions."""

    name = "pi"
    title = "Pi"

    def identify(self, head: Head) -> bool:
        first = next(iter(head.records), {})
        return first.get("type") == "session" and "cwd" in first and "timestamp" in first

    def build(self, path: Path, session: str, into: Assembler) -> None:
        entries = list(load_lines(path, into.problems))
        run = _Run(into)
        for where, entry in _branch(entries):
            run.put(entry, where)

    def roots(self) -> list[Path]:
        home = os.environ.get("PI_CODING_AGENT_DIR")
        homes = [Path(home)] if home else []
        return [one / "sessions" for one in (*homes, Path.home() / ".pi" / "agent")]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in root.glob("*/*.jsonl"):
                try:
                    head, changed = Head.of(path), path.stat().st_mtime
                except (OSError, ReadError):
                    continue
                first = next(iter(head.records), {})
                started = at_of(first.get("timestamp"))
                yield Found(
                    self.name, path, text_of(first.get("id")) or path.stem,
                    text_of(first.get("cwd")), "", started.timestamp() if started else 0.0,
                    changed, None, text_of(first.get("parentSession")), False,
                    b'"message"' not in head.start,
                )  # fmt: skip


def _branch(entries: list[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """Return the header and the entries from the root to the last one."""
    by_id = {text_of(one.get("id")): number for number, (_where, one) in enumerate(entries)}
    if not any("parentId" in one for _where, one in entries):
        return entries
    last = next((n for n in range(len(entries) - 1, -1, -1) if "parentId" in entries[n][1]), None)
    kept: set[int] = {n for n, (_where, one) in enumerate(entries) if one.get("type") == "session"}
    while last is not None and last not in kept:
        kept.add(last)
        entry = entries[last][1]
        last = by_id.get(text_of(entry.get("parentId")))
    return [entries[number] for number in sorted(kept)]


class _Run:
    def __init__(self, into: Assembler) -> None:
        self._into = into

    def put(self, entry: Record, where: str) -> None:
        """Put one entry of the branch."""
        kind = text_of(entry.get("type"))
        fields: dict[str, Any] = {
            "id": text_of(entry.get("id")),
            "at": at_of(entry.get("timestamp")),
            "cwd": self._into.head.cwd,
        }
        if kind == "message":
            self._message(dict_of(entry.get("message")), fields)
        elif kind in ("compaction", "branch_summary"):
            summary = text_of(entry.get("summary"))
            before = entry.get("tokensBefore")
            mark = Compaction("unknown", before if isinstance(before, int) else None)
            parts: list[Part] = [mark] if kind == "compaction" else []
            parts.extend([Text(summary)] if summary.strip() else [])
            self._into.message("user", parts, origin="summary", **fields)
        elif kind == "custom_message":
            text = content_text(entry.get("content"))
            self._into.message("user", [Text(text, injected=True)], origin="injected", **fields)
        else:
            self._about(kind, entry, where)

    def _about(self, kind: Any, entry: Record, where: str) -> None:
        head = self._into.head
        if kind == "session":
            head.id = text_of(entry.get("id"))
            head.cwd = text_of(entry.get("cwd"))
            head.started = at_of(entry.get("timestamp"))
            head.parent = text_of(entry.get("parentSession")) or text_of(entry.get("branchedFrom"))
        elif kind == "model_change":
            head.model = text_of(entry.get("modelId"))
        elif kind == "session_info":
            head.title = text_of(entry.get("name"))
        elif kind not in _SILENT:
            self._into.problems.add(f"unknown entry {kind!r}", where, "note")

    def _message(self, message: Record, fields: dict[str, Any]) -> None:
        role = text_of(message.get("role"))
        content = message.get("content")
        if role == "user":
            parts: list[Part] = []
            for part in take(content, self._into)[0]:
                parts.extend(split_injected(part.text) if isinstance(part, Text) else [part])
            self._into.message("user", parts, origin="person", **fields)
        elif role == "assistant":
            model = text_of(message.get("model"))
            self._into.head.model = model or self._into.head.model
            parts = take(content, self._into, TABLE)[0]
            wrong = text_of(message.get("errorMessage"))
            self._into.message("assistant", parts, origin="agent", model=model, **fields)
            if wrong:
                words: list[Part] = [Text(wrong, injected=True)]
                self._into.message("system", words, origin="injected", **fields)
        elif role == "toolResult":
            self._result(message)
        elif role == "bashExecution":
            call = ToolCall("!", "shell", text_of(message.get("command")))
            code = message.get("exitCode")
            close_call(
                call, text_of(message.get("output")), failed=message.get("cancelled") is True,
                exit_code=code if isinstance(code, int) else None,
            )  # fmt: skip
            call.truncated = message.get("truncated") is True
            self._into.message("user", [call], origin="injected", **fields)
        elif role in ("custom", "hookMessage", "branchSummary", "compactionSummary"):
            text = text_of(message.get("summary")) or content_text(content)
            origin = "summary" if "ummary" in str(role) else "injected"
            shown: list[Part] = [Text(text, injected=origin == "injected")]
            self._into.message("user", shown, origin=origin, **fields)  # type: ignore[arg-type]
        else:
            self._into.problems.add(f"unknown role {role!r}", fields["id"] or "message", "note")

    def _result(self, message: Record) -> None:
        name = text_of(message.get("toolCallId"))
        call = self._into.call(name)
        if call is None:
            self._into.problems.add("a result without its call", name or "message", "note")
            return
        output = content_text(message.get("content"))
        failed = message.get("isError") is True
        stated = re.search(r"Command exited with code (-?\d+)\s*\Z", output)
        close_call(call, output, failed=failed, exit_code=int(stated.group(1)) if stated else None)
        details = dict_of(message.get("details"))
        call.truncated = bool(dict_of(details.get("truncation")).get("truncated"))
        if failed:
            call.changes = ()
        elif call.category == "edit" and not any(one.old for one in call.changes):
            call.changes = tuple(unified(text_of(details.get("diff")), call.target)) or call.changes
        self._into.close(name)
