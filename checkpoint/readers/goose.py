"""Goose: `sessions.db` (SQLite), and the older `<id>.jsonl`, under `~/.local/share/goose/sessions`.

A message's content is a list of text, thinking, toolRequest, toolResponse and notices. In the line
form the first line describes the session. After a compaction the summed-up messages stay, marked
as no longer shown to the model.

Not in the format: the branch; who refused a call but in the words of its result.

Source: crates/goose/src/session and crates/goose/src/conversation of block/goose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from checkpoint.errors import ReadError
from checkpoint.model import Attachment, Category, Compaction, Origin, Part, Reasoning, Text
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._blocks import content_text
from checkpoint.readers._calls import checklist, close_call, make_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._sqlite import Row, columns, listing, open_database, rows, tables_of
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    changed,
    dict_of,
    list_of,
    load_lines,
    records_of,
    text_of,
)

TABLE: dict[str, Category] = {
    "developer__shell": "shell",
    "developer__analyze": "read",
    "todo__todo_write": "todo",
    "todo__write": "todo",
    "todo_write": "todo",
    "subagent__execute_task": "subagent",
    "dynamic_task__create_task": "subagent",
    "subagent": "subagent",
    "delegate": "subagent",
    "fetch__fetch": "fetch",
    "computercontroller__web_scrape": "fetch",
}


class Goose(WholeReader):
    """Reads Goose's sessions, of both of its stores."""

    name = "goose"
    title = "Goose"

    def identify(self, head: Head) -> bool:
        if head.is_sqlite():
            with_content = {"sessions", "messages", "schema_version"} <= tables_of(head)
            return with_content and _is_store(head)
        first = next(iter(head.records), {})
        if "role" in first or not ({"working_dir", "description", "message_count"} & first.keys()):
            return False
        return "working_dir" in first or "created" in next(iter(head.records[1:]), {})

    def build(self, path: Path, session: str, into: Assembler) -> None:
        if Head.of(path).is_sqlite():
            _store(path, session, into)
            return
        for where, record in load_lines(path, into.problems):
            if "role" not in record:
                into.head.id = into.head.id or path.name.split(".jsonl")[0]
                into.head.title = text_of(record.get("description"))
                into.head.cwd = text_of(record.get("working_dir"))
            else:
                _message(record, record.get("content"), where, into)

    def roots(self) -> list[Path]:
        own = os.environ.get("GOOSE_PATH_ROOT")
        data = os.environ.get("XDG_DATA_HOME")
        home = Path.home()
        places = [Path(own) / "data"] if own else []
        places += [Path(data) / "goose"] if data else []
        places += [
            home / ".local" / "share" / "goose",
            home / "Library" / "Application Support" / "Block" / "goose",
            Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
            / "Block"
            / "goose"
            / "data",
        ]
        return [one / "sessions" for one in dict.fromkeys(places)]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            store = root / "sessions.db"
            if store.is_file():
                yield from self._found(store)
            for path in root.glob("*.jsonl"):
                try:
                    first = next(iter(Head.of(path).records), {})
                except ReadError:
                    continue
                yield Found(
                    self.name, path, path.stem, text_of(first.get("working_dir")),
                    text_of(first.get("description")), 0.0, changed(path),
                )  # fmt: skip

    def _found(self, store: Path) -> Iterator[Found]:
        query = (
            "SELECT s.*, count(m.id) AS n, max(m.created_timestamp) AS last "
            "FROM sessions s LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id"
        )
        for row in listing(store, query):
            last, made = at_of(row["last"]), at_of(row["created_at"])
            yield Found(
                self.name, store, str(row["id"]), text_of(row["working_dir"]),
                text_of(row["name"]) or text_of(row["description"]),
                made.timestamp() if made else 0.0, last.timestamp() if last else 0.0,
                int(row["n"]), "", row["session_type"] == "sub_agent", not row["n"],
            )  # fmt: skip


def _is_store(head: Head) -> bool:
    try:
        with open_database(head.path) as database:
            return "content_json" in columns(database, "messages")
    except ReadError:
        return False


def _store(path: Path, session: str, into: Assembler) -> None:
    with open_database(path) as database:
        names = columns(database, "sessions")
        about = _session(
            list(rows(database, "SELECT * FROM sessions", (), into.problems, path.name)), session
        )
        if about is None:
            if into.problems:
                return
            raise ReadError(
                f"{path}: it holds no session {session!r}" if session else f"{path}: no session"
            )
        head = into.head
        head.id, head.cwd = str(about["id"]), str(about["working_dir"] or "")
        head.title = str((about["name"] if "name" in names else about["description"]) or "")
        head.started = at_of(about["created_at"])
        if "model_config_json" in names:
            head.model = text_of(_json(about["model_config_json"]).get("model_name"))
        order = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
        for row in rows(database, order, (about["id"],), into.problems, path.name):
            record: Record = dict(row)
            record["created"] = record.get("created_timestamp")
            record["metadata"] = _json(record.get("metadata_json"))
            content = _json_list(record.get("content_json"), into, f"message {row['id']}")
            _message(record, content, f"message {row['id']}", into)


def _session(found: list[Row], session: str) -> Row | None:
    if session:
        return next((row for row in found if str(row["id"]) == session), None)
    return max(found, key=lambda row: (str(row["updated_at"] or ""), str(row["id"])), default=None)


