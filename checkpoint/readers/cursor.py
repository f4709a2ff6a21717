"""Cursor: agent transcripts (`.jsonl`, older `.txt`), `state.vscdb`, and the command line's stores.

Transcripts: `~/.cursor/projects/<slug>/agent-transcripts/**`; they hold no times, no ids and, of
calls, no results (the older text form has headings for them). `state.vscdb` (SQLite) holds a
session a composer. The command line keeps `~/.cursor/chats/<hash>/<id>/store.db`.

Not in the format: exit codes (but in `state.vscdb`), the branch; in transcripts also the directory,
times, models and results.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Origin, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._blocks import content_text, give_all, take
from checkpoint.readers._calls import make_call
from checkpoint.readers._cursor_store import (
    bubbles,
    composers,
    directory,
    put_bubble,
    said_anything,
    updated,
    value_of,
    workspaces,
)
from checkpoint.readers._cursor_words import TABLE, person_texts
from checkpoint.readers._sqlite import columns, open_database, rows, tables_of
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    changed,
    dict_of,
    load_lines,
    load_text,
    text_of,
)

_TEXT = re.compile(r"\A\s*user:\n(?:.*\n)*?\s*(?:<user_query>|assistant:)", re.MULTILINE)


class Cursor(WholeReader):
    """Reads what Cursor's editor and command line store."""

    name = "cursor"
    title = "Cursor"

    def identify(self, head: Head) -> bool:
        if head.is_sqlite():
            names = tables_of(head)
            return "cursorDiskKV" in names or names == {"blobs", "meta"} or _has_tabs(head, names)
        records = head.records[:50]
        if records:
            return all(_is_line(one) for one in records)
        return bool(_TEXT.match(head.text[:20000])) and "<user_query>" in head.text

    def build(self, path: Path, session: str, into: Assembler) -> None:
        head = Head.of(path)
        if head.is_sqlite():
            if tables_of(head) == {"blobs", "meta"}:
                _blobs(path, into)
            else:
                _composer(path, session, into)
            return
        into.head.id = path.name.split(".")[0]
        if head.records:
            for _where, record in load_lines(path, into.problems):
                _line(record, into)
        else:
            _transcript(load_text(path, into.problems), into)

    def roots(self) -> list[Path]:
        home = Path.home()
        own = Path(os.environ.get("CURSOR_CONFIG_DIR") or home / ".cursor")
        return [own / "projects", own / "chats", *(user / "globalStorage" for user in _users())]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        own = self.roots()[0]
        for path in (
            *own.glob("*/agent-transcripts/**/*.jsonl"),
            *own.glob("*/agent-transcripts/*.txt"),
        ):
            sub = "subagents" in path.parts
            yield Found(
                self.name, path, path.stem, _folder(path, directory), "", 0.0,
                changed(path), None, path.parent.parent.name if sub else "", sub,
            )  # fmt: skip
        for path in self.roots()[1].glob("*/*/store.db"):
            yield Found(self.name, path, path.parent.name, updated=changed(path))
        for user in _users():
            store = user / "globalStorage" / "state.vscdb"
            if store.is_file():
                yield from self._composers(user, store)

    def _composers(self, user: Path, store: Path) -> Iterator[Found]:
        folders = workspaces(user)
        try:
            with open_database(store) as database:
                found = list(composers(database, Problems()))
        except ReadError:
            return
        for one in found:
            name = text_of(one.get("composerId"))
            made = at_of(one.get("createdAt"))
            yield Found(
                self.name, store, name, folders.get(name, "") or directory(one),
                text_of(one.get("name")), made.timestamp() if made else 0.0,
                updated(one) / 1000, None, "", False, not said_anything(one),
            )  # fmt: skip


