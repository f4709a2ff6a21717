"""opencode: the JSON of its `export`, its storage trees (to 1.1), its SQLite database (since 1.2).

Messages are ordered by (time created, id): a user message's id may be older than that of a summary
which stands before it. A session's children (subagents) are sessions of their own. Upgrades copy
the older store and never delete it, so a session may stand in two; the newer store counts.
Messages that the person took back (`revert`) are left out.

`opencode run --format json` writes a stream of events; it has the agent's side only.

Not in the formats: the branch; in the oldest trees (to 0.6) the session's directory, which is taken
from its messages; what a session was forked from. The version is that of the session's beginning.

Source: @opencode-ai/sdk types; stores written by releases 0.5.29 to 1.18.33.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from checkpoint.model import Cursor, Message, SessionHead
from checkpoint.readers import _opencode_database as database
from checkpoint.readers import _opencode_tree as tree
from checkpoint.readers._assemble import HOLD
from checkpoint.readers._base import Found, Head, Problems, Reader, Reading
from checkpoint.readers._listing import remembered
from checkpoint.readers._opencode import Session, Told
from checkpoint.readers._opencode_records import Said, export_of, said_of
from checkpoint.readers._whole import (
    Record,
    at_of,
    dict_of,
    load_bytes,
    load_lines,
    text_of,
    trim,
)

KIND = "rows"
Messages = list[Said]

_EXPORT = re.compile(rb'\s*\{\s*"(?:info|messages)"\s*:')
_EVENT = re.compile(rb'\s*\{(?=[^\n]{0,200}"sessionID"\s*:\s*"ses_)\s*"type"\s*:')


class _Loaded(NamedTuple):
    about: Record
    ids: list[str]
    """Of all messages, in order."""
    messages: Messages
    """The last of them; the ones before are known already."""


class OpenCode(Reader):
    """Reads opencode's sessions, from any of its stores."""

    name = "opencode"
    title = "opencode"

    def identify(self, head: Head) -> bool:
        if head.is_dir:
            return tree.is_tree(head.path) or any(_databases(head.path))
        if head.is_sqlite():
            return database.is_store(head)
        return _is_export(head) or _is_stream(head) or tree.is_session_file(head)

    def read(self, path: Path, since: Cursor | None = None, session: str = "") -> Reading:
        problems = Problems()
        known = _Known(since)
        loaded = _load(path, session, problems, known)
        head = SessionHead(agent=self.name, source=str(path))
        told = Told()
        if since is not None and known.count:
            told = msgspec.convert(since.carry, Told, strict=False)
        child = _describe(loaded.about, head, told)
        reading = Reading(head, iter(()), problems, since or Cursor(KIND))
        if since is not None and since.number and not known.count:
            reading.fell_back = "the messages before the cursor are no longer the same"
        maker = Session(head, problems, told, child=child)
        reading.messages = _messages(reading, loaded, maker)
        return reading

    def roots(self) -> list[Path]:
        data = os.environ.get("XDG_DATA_HOME")
        base = (Path(data) if data else Path.home() / ".local" / "share") / "opencode"
        own = os.environ.get("OPENCODE_DB")
        return [base / own, base] if own and own != ":memory:" else [base]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        seen: set[str] = set()
        for found in self._all():
            if found.session not in seen:
                seen.add(found.session)
                yield found

    def _all(self) -> Iterator[Found]:
        """Yield what all stores hold, the newest store first."""
        for root in self.roots():
            for store in [root] if root.is_file() else _databases(root):
                yield from remembered(self.name, store, partial(database.find, store, self.name))
        for root in self.roots():
            for storage in tree.storages(root) if root.is_dir() else ():
                yield from tree.find(storage, self.name)


def _is_export(head: Head) -> bool:
    start = head.start
    return (
        _EXPORT.match(start) is not None
        and b'"ses_' in start
        and head.has_key("info")
        and (head.has_key("messages") or not head.whole)
    )


def _is_stream(head: Head) -> bool:
    return _EVENT.match(head.start) is not None and head.has_key("part")


def _databases(folder: Path) -> list[Path]:
    """Return the databases in opencode's own folder, that of the released versions first."""
    return sorted(folder.glob("opencode*.db"), key=lambda one: (one.name != "opencode.db", one))


class _Known:
    """Whether the messages before a cursor are still the same."""

    def __init__(self, since: Cursor | None) -> None:
        self._since = since
        self.count = 0
        """How many messages need not be read again."""

    def __call__(self, ids: list[str]) -> int:
        since = self._since
        if since is not None and since.kind == KIND and 0 < since.number <= len(ids):
            same = _check(ids, since.number) == since.check
            self.count = since.number if same else 0
        return self.count


def _check(ids: list[str], count: int) -> str:
    return hashlib.blake2b("\n".join(ids[:count]).encode(), digest_size=12).hexdigest()


