"""opencode's SQLite database (since 1.2): `session`, `message` and `part`, JSON in `data`.

The event log holds every intermediate state of every part and is not read; tables of accounts and
credentials never are. Rows of the newer `session_message` are read only for a session that has no
rows in `message`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._sqlite import Row, columns, open_database, rows, tables_of
from checkpoint.readers._whole import Record, at_of, dict_of, records_of, text_of

Messages = list[tuple[Record, list[Record]]]


def is_store(head: Head) -> bool:
    """Whether a database has opencode's tables."""
    return {"session", "message", "part", "project"} <= tables_of(head)


def load(path: Path, session: str, problems: Problems) -> tuple[Record, Messages]:
    """Return a session's own record, and its messages with their parts.

    Raises:
        ReadError: the database cannot be opened, or holds no such session.
    """
    with open_database(path) as database:
        names = columns(database, "session")
        order = "time_updated" if "time_updated" in names else "id"
        if session:
            query, values = "SELECT * FROM session WHERE id = ?", (session,)
        else:
            query = f"SELECT * FROM session WHERE parent_id IS NULL ORDER BY {order} DESC LIMIT 1"  # noqa: S608
            values = ()
        row = next(iter(rows(database, query, values, problems, path.name)), None)
        if row is None:
            raise ReadError(
                f"{path}: it holds no session {session!r}" if session else f"{path}: no session"
            )
        about = _about(row, names)
        messages = _messages(database, about["id"], problems, path.name)
        if not messages:
            messages = _newer(database, about["id"], problems, path.name)
    return about, messages


def _about(row: Row, names: frozenset[str]) -> Record:
    def value(name: str) -> object:
        return row[name] if name in names else None

    return {
        "id": str(row["id"]),
        "title": text_of(value("title")),
        "directory": text_of(value("directory")),
        "version": text_of(value("version")),
        "parentID": text_of(value("parent_id")),
        "time": {"created": value("time_created"), "updated": value("time_updated")},
        "revert": _json(text_of(value("revert"))),
    }


def _json(text: str) -> Record:
    try:
        return dict_of(json.loads(text)) if text else {}
    except (ValueError, RecursionError):
        return {}


def _messages(
    database: sqlite3.Connection, session: str, problems: Problems, where: str
) -> Messages:
    parts: dict[str, list[Record]] = {}
    query = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id"
    for row in rows(database, query, (session,), problems, where):
        part = _json(str(row["data"]))
        if not part:
            problems.add("a part is no JSON object", str(row["id"]))
            continue
        part["id"] = row["id"]
        parts.setdefault(str(row["message_id"]), []).append(part)
    found: Messages = []
    query = (
        "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    )
    for row in rows(database, query, (session,), problems, where):
        info = _json(str(row["data"]))
        if not info:
            problems.add("a message is no JSON object", str(row["id"]))
            continue
        info["id"] = str(row["id"])
        info.setdefault("time", {"created": row["time_created"]})
        found.append((info, parts.get(str(row["id"]), [])))
    return found


def _newer(database: sqlite3.Connection, session: str, problems: Problems, where: str) -> Messages:
    if "seq" not in columns(database, "session_message"):
        return []
    query = (
        "SELECT id, type, time_created, data FROM session_message WHERE session_id = ? ORDER BY seq"
    )
    found: Messages = []
    for row in rows(database, query, (session,), problems, where):
        given = _json(str(row["data"]))
        info: Record = {"id": str(row["id"]), "time": {"created": row["time_created"]}}
        kind = str(row["type"])
        if kind in ("user", "synthetic"):
            part = {"type": "text", "text": given.get("text"), "synthetic": kind == "synthetic"}
            found.append(({**info, "role": "user"}, [part]))
        elif kind == "compaction":
            part = {"type": "compaction", "auto": given.get("reason") == "auto"}
            found.append(({**info, "role": "user"}, [part]))
            if text_of(given.get("summary")):
                words = {"type": "text", "text": given["summary"]}
                found.append(({**info, "role": "assistant", "summary": True}, [words]))
        elif kind == "assistant":
            model = dict_of(given.get("model"))
            info |= {
                "role": "assistant",
                "modelID": text_of(model.get("id") or model.get("modelID")),
            }
            found.append((info, [_newer_part(one) for one in records_of(given.get("content"))]))
        elif kind == "shell":
            state = {"status": "completed", "input": {"command": given.get("command")},
                     "output": given.get("output")}  # fmt: skip
            part = {"type": "tool", "tool": "bash", "callID": given.get("callID"), "state": state}
            found.append(({**info, "role": "assistant"}, [part]))
        elif kind not in ("system", "agent-switched", "model-switched"):
            problems.add(f"unknown message type {kind!r}", str(row["id"]), "note")
    return found


def _newer_part(one: Record) -> Record:
    if one.get("type") != "tool":
        return one
    state = dict_of(one.get("state"))
    output = "\n".join(text_of(c.get("text")) for c in records_of(state.get("content")))
    error = state.get("error")
    message = text_of(error) or text_of(dict_of(error).get("message"))
    given = state.get("input")
    return {
        "type": "tool",
        "tool": one.get("name"),
        "callID": one.get("id"),
        "state": {
            "status": state.get("status"),
            "input": _json(given) if isinstance(given, str) else given,
            "output": output,
            "error": message or output,
            "metadata": state.get("structured"),
        },
    }


def find(path: Path, agent: str) -> Iterator[Found]:
    """Yield the sessions of a database; nothing if it cannot be opened."""
    try:
        with open_database(path) as database:
            names = columns(database, "session")
            if "directory" not in names:
                return
            archived = " WHERE time_archived IS NULL" if "time_archived" in names else ""
            query = (
                "SELECT id, parent_id, directory, title, time_created, time_updated, "  # noqa: S608
                "(SELECT count(*) FROM message m WHERE m.session_id = session.id) AS n "
                f"FROM session{archived}"
            )
            for row in database.execute(query).fetchall():
                made, last = at_of(row["time_created"]), at_of(row["time_updated"])
                parent = text_of(row["parent_id"])
                yield Found(
                    agent, path, str(row["id"]), text_of(row["directory"]), text_of(row["title"]),
                    made.timestamp() if made else 0.0, last.timestamp() if last else 0.0,
                    int(row["n"]), parent, bool(parent), not row["n"],
                )  # fmt: skip
    except (ReadError, sqlite3.Error):
        return
