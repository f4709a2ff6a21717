"""Codex (CLI, desktop, editor): `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

All that is said stands twice in it: `response_item` is what the model sees, and is read;
`event_msg` is what the screen shows, and tells who typed a text, and of actions that have no item.
Seen in 0.20 (no envelope) to 0.171; a file with events only is read from them.

A fork begins with its parent's records, which are kept: only the parent's file could tell them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.model import Cursor, Reasoning, SessionHead
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems, Reading
from checkpoint.readers._codex_calls import call_of
from checkpoint.readers._codex_events import Events
from checkpoint.readers._codex_find import find_sessions, session_folders
from checkpoint.readers._codex_items import reasoning_of
from checkpoint.readers._codex_kinds import ITEMS, RECORDS, SILENT_ITEMS
from checkpoint.readers._codex_stream import STREAM, as_event, as_item, is_stream
from checkpoint.readers._codex_turns import plan
from checkpoint.readers._jsonl import JsonlReader, Plan, Record, Session
from checkpoint.readers._whole import KIND as WHOLE
from checkpoint.readers._whole import at_of, dict_of, finish, load_json, records_of, text_of


class Codex(JsonlReader):
    """Reads a rollout file."""

    name = "codex"
    title = "Codex"

    def identify(self, head: Head) -> bool:
        for record in head.records[:20]:
            kind = text_of(record.get("type"))
            if isinstance(record.get("payload"), dict) and kind in (
                "session_meta", "response_item", "event_msg", "turn_context",
            ):  # fmt: skip
                return True
        if is_stream(head.records[:1]) or _is_json(head):
            return True
        return _is_bare(head.records[:20]) or (
            not head.records and b'"type":"session_meta"' in head.start[:400].replace(b" ", b"")
        )

    def read(self, path: Path, since: Cursor | None = None, session: str = "") -> Reading:
        if not _is_json(Head.of(path)):
            return super().read(path, since, session)
        problems = Problems()
        into = Assembler(SessionHead(agent=self.name, source=str(path)), problems, kind=WHOLE)
        value = dict_of(load_json(path, problems))
        about = dict_of(value.get("session"))
        _know(into.head, about, about)
        taker = _CodexSession(path, into)
        for number, item in enumerate(records_of(value.get("items"))):
            into.place(number)
            taker.offset = number
            taker.record(item)
        taker.finish()
        return finish(into, since)

    def begin(self, start: Head, into: Assembler) -> None:
        head = into.head
        for record in start.records[:100]:
            about = _payload(record)
            if record.get("type") == "thread.started":
                head.id = text_of(record.get("thread_id"))
            if record.get("type") == "session_meta" or _is_bare_head(record):
                _know(head, about, record)
                break
        if not start.records:
            _know_by_text(head, start.text)
        head.cwd = head.cwd or _cwd_in_text(start)

    def plan(self, path: Path, since: Cursor) -> Plan:
        return plan(path, since.offset)

    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        return _CodexSession(path, into)

    def roots(self) -> list[Path]:
        return session_folders()

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        return find_sessions(self.name, self.roots())


_JSON = re.compile(rb'\s*\{\s*"session"\s*:\s*\{')


def _payload(record: Record) -> Record:
    payload = record.get("payload")
    return payload if isinstance(payload, dict) else record


def _is_json(head: Head) -> bool:
    """Whether the file is one JSON object, as the first Codex CLI wrote it."""
    return bool(_JSON.match(head.start[:4096])) and head.has_key("items")


def _is_bare_head(record: Record) -> bool:
    return "type" not in record and {"id", "timestamp"} <= record.keys()


def _is_bare(records: list[Record]) -> bool:
    """Whether the file is of the form without envelope."""
    if not records or not _is_bare_head(records[0]) or "instructions" not in records[0]:
        return False
    return len(records) == 1 or any(
        "record_type" in one or one.get("type") in ITEMS for one in records[1:]
    )


def _know(head: Any, about: Record, record: Record) -> None:
    """Learn of the session from its first `session_meta`."""
    source = dict_of(about.get("source")).get("subagent")
    spawn = dict_of(dict_of(source).get("thread_spawn"))
    head.id = text_of(about.get("id"))
    head.cwd = text_of(about.get("cwd"))
    head.version = text_of(about.get("cli_version"))
    head.branch = text_of(dict_of(about.get("git")).get("branch"))
    head.parent = text_of(about.get("forked_from_id")) or text_of(spawn.get("parent_thread_id"))
    head.started = at_of(about.get("timestamp")) or at_of(record.get("timestamp"))


def _know_by_text(head: Any, text: str) -> None:
    """Learn of a session whose first line is longer than what was read of it."""
    for name, key in (("id", "id"), ("cwd", "cwd"), ("version", "cli_version")):
        _before, found, rest = text.partition(f'"{key}":')
        value = rest.lstrip()[1:].partition('"')[0] if found else ""
        setattr(head, name, value)
    _before, _found, rest = text.partition('"timestamp":')
    head.started = at_of(rest.lstrip()[1:].partition('"')[0])


def _cwd_in_text(start: Head) -> str:
    _before, found, rest = start.text[:60_000].partition("<environment_context>")
    if not found:
        return ""
    return rest.partition("<cwd>")[2].partition("</cwd>")[0].strip()[:4096]


class _CodexSession(Events):
    """Takes Codex' records in the order of the file."""

    def record(self, record: Record) -> None:
        kind = text_of(record.get("type"))
        if kind == "response_item":
            self._item(_payload(record), record)
        elif kind == "event_msg":
            self._event_msg(_payload(record), record)
        elif kind == "turn_context":
            self._turn(_payload(record))
        elif kind == "session_meta":
            self._meta(_payload(record))
        elif kind == "compacted":
            self._compacted(_payload(record), record)
        elif kind in ITEMS or kind in SILENT_ITEMS:
            self._item(record, record)
        elif kind == "item.completed":
            self._streamed(dict_of(record.get("item")), record)
        elif (
            kind in STREAM
            or kind in RECORDS
            or record.get("record_type") == "state"
            or _is_bare_head(record)
        ):
            return
        else:
            self.problem(f"unknown record type {kind[:60]!r}")

    def _streamed(self, item: Record, record: Record) -> None:
        if event := as_event(item):
            self._event_msg(event, record)
        elif (known := as_item(item)) and known["type"] == "plan":
            call = call_of(known)
            call.finished = True
            self._add(record, call)
        elif known and (words := reasoning_of(known)):
            self._add(record, Reasoning(self.text(words)))

    def finish(self) -> None:
        self._confirm_asked()

    def _meta(self, about: Record) -> None:
        if text_of(about.get("id")) != self.head.id:
            return  # the parent's, repeated at the start of a fork
        source = about.get("source")
        child = dict_of(source).get("subagent")
        if child:
            spawn = dict_of(dict_of(child).get("thread_spawn"))
            name = spawn.get("agent_nickname") or spawn.get("agent_role") or child
            self._subagent = name if isinstance(name, str) else "subagent"
        self.head.version = text_of(about.get("cli_version")) or self.head.version
        branch = text_of(dict_of(about.get("git")).get("branch"))
        self.head.branch = branch or self.head.branch
        self._cwd = text_of(about.get("cwd")) or self._cwd
        self.carry(version=self.head.version, branch=self.head.branch, cwd=self._cwd,
                   subagent=self._subagent)  # fmt: skip

    def _turn(self, about: Record) -> None:
        self._join = ""
        self._cwd = text_of(about.get("cwd")) or self._cwd
        self.head.model = text_of(about.get("model")) or self.head.model
        self.carry(cwd=self._cwd, model=self.head.model)