def _load(path: Path, session: str, problems: Problems, known: _Known) -> _Loaded:
    head = Head.of(path)
    if head.is_dir and (stores := _databases(path)):
        held = {
            one.session: store for store in reversed(stores) for one in database.find(store, "")
        }
        if not session or session in held:
            head = Head.of(held.get(session, stores[0]))
    if head.is_sqlite():
        rows = database.load(head.path, session, problems, known)
        return _cut(_Loaded(rows.about, rows.ids, rows.messages))
    if head.is_dir or tree.is_session_file(head):
        about, messages = tree.load(path, session, problems)
    elif _is_stream(head):
        about, messages = _stream(path, problems)
    else:
        about, messages = _export(path, problems)
    messages.sort(key=_order)
    ids = [text_of(one.info.id) for one in messages]
    cut = _cut(_Loaded(about, ids, messages))
    return cut._replace(messages=cut.messages[known(cut.ids) :])


def _export(path: Path, problems: Problems) -> tuple[Record, Messages]:
    given = export_of(load_bytes(path, problems), path.name, problems)
    if not given.info and not given.messages:
        problems.add("there is no session in the file", path.name, "error")
    return given.info, given.messages


def _stream(path: Path, problems: Problems) -> tuple[Record, Messages]:
    """Return the messages of the events of one run, each part where it came first."""
    about: Record = {}
    infos: dict[str, Record] = {}
    parts: dict[str, dict[str, Record]] = {}
    for where, record in load_lines(path, problems):
        part = dict_of(record.get("part"))
        about.setdefault("id", text_of(record.get("sessionID")))
        about.setdefault("time", {"created": record.get("timestamp")})
        ident = text_of(part.get("messageID"))
        if not ident:
            if record.get("type") == "error":
                problems.add("the agent stopped with an error", where, "note")
            continue
        times = {"created": record.get("timestamp"), "completed": record.get("timestamp")}
        infos.setdefault(ident, {"id": ident, "role": "assistant", "time": times})
        key = text_of(part.get("id")) or where
        parts.setdefault(ident, {})[key] = part
    return about, [said_of(info, list(parts[ident].values())) for ident, info in infos.items()]


def _order(message: Said) -> tuple[float, str]:
    times = message.info.time
    made = times.get("created") if isinstance(times, dict) else None
    return float(made) if isinstance(made, int | float) else 0.0, text_of(message.info.id)


def _cut(loaded: _Loaded) -> _Loaded:
    """Leave out what the person took back: from a message, or from a part of it, on."""
    revert = dict_of(loaded.about.get("revert"))
    message, part = text_of(revert.get("messageID")), text_of(revert.get("partID"))
    if message not in loaded.ids:
        return loaded
    keep = loaded.ids.index(message) + bool(part)
    known = len(loaded.ids) - len(loaded.messages)
    messages = loaded.messages[: max(0, keep - known)]
    if part and messages:
        info, parts = messages[-1].info, messages[-1].parts
        ids = [one.id for one in parts]
        messages[-1] = Said(info, parts[: ids.index(part)] if part in ids else parts)
    return loaded._replace(ids=loaded.ids[:keep], messages=messages)


def _describe(about: Record, head: SessionHead, told: Told) -> bool:
    """Fill in the head; return whether the session is a subagent's."""
    head.id = text_of(about.get("id"))
    title = text_of(about.get("title"))
    head.title = "" if title.startswith(("New session - ", "Child session - ")) else title
    head.version = text_of(about.get("version"))
    head.parent = text_of(about.get("parentID"))
    head.started = at_of(dict_of(about.get("time")).get("created"))
    head.cwd = told.cwd = text_of(about.get("directory")) or told.cwd
    head.model = told.model
    return bool(head.parent) and "(fork #" not in title


def _messages(reading: Reading, loaded: _Loaded, maker: Session) -> Iterator[Message]:
    """Yield the messages, and leave in the reading where to go on."""
    told, problems = maker.told, reading.problems
    first = len(loaded.ids) - len(loaded.messages)
    settled = first + _settled(loaded.messages)
    loading = problems.mark()
    carry = msgspec.to_builtins(told)
    number = first
    for number, said in enumerate(loaded.messages, first):
        if number == settled:
            carry = msgspec.to_builtins(told)
            _settle(problems, loading)
        message = maker.message(number, said)
        message.settled = number < settled
        trim(message, problems)
        maker.head.model, maker.head.cwd = told.model, maker.head.cwd or told.cwd
        yield message
    reading.cursor = Cursor(KIND, settled, settled, _check(loaded.ids, settled), carry)


def _settle(problems: Problems, loading: dict[str, object] | object) -> None:
    """Say what was found so far; what the loading found, the next one finds again."""
    skip = loading if isinstance(loading, dict) else {}
    problems.settle({what: one for what, one in problems.mark().items() if what not in skip})


def _settled(messages: Messages) -> int:
    """Return how many of the messages can no longer change; the last one always may.

    A message that the agent has not completed may, though others follow it (a person types on),
    until so many follow that it was surely given up.
    """
    last = len(messages) - 1
    for number in range(max(0, last - HOLD), last):
        info = messages[number].info
        done = "completed" in dict_of(info.time) or info.error
        if info.role == "assistant" and not done:
            return number
    return max(0, last)
