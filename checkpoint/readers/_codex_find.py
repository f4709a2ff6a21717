"""Codex: where its sessions lie, and what can be learned of one without reading it whole.

The first line tells id and directory; it can be very long, but what is wanted stands at its start.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from checkpoint.model import Text
from checkpoint.readers._base import Found
from checkpoint.readers._codex_origin import user_parts
from checkpoint.readers._listing import remembered
from checkpoint.readers._peek import changed, end_of, last_time, objects, start_of
from checkpoint.readers._whole import at_of, dict_of, records_of, text_of

_HEAD_BYTES = 8192
_FIRST_WORDS_BYTES = 262_144
_STRING = rb'\s*:\s*("(?:[^"\\]|\\.)*")'
_SUBAGENT = re.compile(rb'"source"\s*:\s*\{\s*"subagent"')
_TYPED = re.compile(rb'"type"\s*:\s*"(?:user_message|UserMessage)"')


def session_folders() -> list[Path]:
    """Return the folders that hold rollouts, those of `CODEX_HOME` first."""
    given = os.environ.get("CODEX_HOME")
    homes = [*([Path(given).expanduser()] if given else []), Path.home() / ".codex"]
    return [
        home / name for home in dict.fromkeys(homes) for name in ("sessions", "archived_sessions")
    ]


def find_sessions(agent: str, roots: list[Path]) -> Iterator[Found]:
    """Yield the sessions under `roots`; of one that is archived as well, the longer file."""
    titles: dict[str, str] = {}
    for home in dict.fromkeys(root.parent for root in roots):
        titles |= _names(home / "session_index.jsonl")
    best: dict[str, Path] = {}
    for root in roots:
        for path in _files(root):
            known = best.get(path.name)
            if known is None or _size(path) > _size(known):
                best[path.name] = path
    for path in best.values():
        for found in remembered(agent, path, partial(_one, agent, path)):
            title = titles.get(found.session)
            yield replace(found, title=title) if title else found


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name.startswith("rollout-") and name.endswith((".jsonl", ".json", ".zst", ".gz")):
                yield Path(folder, name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _names(index: Path) -> dict[str, str]:
    records = objects(start_of(index, 8 << 20))
    return {text_of(one.get("id")): text_of(one.get("thread_name")) for one in records}


def _text(raw: bytes, key: str) -> str:
    match = re.search(b'"' + key.encode() + b'"' + _STRING, raw)
    if not match:
        return ""
    try:
        return str(json.loads(match.group(1).decode("utf-8", "replace")))
    except ValueError:
        return ""


def _one(agent: str, path: Path) -> Iterator[Found]:
    yield _found(agent, path)


def _found(agent: str, path: Path) -> Found:
    raw = start_of(path, _FIRST_WORDS_BYTES)
    line, _feed, rest = raw.partition(b"\n")
    head = line[:_HEAD_BYTES]
    directory = _text(head, "cwd") or _text(raw if not rest else line, "cwd")
    session = _text(head, "id") or path.name.partition(".")[0][-36:]
    started = at_of(_text(head.partition(b'"payload"')[2], "timestamp") or _text(head, "timestamp"))
    tail = objects(end_of(path))
    last = last_time(tail) or started
    child = bool(_SUBAGENT.search(head))
    typed, words = _first_words(raw)
    return Found(
        agent=agent,
        path=path,
        session=session,
        directory=directory or _environment(raw),
        title=words,
        started=started.timestamp() if started else 0.0,
        updated=last.timestamp() if last else changed(path),
        parent=_text(head, "forked_from_id") or (_text(head, "parent_thread_id") if child else ""),
        subagent=child,
        empty=not typed and len(raw) < _FIRST_WORDS_BYTES and not _has_words(raw),
        branch=_text(line, "branch"),
        project=_text(line, "commit_hash"),
    )


def _first_words(raw: bytes) -> tuple[bool, str]:
    """Return whether somebody typed something, and the first line of it."""
    match = _TYPED.search(raw)
    if match:
        start = raw.rfind(b"\n", 0, match.start()) + 1
        end = raw.find(b"\n", match.end())
        for record in objects(raw[start : end if end >= 0 else len(raw)]):
            payload = dict_of(record.get("payload"))
            words = text_of(payload.get("message"))
            for block in records_of(dict_of(payload.get("item")).get("content")):
                words = words or text_of(block.get("text"))
            return True, _own_line(words) or words.strip().split("\n")[0][:200]
    for record in objects(raw)[:40]:  # the oldest form has no events
        item = dict_of(record.get("payload")) or record
        said = item.get("type") == "message" and item.get("role") == "user"
        if said and (own := _own_line(item.get("content"))):
            return True, own
    return False, ""


def _own_line(content: Any) -> str:
    """Return the first line of what a person says in a message."""
    for part in user_parts(content):
        if isinstance(part, Text) and not part.injected:
            return part.text.strip().split("\n")[0][:200]
    return ""


def _has_words(raw: bytes) -> bool:
    return b'"output_text"' in raw or b'"input_text"' in raw


def _environment(raw: bytes) -> str:
    """Return the directory that the environment block of an old session names."""
    text = raw.decode("utf-8", "replace")
    _before, found, rest = text.partition("<environment_context>")
    return rest.partition("<cwd>")[2].partition("</cwd>")[0].strip()[:4096] if found else ""
