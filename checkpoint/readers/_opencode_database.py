"""opencode's SQLite database (since 1.2): `session`, `message` and `part`, JSON in `data`.

The event log holds every intermediate state of every part and is not read; tables of accounts and
credentials never are. Rows of the newer `session_message` are read only for a session that has no
rows in `message`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from checkpoint.errors import ReadError
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._opencode_newer import load_newer
from checkpoint.readers._opencode_records import Part, Said, info_of, part_of_json
from checkpoint.readers._opencode_tree import commit_of
from checkpoint.readers._sqlite import Row, columns, listing, open_database, rows, tables_of
from checkpoint.readers._whole import Record, at_of, decode, dict_of, text_of

Messages = list[Said]

_FEW = 500
"""Up to so many messages' parts are asked for by message, more by session."""


def is_store(head: Head) -> bool:
    """Whether a database has opencode's tables."""
    return {"session", "message", "part", "project"} <= tables_of(head)


class Rows(NamedTuple):
    """One session's rows, as they stood at one moment."""

    about: Record
    ids: list[str]
    """The ids of all messages, in order."""
    messages: Messages
    """The last of them; those before were not read."""


def load(path: Path, session: str, problems: Problems, known: Callable[[list[str]], int]) -> Rows:
    """Return a session's own record and its messages with their parts.

    Args:
        path: the database.
        session: which session; "" is the newest that is no subagent's.
        problems: where to what cannot be understood goes.
        known: is told all ids, and says how many of the first messages need not be read.

    Raises:
        ReadError: the database cannot be opened, or holds no such session.
    """
    with open_database(path) as database:
        about = _session(database, path, session, problems)
        query = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id"
        found = rows(database, query, (about["id"],), problems, path.name)
        ids = [str(row["id"]) for row in found]
        if not ids:
            messages = load_newer(database, about["id"], problems, path.name)
            ids = [text_of(one.info.id) for one in messages]
            return Rows(about, ids, messages[known(ids) :])
        found_now = _messages(database, about["id"], ids, known(ids), problems, path.name)
        return Rows(about, ids, found_now)


def _session(database: sqlite3.Connection, path: Path, session: str, problems: Problems) -> Record:
    names = columns(database, "session")
    values: tuple[str, ...] = ()
    if session:
        query, values = "SELECT * FROM session WHERE id = ?", (session,)
    else:
        main = " WHERE parent_id IS NULL" if "parent_id" in names else ""
        query = (
            f"SELECT * FROM session{main} ORDER BY coalesce((SELECT max(m.time_created) "  # noqa: S608
            "FROM message m WHERE m.session_id = session.id), 0) DESC, id LIMIT 1"
        )
    row = next(iter(rows(database, query, values, problems, path.name)), None)
    if row is None:
        which = f"no session {session!r}" if session else "no session"
        raise ReadError(f"{path}: it holds {which}; `checkpoint sessions --all` lists them")
    return {
        "id": str(row["id"]),
        "title": row["title"],
        "directory": row["directory"],
        "version": row["version"],
        "parentID": row["parent_id"],
        "time": {"created": row["time_created"], "updated": row["time_updated"]},
        "revert": _json(row["revert"], "session.revert", problems) if row["revert"] else {},
    }


def _json(text: object, where: str, problems: Problems) -> Record:
    return dict_of(decode(_raw(text), where, problems))


def _raw(text: object) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "replace")


def _messages(
    database: sqlite3.Connection,
    session: str,
    ids: list[str],
    skip: int,
    problems: Problems,
    where: str,
) -> Messages:
    parts = _parts(database, session, ids[skip:], problems, where)
    query = (
        "SELECT id, time_created, data FROM message WHERE session_id = ? "
        "ORDER BY time_created, id LIMIT -1 OFFSET ?"
    )
    found: Messages = []
    for row in rows(database, query, (session, skip), problems, where):
        ident = str(row["id"])
        info = _json(row["data"], ident, problems)
        info["id"] = ident
        info["time"] = {**dict_of(info.get("time")), "created": row["time_created"]}
        found.append(Said(info_of(info), parts.get(ident, [])))
    return found


def _parts(
    database: sqlite3.Connection,
    session: str,
    wanted: list[str],
    problems: Problems,
    where: str,
) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    columns_of_part = "SELECT id, message_id, data FROM part"
    if len(wanted) <= _FEW:
        query = f"{columns_of_part} WHERE message_id = ? ORDER BY id"
        asked: list[tuple[str, ...]] = [(ident,) for ident in wanted]
    else:
        query = f"{columns_of_part} WHERE session_id = ? ORDER BY message_id, id"
        asked = [(session,)]
    for values in asked:
        for row in rows(database, query, values, problems, where):
            part = part_of_json(_raw(row["data"]), str(row["id"]), problems)
            if part is not None:
                part.id = row["id"]
                found.setdefault(str(row["message_id"]), []).append(part)
    return found


def find(path: Path, agent: str) -> Iterator[Found]:
    """Yield the sessions of a database; nothing if it cannot be read."""
    query = (
        "SELECT s.*, count(m.id) AS n, max(m.time_created) AS last "
        "FROM session s LEFT JOIN message m ON m.session_id = s.id GROUP BY s.id"
    )
    newer: set[str] = set()
    found = listing(path, query)
    if any(not row["n"] for row in found):
        asked = "SELECT DISTINCT session_id FROM session_message"
        newer = {str(row["session_id"]) for row in listing(path, asked)}
    for row in found:
        if row["time_archived"]:
            continue
        yield _found(path, agent, row, str(row["id"]) in newer)


def _found(path: Path, agent: str, row: Row, newer: bool) -> Found:
    made, last = at_of(row["time_created"]), at_of(row["last"] or row["time_updated"])
    parent = text_of(row["parent_id"])
    return Found(
        agent=agent,
        path=path,
        session=str(row["id"]),
        directory=text_of(row["directory"]),
        title=text_of(row["title"]),
        started=made.timestamp() if made else 0.0,
        updated=last.timestamp() if last else 0.0,
        messages=row["n"] if isinstance(row["n"], int) and row["n"] else None,
        parent=parent,
        subagent=bool(parent),
        empty=not row["n"] and not newer,
        project=commit_of(row["project_id"]),
    )
