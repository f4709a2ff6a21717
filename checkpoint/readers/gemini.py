"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json` and, newer, `.jsonl`.

The old form is one JSON object; the newer one is lines: a header, messages to be put in place of
the earlier one of the same id, `$set` with new header fields or messages, `$rewindTo`. Messages
that a rewind took back are left out; those that a compression left out are kept, since the model
worked with them. The output of `--output-format stream-json` is read too, and so are Qwen Code's
files from before it had a form of its own (`~/.qwen/tmp`).

Not in the format: the branch and, before the context message of newer versions, the directory,
which is only taken if its digest is the session's project hash; exit codes of successful commands.

Source: packages/core/src/services/chatRecordingService.ts of google-gemini/gemini-cli.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Compaction, Message, Part, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._calls import make_call
from checkpoint.readers._google import (
    SNAPSHOT,
    TABLE,
    give_result,
    model_text,
    person_parts,
    response_text,
    thoughts,
)
from checkpoint.readers._listing import remembered
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    list_of,
    load_json,
    load_lines,
    records_of,
    text_of,
)

_PROGRAM = frozenset({"info", "error", "warning"})
_STREAM = frozenset({"init", "message", "tool_use", "tool_result", "result", "error"})


class Gemini(WholeReader):
    """Reads what Gemini CLI stores of a session."""

    name = "gemini"
    title = "Gemini CLI"

    def identify(self, head: Head) -> bool:
        if head.is_dir:
            return False
        if head.records and {"sessionId", "projectHash"} <= head.records[0].keys():
            return "messages" in head.records[0] or "startTime" in head.records[0]
        if head.records and _is_stream(head.records[0]):
            return True
        return head.start.lstrip()[:1] == b"{" and all(
            head.has_key(key) for key in ("sessionId", "projectHash", "startTime", "messages")
        )

    def build(self, path: Path, session: str, into: Assembler) -> None:
        header, messages = _load(path, into.problems)
        if header.get("type") == "init":
            _stream(header, messages, into)
            return
        head = into.head
        head.id = text_of(header.get("sessionId"))
        head.title = text_of(header.get("summary"))
        head.started = at_of(header.get("startTime"))
        head.cwd = _directory(text_of(header.get("projectHash")), header, messages, path)
        subagent = head.id if header.get("kind") == "subagent" else ""
        for record in messages:
            _message(record, into, subagent)

    def roots(self) -> list[Path]:
        home = os.environ.get("GEMINI_CLI_HOME")
        homes = [Path(home)] if home else []
        return [one / ".gemini" / "tmp" for one in (*homes, Path.home())]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            known = _projects(root.parent)
            for path in sorted(root.glob("*/chats/**/*.json*")):
                found = _found(self.name, path, known, directory)
                if found:
                    yield found


def _load(path: Path, problems: Problems) -> tuple[Record, list[Record]]:
    """Return the header and the messages, in order, after all upserts and rewinds."""
    lines = list(load_lines(path, Problems()))
    first = lines[0][1] if lines else {}
    if _is_stream(first):
        return first, [record for _where, record in load_lines(path, problems)][1:]
    if "sessionId" not in first or ("messages" in first and len(lines) == 1):
        whole = dict_of(load_json(path, problems))
        return whole, records_of(whole.get("messages"))
    header: Record = {}
    messages: dict[str, Record] = {}
    for where, record in load_lines(path, problems):
        _apply(record, header, messages, problems, where)
    return header, list(messages.values())


def _is_stream(record: Record) -> bool:
    return record.get("type") == "init" and "session_id" in record and "model" in record


def _apply(
    record: Record, header: Record, messages: dict[str, Record], problems: Problems, where: str
) -> None:
    if isinstance(record.get("$rewindTo"), str):
        _rewind(messages, record["$rewindTo"])
    elif isinstance(record.get("id"), str) and "type" in record:
        _put(messages, record)
    elif isinstance(record.get("$set"), dict):
        fields = dict(record["$set"])
        for one in records_of(fields.pop("messages", None)):
            _put(messages, one)
        header.update(fields)
    elif "sessionId" in record:
        header.update(record)
        for one in records_of(header.pop("messages", None)):
            _put(messages, one)
    else:
        problems.add("unknown record", where, "note")


def _put(messages: dict[str, Record], record: Record) -> None:
    """Add a message, or lay it over the earlier one of its id, which keeps its tool calls."""
    name = str(record.get("id", f"#{len(messages)}"))
    messages[name] = messages.get(name, {}) | record


