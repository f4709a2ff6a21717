"""Cursor's `state.vscdb`: composers and bubbles, and which folder a workspace is.

Table `cursorDiskKV` holds `composerData:<id>` and `bubbleId:<composer>:<bubble>`; before that the
bubbles stood in the composer's `conversation`, and before that in `ItemTable` as chat tabs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from checkpoint.model import Attachment, Origin, Part, Reasoning, Text, Todo, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Problems
from checkpoint.readers._calls import close_call, make_call, status_of
from checkpoint.readers._cursor_words import TABLE, person_texts
from checkpoint.readers._sqlite import columns, listing, rows
from checkpoint.readers._vscode import folder_of
from checkpoint.readers._whole import Record, at_of, dict_of, list_of, records_of, text_of


def value_of(raw: Any) -> Any:
    """Return the JSON value of a cell, which is text or bytes; None if it is none."""
    if isinstance(raw, str | bytes):
        try:
            return msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    return None


def composers(database: sqlite3.Connection, problems: Problems) -> Iterator[Record]:
    """Yield the composers of a store, without their bubbles."""
    if columns(database, "cursorDiskKV"):
        query = (
            "SELECT key, value FROM cursorDiskKV "
            "WHERE key >= 'composerData:' AND key < 'composerData;'"
        )
        for row in rows(database, query, (), problems, "cursorDiskKV"):
            composer = value_of(row["value"])
            if isinstance(composer, dict):
                yield {"composerId": row["key"].partition(":")[2]} | composer
    yield from _tabs(database, problems)


def _tabs(database: sqlite3.Connection, problems: Problems) -> Iterator[Record]:
    """Yield the chat tabs of old versions in the form of composers."""
    if not columns(database, "ItemTable"):
        return
    query = "SELECT value FROM ItemTable WHERE key = ?"
    key = "workbench.panel.aichat.view.aichat.chatdata"
    for row in rows(database, query, (key,), problems, "ItemTable"):
        for tab in records_of(dict_of(value_of(row["value"])).get("tabs")):
            bubbles = [
                one | {"type": 1 if one.get("type") == "user" else 2}
                for one in records_of(tab.get("bubbles"))
            ]
            yield {
                "composerId": text_of(tab.get("tabId")),
                "name": text_of(tab.get("chatTitle")),
                "lastUpdatedAt": tab.get("lastSendTime"),
                "conversation": bubbles,
            }


def updated(composer: Record) -> float:
    """Return when a composer was last changed, in milliseconds; 0 if it does not tell."""
    for key in ("lastUpdatedAt", "createdAt"):
        value = composer.get(key)
        if isinstance(value, int | float):
            return float(value)
    return 0.0


def said_anything(composer: Record) -> bool:
    """Whether a composer has bubbles."""
    return bool(composer.get("fullConversationHeadersOnly") or composer.get("conversation"))


def bubbles(database: sqlite3.Connection, composer: Record, problems: Problems) -> Iterator[Record]:
    """Yield the bubbles of a composer, in order; a missing one is a problem."""
    headers = records_of(composer.get("fullConversationHeadersOnly"))
    if not headers:
        yield from records_of(composer.get("conversation"))
        return
    start = f"bubbleId:{composer.get('composerId')}:"
    inline = dict_of(composer.get("conversationMap"))
    query = "SELECT value FROM cursorDiskKV WHERE key = ?"
    for header in headers:
        name = text_of(header.get("bubbleId"))
        found = inline.get(name)
        for row in rows(database, query, (start + name,), problems, "cursorDiskKV"):
            found = value_of(row["value"])
        if isinstance(found, dict):
            yield {"bubbleId": name, "type": header.get("type")} | found
        else:
            problems.add("a bubble is missing", f"bubble {name}")


def directory(composer: Record, bubble: Record | None = None) -> str:
    """Return the folder that a composer or one of its bubbles names, "" if none does."""
    for uri in list_of((bubble or {}).get("workspaceUris")):
        if place := path_of(uri):
            return place
    named = dict_of(composer.get("workspaceIdentifier")).get("uri")
    place = (
        path_of(named)
        or text_of(dict_of(named).get("fsPath"))
        or text_of(dict_of(named).get("path"))
    )
    if place:
        return place
    for repository in records_of(composer.get("trackedGitRepos")):
        if text_of(repository.get("repoPath")):
            return text_of(repository.get("repoPath"))
    return ""


def path_of(uri: Any) -> str:
    """Return the path of a `file:` address, "" for anything else."""
    parts = urlsplit(uri) if isinstance(uri, str) else None
    return unquote(parts.path) if parts and parts.scheme == "file" else ""


def workspaces(user: Path) -> dict[str, str]:
    """Return the folders of composers by id, from the workspaces of a `User` folder."""
    found: dict[str, str] = {}
    key = "SELECT value FROM ItemTable WHERE key = 'composer.composerData'"
    for about in (user / "workspaceStorage").glob("*/workspace.json"):
        folder, store = folder_of(about), about.with_name("state.vscdb")
        for row in listing(store, key) if folder and store.is_file() else ():
            for one in records_of(dict_of(value_of(row["value"])).get("allComposers")):
                found[text_of(one.get("composerId"))] = folder
    return found


def put_bubble(bubble: Record, composer: Record, into: Assembler) -> None:
    """Put one bubble."""
    kind = bubble.get("type")
    timing = dict_of(bubble.get("timingInfo"))
    fields: dict[str, Any] = {
        "id": text_of(bubble.get("bubbleId")) or text_of(bubble.get("id")),
        "at": at_of(bubble.get("createdAt")) or at_of(timing.get("clientStartTime")),
        "cwd": directory(composer, bubble),
    }
    text = text_of(bubble.get("text")) or text_of(bubble.get("rawText"))
    if kind == 1:
        parts: list[Part] = [*person_texts(text)]
        parts.extend(
            Attachment(path_of(dict_of(one).get("uri"))) for one in list_of(bubble.get("images"))
        )
        words = [part for part in parts if isinstance(part, Text)]
        injected = bool(words) and all(part.injected for part in words)
        origin: Origin = "injected" if injected else "person"
        into.message("user", parts, origin=origin, **fields)
    elif kind == 2:
        model = text_of(dict_of(bubble.get("modelInfo")).get("modelName"))
        into.head.model = model or into.head.model
        into.message("assistant", _answer(bubble, text), origin="agent", model=model, **fields)
    else:
        into.problems.add(f"unknown bubble type {kind!r}", fields["id"] or "bubble", "note")


def _answer(bubble: Record, text: str) -> list[Part]:
    parts: list[Part] = []
    thought = text_of(dict_of(bubble.get("thinking")).get("text"))
    if thought.strip():
        parts.append(Reasoning(thought))
    if text.strip():
        parts.append(Text(text))
    former = dict_of(bubble.get("toolFormerData"))
    if former.get("name"):
        parts.append(_call(former))
    items = [value_of(one) if isinstance(one, str) else one for one in list_of(bubble.get("todos"))]
    todos = tuple(
        Todo(text_of(one.get("content")), status_of(one.get("status")), text_of(one.get("id")))
        for one in records_of(items)
        if text_of(one.get("content"))
    )
    if todos:
        parts.append(ToolCall("todos", "todo", todos=todos))
    return parts


def _call(former: Record) -> ToolCall:
    arguments = value_of(former.get("rawArgs"))
    arguments = arguments if isinstance(arguments, dict) else value_of(former.get("params"))
    number = text_of(former.get("toolCallId"))
    call = make_call(text_of(former.get("name")), arguments, id=number, table=TABLE)
    if call.category == "todo":
        call.todos_whole = call.input.get("merge") is not True
    status = text_of(former.get("status"))
    result = value_of(former.get("result"))
    if status in ("completed", "error", "cancelled") or result is not None:
        output, code = _output(result, text_of(former.get("result")))
        failed = status in ("error", "cancelled")
        close_call(call, output, failed=failed, exit_code=code)
    if text_of(former.get("userDecision")) == "rejected":
        call.refused = call.failed = True
    if call.failed:
        call.changes = ()
    return call


def _output(result: Any, raw: str) -> tuple[str, int | None]:
    if not isinstance(result, dict):
        return (result if isinstance(result, str) else raw), None
    code = result.get("exitCodeV2", result.get("exitCode"))
    for key in ("output", "contents", "content", "result", "stdout", "rejected", "error"):
        if isinstance(result.get(key), str):
            return result[key], code if isinstance(code, int) else None
    return raw, code if isinstance(code, int) else None
