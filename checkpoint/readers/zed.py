"""Zed: `threads.db` (SQLite), a row a thread, its data JSON, packed with zstd or not.

Not in the format: times of single messages; exit codes other than in a result's words.

Source: crates/agent/src/db.rs and crates/agent/src/thread.rs of zed-industries/zed.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Attachment, Category, Part, Reasoning, Text
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._blocks import Result, content_text, give_all
from checkpoint.readers._calls import make_call
from checkpoint.readers._sqlite import columns, listing, open_database, rows, tables_of
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    decode,
    dict_of,
    list_of,
    records_of,
    text_of,
)

TABLE: dict[str, Category] = {
    "terminal": "shell",
    "read_file": "read",
    "list_directory": "read",
    "find_path": "search",
    "edit_file": "edit",
    "streaming_edit_file": "edit",
    "save_file": "write",
    "copy_path": "write",
    "move_path": "edit",
    "delete_path": "edit",
    "create_directory": "other",
    "diagnostics": "other",
    "thinking": "other",
    "now": "other",
    "spawn_agent": "subagent",
}


class Zed(WholeReader):
    """Reads Zed's agent threads."""

    name = "zed"
    title = "Zed"

    def identify(self, head: Head) -> bool:
        if "threads" not in tables_of(head):
            return False
        try:
            with open_database(head.path) as database:
                return {"data_type", "data", "summary"} <= columns(database, "threads")
        except ReadError:
            return False

    def build(self, path: Path, session: str, into: Assembler) -> None:
        with open_database(path) as database:
            query = (
                "SELECT * FROM threads WHERE id = ? OR ? = '' ORDER BY updated_at DESC, id LIMIT 1"
            )
            row = next(rows(database, query, (session, session), into.problems, path.name), None)
            if row is None:
                if into.problems:
                    return
                what = f"no thread {session!r}" if session else "no thread"
                raise ReadError(f"{path}: it holds {what}")
            head = into.head
            head.id, head.title = str(row["id"]), str(row["summary"] or "")
            raw = _unpack(bytes(row["data"] or b""), str(row["data_type"]), path)
        thread = dict_of(decode(raw, f"thread {head.id}", into.problems))
        model = dict_of(thread.get("model"))
        head.model = text_of(model.get("model")) or text_of(thread.get("model"))
        head.title = text_of(thread.get("title")) or head.title
        _place(thread, into)
        for number, message in enumerate(list_of(thread.get("messages"))):
            _message(message, number, into)

    def roots(self) -> list[Path]:
        home = Path.home()
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        local = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
        mac = home / "Library" / "Application Support" / "Zed"
        flatpak = home / ".var" / "app" / "dev.zed.Zed" / "data" / "zed"
        return [one / "threads" for one in (data / "zed", mac, local / "Zed", flatpak)]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            store = root / "threads.db"
            for row in listing(store, "SELECT * FROM threads") if store.is_file() else ():
                last, parent = at_of(row["updated_at"]), text_of(row["parent_id"])
                yield Found(
                    self.name, store, str(row["id"]), text_of(row["folder_paths"]).split("\n")[0],
                    text_of(row["summary"]), 0.0, last.timestamp() if last else 0.0,
                    None, parent, bool(parent), not row["data"],
                )  # fmt: skip


def _unpack(raw: bytes, kind: str, path: Path) -> bytes:
    if kind != "zstd":
        return raw
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise ReadError(
            f"{path}: the thread is packed with zstd, which needs the package `zstandard`; "
            "install `session-checkpoint[zstd]`"
        ) from None
    try:
        unpacked: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    except zstandard.ZstdError:
        return b""
    return unpacked


def _place(thread: Record, into: Assembler) -> None:
    trees = dict_of(thread.get("initial_project_snapshot")).get("worktree_snapshots")
    for tree in records_of(trees):
        into.head.cwd = text_of(tree.get("worktree_path"))
        git = dict_of(tree.get("git_state"))
        into.head.branch = text_of(git.get("current_branch"))
        return