def _rewind(messages: dict[str, Record], to: str) -> None:
    names = list(messages)
    for name in names[names.index(to) if to in messages else 0 :]:
        del messages[name]


def _message(record: Record, into: Assembler, subagent: str) -> None:
    kind = text_of(record.get("type"))
    fields: dict[str, Any] = {
        "id": text_of(record.get("id")),
        "at": at_of(record.get("timestamp")),
        "cwd": into.head.cwd,
        "subagent": subagent,
    }
    content = record.get("content")
    if kind == "user":
        _user(content, into, fields)
    elif kind == "gemini":
        model = text_of(record.get("model"))
        into.head.model = model or into.head.model
        parts = thoughts(record.get("thoughts")) + model_text(content)
        calls = records_of(record.get("toolCalls"))
        parts.extend(_call(one) for one in calls)
        if not calls:
            parts.extend(_bare_calls(content))
        into.message("assistant", parts, origin="agent", model=model, **fields)
    elif kind in _PROGRAM:
        into.message("system", _notice(content), origin="injected", **fields)
    else:
        into.problems.add(f"unknown message type {kind!r}", fields["id"] or "message", "note")


def _user(content: Any, into: Assembler, fields: dict[str, Any]) -> None:
    for part in list_of(content):
        answer = dict_of(part).get("functionResponse")
        if isinstance(answer, dict):
            call = into.call(text_of(answer.get("id")))
            if call:
                text, failed = response_text(part)
                give_result(call, text, failed, "")
                into.close(call.id)
    parts = person_parts(content)
    if not parts and list_of(content) and any("functionResponse" in dict_of(p) for p in content):
        return
    said = "".join(p.text for p in parts if isinstance(p, Text))
    if SNAPSHOT in said:
        into.message("user", [Compaction(), *parts], origin="summary", **fields)
        return
    own = not parts or any(not (isinstance(p, Text) and p.injected) for p in parts)
    into.message("user", parts, origin="person" if own else "injected", **fields)


_COMPRESSED = re.compile(r"compressed from:? ([\d,]+)|chat history compressed", re.IGNORECASE)


def _notice(content: Any) -> list[Part]:
    """Return the program's own words; those that announce a compression are one."""
    words = " ".join(p.text for p in model_text(content) if isinstance(p, Text))
    parts: list[Part] = [Text(words, injected=True)] if words else []
    match = _COMPRESSED.search(words)
    if match:
        tokens = (match.group(1) or "").replace(",", "")
        auto = "exceeded" in words
        before = int(tokens) if tokens else None
        parts.insert(0, Compaction("auto" if auto else "manual", before))
    return parts


def _call(record: Record) -> ToolCall:
    call = make_call(
        text_of(record.get("name")), record.get("args"), id=text_of(record.get("id")), table=TABLE
    )
    shown = record.get("description")
    place = re.search(r"\[(?:current working directory|in) ([^\]]+)\]", text_of(shown))
    if call.category == "shell" and place:
        call.cwd = place.group(1)
    status = text_of(record.get("status"))
    output, failed = response_text(record.get("result"))
    if output or status in ("success", "error", "cancelled"):
        give_result(call, output or text_of(record.get("resultDisplay")), failed, status)
    display = dict_of(record.get("resultDisplay"))
    if call.category == "question" and not failed:
        call.person = output
    if display.get("isNewFile") is True or (
        "originalContent" in display and display["originalContent"] is None
    ):
        for change in call.changes:
            change.action = "created"
    return call


def _bare_calls(content: Any) -> list[ToolCall]:
    """Return calls that stand in the content only, as in histories that were set as a whole."""
    found = []
    for part in list_of(content):
        asked = dict_of(dict_of(part).get("functionCall"))
        if asked:
            name, number = text_of(asked.get("name")), text_of(asked.get("id"))
            found.append(make_call(name, asked.get("args"), id=number, table=TABLE))
    return found


_WORKSPACE = re.compile(
    r"(?:Workspace Directories:\*\*\s*\n\s*- |working in the directory: |Listing directory |"
    r"Directory listing for |current working directory )([^\n\]:]+)"
)


