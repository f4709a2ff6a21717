"""Crush: `.crush/crush.db` (SQLite) in the project.

Messages hold their parts as JSON: text, reasoning, tool_call, tool_result, finish. A session whose
`summary_message_id` is set was summed up by that message. Sessions of subagents name their parent.

Not in the format: the branch; the directory but by where the store lies.

Source: internal/db and internal/message of charmbracelet/crush.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from checkpoint.errors import ReadError
from checkpoint.model import (
    Attachment,
    Category,
    Compaction,
    Origin,
    Part,
    Reasoning,
    Text,
    ToolCall,
)
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._sqlite import Row, columns, listing, open_database, rows, tables_of
from checkpoint.readers._whole import Record, WholeReader, at_of, dict_of, records_of, text_of

TABLE: dict[str, Category] = {
    "job_output": "shell",
    "job_kill": "shell",
    "download": "fetch",
    "agentic_fetch": "fetch",
    "sourcegraph": "search",
    "diagnostics": "other",
    "lsp_diagnostics": "other",
    "lsp_references": "search",
    "todos": "todo",
    "agent": "subagent",
}


class Crush(WholeReader):
    """Reads Crush's store."""

    name = "crush"
    title = "Crush"

    def identify(self, head: Head) -> bool:
        if not {"sessions", "messages", "files"} <= tables_of(head):
            return False
        try:
            with open_database(head.path) as database:
                return {"session_id", "role", "parts"} <= columns(database, "messages")
        except ReadError:
            return False

    def build(self, path: Path, session: str, into: Assembler) -> None:
        with open_database(path) as database:
            names = columns(database, "sessions")
            found = list(rows(database, "SELECT * FROM sessions", (), into.problems, path.name))
            about = _choose(found, session)
            if about is None:
                if into.problems:
                    return
                what = f"no session {session!r}" if session else "no session"
                raise ReadError(f"{path}: it holds {what}")
            head = into.head
            head.id, head.title = str(about["id"]), str(about["title"] or "")
            head.parent = str(about["parent_session_id"] or "")
            head.started = at_of(about["created_at"])
            head.cwd = _directory(path)
            summary = (
                str(about["summary_message_id"] or "") if "summary_message_id" in names else ""
            )
            order = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"
            for row in rows(database, order, (about["id"],), into.problems, path.name):
                _message(row, summary, into)

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for folder in (directory, *directory.parents) if directory else ():
            store = folder / ".crush" / "crush.db"
            if store.is_file():
                yield from self._found(store)
                return

    def _found(self, store: Path) -> Iterator[Found]:
        for row in listing(store, "SELECT * FROM sessions"):
            made, last = at_of(row["created_at"]), at_of(row["updated_at"])
            count, parent = row["message_count"], text_of(row["parent_session_id"])
            yield Found(
                self.name, store, str(row["id"]), _directory(store), text_of(row["title"]),
                made.timestamp() if made else 0.0, last.timestamp() if last else 0.0,
                count if isinstance(count, int) else None, parent, bool(parent), not count,
            )  # fmt: skip


def _directory(store: Path) -> str:
    return str(store.parent.parent) if store.parent.name == ".crush" else ""


def _choose(found: list[Row], session: str) -> Row | None:
    if session:
        return next((row for row in found if str(row["id"]) == session), None)
    own = [row for row in found if not row["parent_session_id"]] or found
    return max(own, key=lambda row: (row["updated_at"] or 0, str(row["id"])), default=None)


def _message(row: Row, summary: str, into: Assembler) -> None:
    name = str(row["id"])
    try:
        blocks = records_of(msgspec.json.decode(row["parts"] or "[]"))
    except (msgspec.DecodeError, UnicodeError, TypeError):
        into.problems.add("a message's parts are no JSON", f"message {name}")
        return
    parts: list[Part] = []
    for block in blocks:
        parts.extend(_part(text_of(block.get("type")), dict_of(block.get("data")), into))
    model = str(row["model"] or "")
    role = row["role"]
    fields: dict[str, Any] = {"id": name, "at": at_of(row["created_at"]), "cwd": into.head.cwd}
    if row["is_summary_message"] or name == summary:
        into.message("assistant", [Compaction(), *parts], origin="summary", **fields)
    elif role == "assistant":
        into.head.model = model or into.head.model
        into.message("assistant", parts, origin="agent", model=model, **fields)
    elif role == "user":
        own: list[Part] = []
        for part in parts:
            own.extend(split_injected(part.text) if isinstance(part, Text) else [part])
        words = [part for part in own if isinstance(part, Text)]
        injected = bool(words) and all(part.injected for part in words)
        origin: Origin = "injected" if injected else "person"
        into.message("user", own, origin=origin, **fields)
    elif role == "system":
        into.message("system", parts, origin="injected", **fields)
    elif role != "tool":
        into.problems.add(f"unknown role {role!r}", f"message {name}", "note")


def _part(kind: str, data: Record, into: Assembler) -> list[Part]:
    if kind == "text":
        return [Text(text_of(data.get("text")))] if text_of(data.get("text")).strip() else []
    if kind == "reasoning":
        thought = text_of(data.get("thinking"))
        return [Reasoning(thought)] if thought.strip() else []
    if kind == "tool_call":
        name, number = text_of(data.get("name")), text_of(data.get("id"))
        return [make_call(name, data.get("input"), id=number, table=TABLE)]
    if kind == "tool_result":
        _result(data, into)
        return []
    if kind in ("binary", "image_url"):
        name = text_of(data.get("Path")) or text_of(data.get("path")) or text_of(data.get("url"))
        return [Attachment(name, text_of(data.get("MIMEType")) or text_of(data.get("mime_type")))]
    if kind != "finish":
        into.problems.add(f"unknown part {kind!r}", "message", "note")
    return []


def _result(data: Record, into: Assembler) -> None:
    name = text_of(data.get("tool_call_id"))
    call = into.call(name)
    if call is None:
        into.problems.add("a result without its call", name or "part", "note")
        return
    failed = data.get("is_error") is True
    output = text_of(data.get("content"))
    about = _metadata(data.get("metadata"))
    code = about.get("exit_code")
    ended = output.rstrip().rpartition("Exit code ")
    if call.category == "shell" and code is None and ended[1] and ended[2].lstrip("-").isdigit():
        code = int(ended[2])
    close_call(call, output, failed=failed, exit_code=code if isinstance(code, int) else None)
    _details(call, about)
    if "user denied permission" in output.lower()[:200]:
        call.refused = call.failed = True
    if call.failed:
        call.changes = ()
    into.close(name)


def _metadata(value: Any) -> Record:
    try:
        return dict_of(msgspec.json.decode(value)) if isinstance(value, str) and value else {}
    except (msgspec.DecodeError, UnicodeError):
        return {}


def _details(call: ToolCall, about: Record) -> None:
    call.cwd = text_of(about.get("working_directory")) or call.cwd
    call.background = call.background or about.get("background") is True
    if len(call.changes) == 1 and "old_content" in about and not text_of(about.get("old_content")):
        call.changes[0].action = "created"