def _json(text: Any) -> Record:
    try:
        return dict_of(msgspec.json.decode(text or "{}"))
    except (msgspec.DecodeError, UnicodeError, TypeError):
        return {}


def _json_list(text: Any, into: Assembler, where: str) -> list[Any]:
    try:
        return list_of(msgspec.json.decode(text or "[]"))
    except (msgspec.DecodeError, UnicodeError, TypeError):
        into.problems.add("a message's content is no JSON", where)
        return []


_INFO = re.compile(r"\A\s*<info-msg>.*?</info-msg>\s*", re.DOTALL)


def _message(record: Record, content: Any, where: str, into: Assembler) -> None:
    fields: dict[str, Any] = {
        "id": str(record.get("message_id") or record.get("id") or ""),
        "at": at_of(record.get("created")),
        "cwd": into.head.cwd,
    }
    into.head.started = into.head.started or fields["at"]
    parts: list[Part] = []
    answered = False
    for block in (
        records_of(content) if not isinstance(content, str) else [{"type": "text", "text": content}]
    ):
        if block.get("type") == "toolResponse":
            _response(block, into)
            answered = True
        else:
            parts.extend(_part(block, where, into))
    shown = dict_of(record.get("metadata"))
    if record.get("role") == "assistant":
        summary = any(isinstance(part, Compaction) for part in parts)
        origin: Origin = "summary" if summary else "agent"
        into.message("assistant", parts, origin=origin, model=into.head.model, **fields)
    elif parts or not answered:
        origin = "injected" if shown.get("userVisible") is False else "person"
        own: list[Part] = []
        for part in parts:
            own.extend(_own(part.text) if isinstance(part, Text) else [part])
        words = [part for part in own if isinstance(part, Text)]
        if words and all(part.injected for part in words):
            origin = "injected"
        if origin == "injected" and shown.get("agentVisible") is True and _is_summary(words):
            own, origin = [Compaction(), *own], "summary"
        into.message("user", own, origin=origin, **fields)


def _is_summary(words: list[Text]) -> bool:
    start = words[0].text[:300].lower() if words else ""
    return "summar" in start or "compacted" in start


def _own(text: str) -> list[Text]:
    info = _INFO.match(text)
    if not info:
        return split_injected(text)
    return [Text(info.group(0).strip(), injected=True), *split_injected(text[info.end() :])]


_SILENT = frozenset(
    {"redactedThinking", "toolConfirmationRequest", "contextLengthExceeded", "actionRequired"}
)


def _part(block: Record, where: str, into: Assembler) -> list[Part]:
    kind = text_of(block.get("type"))
    if kind == "text":
        return [Text(text_of(block.get("text")))] if text_of(block.get("text")).strip() else []
    if kind in ("thinking", "reasoning"):
        thought = text_of(block.get("thinking")) or text_of(block.get("text"))
        return [Reasoning(thought)] if thought.strip() else []
    if kind in ("toolRequest", "frontendToolRequest"):
        asked = dict_of(block.get("toolCall"))
        value = dict_of(asked.get("value"))
        name = text_of(value.get("name"))
        call = make_call(name, value.get("arguments"), id=text_of(block.get("id")), table=TABLE)
        if name.endswith("text_editor"):
            _editor(call.input.get("command"), call)
        if call.category == "todo" and not call.todos:
            call.todos = tuple(checklist(text_of(call.input.get("content"))))
        return [call]
    if kind in ("summarizationRequested", "conversationCompacted"):
        return [Compaction("auto")]
    if kind == "systemNotification":
        text = text_of(block.get("msg"))
        mark: list[Part] = [Compaction("auto")] if "compact" in text.lower() else []
        return [*mark, Text(text, injected=True)]
    if kind in ("image", "document"):
        return [Attachment("", text_of(block.get("mimeType")))]
    if kind not in _SILENT:
        into.problems.add(f"unknown content {kind!r}", where, "note")
    return []


def _editor(command: Any, call: Any) -> None:
    if command == "write":
        call.category = "write"
        for change in call.changes:
            change.action = "written"
            change.new = change.new or text_of(call.input.get("file_text"))


def _response(block: Record, into: Assembler) -> None:
    name = text_of(block.get("id"))
    call = into.call(name)
    if call is None:
        into.problems.add("a result without its call", name or "content", "note")
        return
    result = dict_of(block.get("toolResult"))
    value = result.get("value")
    content = value.get("content") if isinstance(value, dict) else value
    failed = result.get("status") == "error" or dict_of(value).get("isError") is True
    output = content_text(_for_model(content)) or text_of(result.get("error"))
    stated = re.search(r"(?:exit (?:code|status)|exited with code):? (-?\d+)", output[-200:])
    close_call(call, output, failed=failed, exit_code=int(stated.group(1)) if stated else None)
    if "declined to run" in output[:200] or "user has declined" in output[:200].lower():
        call.refused = call.failed = True
    if call.failed:
        call.changes = ()
    into.close(name)


def _for_model(content: Any) -> list[Record]:
    """Leave out what is shown to the person only, when the model got its own form."""
    found = records_of(content)

    def audience(one: Record) -> list[Any]:
        return list_of(dict_of(one.get("annotations")).get("audience"))

    own = [one for one in found if "assistant" in audience(one) or not audience(one)]
    return own or found
