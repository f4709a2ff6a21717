"""opencode's newer message rows (`session_message`): a typed record a row, turned into the older.

Source: types of @opencode-ai/sdk 1.19.3; the tables of release 1.18.33, which leaves them empty.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from checkpoint.readers._base import Problems
from checkpoint.readers._opencode_records import Said, said_of
from checkpoint.readers._sqlite import columns, rows
from checkpoint.readers._whole import Record, decode, dict_of, records_of, text_of

_Pairs = list[tuple[Record, list[Record]]]


def load_newer(
    database: sqlite3.Connection, session: str, problems: Problems, where: str
) -> list[Said]:
    """Return the messages of a session in the older form, in order; none without such a table."""
    if "seq" not in columns(database, "session_message"):
        return []
    query = (
        "SELECT id, type, time_created, data FROM session_message WHERE session_id = ? ORDER BY seq"
    )
    found: list[Said] = []
    for row in rows(database, query, (session,), problems, where):
        ident = str(row["id"])
        raw = str(row["data"]).encode("utf-8", "replace")
        given = dict_of(decode(raw, ident, problems))
        info: Record = {"id": ident, "time": {"created": row["time_created"]}}
        made = _message(str(row["type"]), info, given)
        if made is None:
            problems.add(f"unknown message type {row['type']!r}"[:80], ident, "note")
        else:
            found += [said_of(info, parts) for info, parts in made]
    return found


def _message(kind: str, info: Record, given: Record) -> _Pairs | None:
    """Return what one row stands for; None of an unknown kind."""
    user = {**info, "role": "user"}
    if kind in ("user", "synthetic"):
        words = {"type": "text", "text": given.get("text"), "synthetic": kind == "synthetic"}
        files = [
            {"type": "file", "mime": one.get("mime"), "filename": one.get("name")}
            for one in records_of(given.get("files"))
        ]
        return [(user, [words, *files])]
    if kind == "compaction":
        mark = {"type": "compaction", "auto": given.get("reason") == "auto"}
        summary = {"type": "text", "text": given.get("summary")}
        said = {**info, "id": f"{info['id']}.summary", "role": "assistant", "summary": True}
        return [(user, [mark]), (said, [summary])] if given.get("summary") else [(user, [mark])]
    if kind == "assistant":
        model = dict_of(given.get("model"))
        times = {**dict_of(given.get("time")), **info["time"]}
        said = {**info, "role": "assistant", "time": times, "error": given.get("error")}
        said["modelID"] = text_of(model.get("id")) or text_of(model.get("modelID"))
        return [(said, [_part(one) for one in records_of(given.get("content"))])]
    if kind == "shell":
        state = {
            "status": "completed" if "output" in given else "running",
            "input": {"command": given.get("command")},
            "output": given.get("output"),
        }
        call = {"type": "tool", "tool": "bash", "callID": given.get("callID"), "state": state}
        done = {"completed": info["time"]["created"]} if "output" in given else {}
        said = {**info, "role": "assistant", "time": {**info["time"], **done}}
        return [(said, [call])]
    return [] if kind in ("system", "agent-switched", "model-switched") else None


def _part(one: Record) -> Record:
    if one.get("type") != "tool":
        return one
    state = dict_of(one.get("state"))
    output = "\n".join(text_of(c.get("text")) for c in records_of(state.get("content")))
    error = state.get("error")
    given: Any = state.get("input")
    return {
        "type": "tool",
        "tool": one.get("name"),
        "callID": one.get("id"),
        "state": {
            "status": state.get("status"),
            "input": _input(given) if isinstance(given, str) else given,
            "output": output,
            "error": text_of(error) or text_of(dict_of(error).get("message")) or output,
            "metadata": state.get("structured"),
        },
    }


def _input(text: str) -> Record:
    """Return a call's arguments; they are text, maybe half of it, while the call is pending."""
    try:
        return dict_of(json.loads(text))
    except (ValueError, RecursionError):
        return {}