def _message(message: Any, number: int, into: Assembler) -> None:
    fields: dict[str, Any] = {"cwd": into.head.cwd, "branch": into.head.branch}
    where = f"message {number}"
    if message == "Resume":
        return
    record = dict_of(message)
    if "User" in record:
        user = dict_of(record["User"])
        parts = _content(list_of(user.get("content")), where, into)
        fields["id"] = str(user.get("id", ""))
        into.message("user", parts, origin="person", **fields)
    elif "Agent" in record:
        agent = dict_of(record["Agent"])
        parts = _content(list_of(agent.get("content")), where, into)
        into.message("assistant", parts, origin="agent", model=into.head.model, **fields)
        results = dict_of(agent.get("tool_results"))
        give_all([_result(name, dict_of(one)) for name, one in results.items()], into)
    elif "role" in record:
        _old(record, fields, where, into)
    else:
        into.problems.add("unknown message", where, "note")


def _content(content: list[Any], where: str, into: Assembler) -> list[Part]:
    parts: list[Part] = []
    for one in content:
        block = dict_of(one)
        if "Text" in block:
            parts.extend([Text(text_of(block["Text"]))] if text_of(block["Text"]).strip() else [])
        elif "Thinking" in block:
            thought = text_of(dict_of(block["Thinking"]).get("text"))
            parts.extend([Reasoning(thought)] if thought.strip() else [])
        elif "ToolUse" in block:
            use = dict_of(block["ToolUse"])
            name, number = text_of(use.get("name")), text_of(use.get("id"))
            parts.append(make_call(name, use.get("input"), id=number, table=TABLE))
        elif "Mention" in block:
            parts.append(Attachment(_mentioned(dict_of(block["Mention"]).get("uri"))))
        elif "Image" in block:
            parts.append(Attachment("", "image"))
        elif "RedactedThinking" not in block:
            into.problems.add("unknown content", where, "note")
    return parts


def _mentioned(uri: Any) -> str:
    """Return what a mention names: its address, or the path or name within it."""
    if isinstance(uri, str):
        return uri
    for inner in dict_of(uri).values():
        for key in ("abs_path", "path", "name", "url"):
            if text_of(dict_of(inner).get(key)):
                return text_of(dict_of(inner)[key])
    return ""


def _result(name: str, one: Record) -> Result:
    content = one.get("content")
    pieces = content if isinstance(content, list) else [content]
    output = "\n".join(filter(None, map(_result_text, pieces)))
    return Result(text_of(one.get("tool_use_id")) or name, output, one.get("is_error") is True)


def _result_text(piece: Any) -> str:
    inner = dict_of(piece).get("Text", piece)
    return inner if isinstance(inner, str) else content_text(dict_of(inner).get("text"))


def _old(record: Record, fields: dict[str, Any], where: str, into: Assembler) -> None:
    """Put a message of the form before version 0.3."""
    parts: list[Part] = []
    for segment in records_of(record.get("segments")):
        text = text_of(segment.get("text"))
        if text.strip():
            parts.append(Reasoning(text) if segment.get("type") == "thinking" else Text(text))
    if isinstance(record.get("text"), str) and not parts:
        parts.append(Text(record["text"]))
    for use in records_of(record.get("tool_uses")):
        name, number = text_of(use.get("name")), text_of(use.get("id"))
        parts.append(make_call(name, use.get("input"), id=number, table=TABLE))
    fields["id"] = str(record.get("id", ""))
    if record.get("role") == "assistant":
        into.message("assistant", parts, origin="agent", model=into.head.model, **fields)
        results = records_of(record.get("tool_results"))
        give_all([_result("", one) for one in results], into)
        return
    context = text_of(record.get("context"))
    if context.strip():
        parts.append(Text(context, injected=True))
    give_all([_result("", one) for one in records_of(record.get("tool_results"))], into)
    if parts:
        person = record.get("role") == "user"
        into.message("user", parts, origin="person" if person else "injected", **fields)
    elif record.get("role") not in ("user", "system"):
        into.problems.add(f"unknown role {record.get('role')!r}", where, "note")