def _users() -> list[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library" / "Application Support" / "Cursor" / "User"]
    if os.name == "nt":
        return [Path(os.environ.get("APPDATA", home / "AppData" / "Roaming")) / "Cursor" / "User"]
    base = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return [base / "Cursor" / "User", home / ".cursor-server" / "data" / "User"]


def _folder(path: Path, directory: Path | None) -> str:
    """Return `directory` if the transcript's slug is made of it: the slug cannot be undone."""
    slug = next((p.parent.name for p in path.parents if p.name == "agent-transcripts"), "")
    for one in (directory, *directory.parents) if directory else ():
        if re.sub(r"[^A-Za-z0-9]+", "-", str(one)).strip("-") == slug:
            return str(one)
    return ""


def _has_tabs(head: Head, names: frozenset[str]) -> bool:
    if "ItemTable" not in names:
        return False
    try:
        with open_database(head.path) as database:
            return any(True for _one in composers(database, Problems()))
    except ReadError:
        return False


def _is_line(record: Record) -> bool:
    message = record.get("message")
    return (
        {"role", "message"} <= record.keys() <= {"role", "message", "timestamp", "id", "status"}
        and record.get("role") in ("user", "assistant")
        and isinstance(message, dict)
        and "content" in message
    )


def _user(text: str, into: Assembler, rest: list[Part], **fields: Any) -> None:
    parts: list[Part] = [*person_texts(text), *rest]
    words = [part for part in parts if isinstance(part, Text)]
    injected = bool(words) and all(part.injected for part in words)
    origin: Origin = "injected" if injected else "person"
    into.message("user", parts, origin=origin, **fields)


def _line(record: Record, into: Assembler) -> None:
    parts, results = take(dict_of(record.get("message")).get("content"), into, TABLE)
    give_all(results, into)
    at = at_of(record.get("timestamp"))
    if record.get("role") == "assistant":
        for part in parts:
            if isinstance(part, ToolCall) and part.category == "todo":
                part.todos_whole = part.input.get("merge") is not True
        into.message("assistant", parts, origin="agent", at=at)
        return
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    rest: list[Part] = [part for part in parts if not isinstance(part, Text)]
    if text.strip() or not results:
        _user(text, into, rest, at=at)


_SPEAKER = re.compile(r"^(user|assistant):[ \t]*$", re.MULTILINE)
_MARK = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$", re.MULTILINE)
_ARGUMENT = re.compile(r"^  (\w+): ?(.*)$")


def _transcript(text: str, into: Assembler) -> None:
    """Put the older text form: `user:`, `assistant:`, `[Tool call] Name` and indented arguments."""
    marks = list(_SPEAKER.finditer(text))
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : end].strip("\n")
        if mark.group(1) == "user":
            _user(body, into, [])
        elif parts := _spoken(body):
            into.message("assistant", parts, origin="agent")


def _spoken(body: str) -> list[Part]:
    parts: list[Part] = []
    marks = list(_MARK.finditer(body))
    first = body[: marks[0].start()] if marks else body
    parts.extend([Text(first.strip("\n"))] if first.strip() else [])
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(body)
        inner = body[mark.end() : end].strip("\n")
        kind, name = mark.group(1), mark.group(2).strip()
        if kind == "Thinking":
            parts.append(Reasoning("\n".join(filter(None, (name, inner)))))
        elif kind == "Tool call":
            fields, rest = _arguments(inner)
            parts.append(make_call(name, fields, table=TABLE))
            parts.extend([Text(rest)] if rest.strip() else [])
        elif inner.strip():
            parts.append(Text(inner))
    return parts


def _arguments(inner: str) -> tuple[dict[str, str], str]:
    fields: dict[str, str] = {}
    name = ""
    lines = inner.split("\n")
    for number, line in enumerate(lines):
        match = _ARGUMENT.match(line)
        if match:
            name = match.group(1)
            fields[name] = match.group(2)
        elif name and (line.startswith("  ") or not line.strip()):
            fields[name] += "\n" + line.removeprefix("  ")
        else:
            return fields, "\n".join(lines[number:])
    return {key: value.rstrip("\n") for key, value in fields.items()}, ""


def _composer(path: Path, session: str, into: Assembler) -> None:
    with open_database(path) as database:
        found = list(composers(database, into.problems))
        if session:
            found = [one for one in found if one.get("composerId") == session]
        else:
            found = [one for one in found if said_anything(one)] or found
        if not found:
            if into.problems:
                return
            what = f"no composer {session!r}" if session else "no composer"
            raise ReadError(f"{path}: it holds {what}")
        chosen = max(found, key=lambda one: (updated(one), text_of(one.get("composerId"))))
        head = into.head
        head.id, head.title = text_of(chosen.get("composerId")), text_of(chosen.get("name"))
        head.model = text_of(dict_of(chosen.get("modelConfig")).get("modelName"))
        head.started = at_of(chosen.get("createdAt"))
        head.cwd = directory(chosen)
        for bubble in bubbles(database, chosen, into.problems):
            head.cwd = head.cwd or directory(chosen, bubble)
            put_bubble(bubble, chosen, into)


def _blobs(path: Path, into: Assembler) -> None:
    """Put the messages of the command line's store, in the order in which they were written."""
    into.head.id = path.parent.name
    with open_database(path) as database:
        if not columns(database, "blobs"):
            return
        for row in rows(
            database, "SELECT data FROM blobs ORDER BY rowid", (), into.problems, path.name
        ):
            record = dict_of(value_of(row["data"]))
            role = record.get("role")
            parts, results = take(record.get("content"), into, TABLE) if role else ([], [])
            give_all(results, into)
            if role == "user":
                text = "\n".join(part.text for part in parts if isinstance(part, Text))
                _user(text, into, [], id=text_of(record.get("id")))
            elif role == "assistant":
                into.message("assistant", parts, origin="agent", id=text_of(record.get("id")))
            elif role == "system":
                words: list[Part] = [Text(content_text(record.get("content")), injected=True)]
                into.message("system", words, origin="injected")