def _directory(digest: str, header: Record, messages: list[Record], path: Path) -> str:
    """Return the project's directory: the first candidate whose digest is the project hash.

    Without any that fits, the one that the session's own context message names.
    """
    named = _marker(path)
    candidates = [named] if named else []
    candidates += [one for one in list_of(header.get("directories")) if isinstance(one, str)]
    stated = ""
    for record in messages[:60]:
        text = str(record.get("content")) + str(record.get("toolCalls"))
        for match in _WORKSPACE.finditer(text.replace("\\n", "\n")):
            candidates.append(match.group(1).strip())
            stated = stated or ("Workspace Directories" in match.group(0) and candidates[-1]) or ""
        candidates += re.findall(r"(/[\w.+@/-]{3,200})", text)[:200]
    for candidate in candidates:
        for place in (candidate, *map(str, Path(candidate).parents)):
            if hashlib.sha256(place.encode()).hexdigest() == digest:
                return place
    return named or stated


def _marker(path: Path) -> str:
    """Return the directory that newer versions note beside the chats."""
    try:
        return (path.parent.parent / ".project_root").read_text("utf-8").strip()
    except (OSError, UnicodeError):
        return ""


def _projects(home: Path) -> dict[str, str]:
    """Return the directories that `projects.json` maps to folder names, by folder name."""
    problems = Problems()
    listed = home / "projects.json"
    projects = dict_of(load_json(listed, problems)) if listed.is_file() else {}
    return {
        slug: place
        for place, slug in dict_of(projects.get("projects")).items()
        if isinstance(slug, str)
    }


def _found(agent: str, path: Path, known: dict[str, str], directory: Path | None) -> Found | None:
    folder = next((p.parent.name for p in path.parents if p.name == "chats"), "")
    place = known.get(folder, "") or _marker(path)
    if not place and directory:
        for one in (directory, *directory.parents):
            if hashlib.sha256(str(one).encode()).hexdigest() == folder:
                place = str(one)
    if directory and not place:
        return None
    found = next(iter(remembered(agent, path, lambda: _looked(agent, path))), None)
    return replace(found, directory=place) if found else None


def _looked(agent: str, path: Path) -> Iterator[Found]:
    """Yield the session of a file, if it is one; its directory stands elsewhere."""
    try:
        header, messages = _load(path, Problems())
        changed = path.stat().st_mtime
    except (OSError, ReadError):
        return
    if "sessionId" not in header:
        return
    spoken = [one for one in messages if one.get("type") in ("user", "gemini")]
    last = at_of(
        (messages[-1] if messages else header).get("timestamp") or header.get("lastUpdated")
    )
    started = at_of(header.get("startTime"))
    yield Found(
        agent, path, text_of(header.get("sessionId")), "", text_of(header.get("summary")),
        started.timestamp() if started else 0.0, last.timestamp() if last else changed,
        len(messages), "", header.get("kind") == "subagent", not spoken,
    )  # fmt: skip


def _stream(header: Record, records: list[Record], into: Assembler) -> None:
    """Put the lines of `--output-format stream-json` together."""
    into.head.id = text_of(header.get("session_id"))
    into.head.model = text_of(header.get("model"))
    into.head.started = at_of(header.get("timestamp"))
    for record in records:
        kind = text_of(record.get("type"))
        at = at_of(record.get("timestamp"))
        if kind == "message" and record.get("role") == "user":
            into.message("user", person_parts(record.get("content")), origin="person", at=at)
        elif kind == "message":
            _delta(record, into)
        elif kind == "tool_use":
            call = make_call(
                text_of(record.get("tool_name")), record.get("parameters"),
                id=text_of(record.get("tool_id")), table=TABLE,
            )  # fmt: skip
            into.message(
                "assistant", [call], origin="agent", join="turn", at=at, model=into.head.model
            )
        elif kind == "tool_result":
            open_call = into.call(text_of(record.get("tool_id")))
            if open_call:
                wrong = dict_of(record.get("error")).get("message")
                output = text_of(record.get("output")) or text_of(wrong)
                give_result(open_call, output, False, text_of(record.get("status")))
                into.close(open_call.id)
        elif kind not in _STREAM:
            into.problems.add(f"unknown record type {kind!r}", "stream", "note")


def _delta(record: Record, into: Assembler) -> None:
    text = text_of(record.get("content"))
    last: Message | None = into.last()
    if record.get("delta") and last and last.role == "assistant" and last.parts:
        tail = last.parts[-1]
        if isinstance(tail, Text):
            tail.text += text
            return
    at = at_of(record.get("timestamp"))
    into.message(
        "assistant", [Text(text)], origin="agent", join="turn", at=at, model=into.head.model
    )
