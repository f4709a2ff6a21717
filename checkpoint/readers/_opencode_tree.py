"""opencode's storage trees: a JSON file a session, a message, a part (releases to 1.1).

Two layouts: `storage/session/<project>/<ses>.json`, `storage/message/<ses>/<msg>.json`,
`storage/part/<msg>/<prt>.json`; and the oldest, a tree a project, with `info`, `message` and `part`
below `storage/session`, parts below `part/<ses>/<msg>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._listing import remembered
from checkpoint.readers._opencode_records import Said, said_of
from checkpoint.readers._whole import Record, at_of, decode, dict_of, text_of

Messages = list[Said]

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_UP = 5
"""A session's file lies so many folders below `storage` at most."""


def storages(path: Path) -> list[Path]:
    """Return the `storage` folders that `path` is, holds, or lies in; the newer layout first."""
    below = [path, path / "storage", *sorted(path.glob("project/*/storage"))]
    around = list(path.parents)[:_UP]
    found = [one for one in dict.fromkeys([*below, *sorted(path.glob("*/storage"))]) if _is(one)]
    return found or [one for one in around if _is(one)][:1]


def _is(folder: Path) -> bool:
    sessions = folder / "session"
    return sessions.is_dir() and ((folder / "message").is_dir() or _is_old(folder))


def _is_old(storage: Path) -> bool:
    return (storage / "session" / "message").is_dir()


def is_tree(path: Path) -> bool:
    """Whether a directory is, or holds, such a tree with at least one session."""
    return any(next(_sessions(storage), None) is not None for storage in storages(path))


def is_session_file(head: Head) -> bool:
    """Whether the file is one session's own file inside a tree."""
    path = head.path
    named = path.name.startswith("ses_") and path.suffix == ".json"
    return named and b'"ses_' in head.start[:4_096] and path in _all(storages(path.parent))


def _sessions(storage: Path) -> Iterator[Path]:
    yield from storage.glob("session/*/ses_*.json")


def _all(found: list[Path]) -> set[Path]:
    return {path for storage in found for path in _sessions(storage)}


def _json(path: Path, problems: Problems) -> Record:
    try:
        raw = path.read_bytes()
    except OSError:
        problems.add("a file of the store cannot be read", path.name)
        return {}
    if not raw.strip(b"\x00 \t\r\n"):
        problems.add("a file of the store is empty", path.name, "note")
        return {}
    return dict_of(decode(raw, path.name, problems))


def load(path: Path, session: str, problems: Problems) -> tuple[Record, Messages]:
    """Return a session's own record, and its messages with their parts.

    Raises:
        ReadError: the tree holds no such session.
    """
    if path.is_file():
        session = session or path.stem
    files = {
        one.stem: (one, storage)
        for storage in reversed(storages(path if path.is_dir() else path.parent))
        for one in _sessions(storage)
    }
    session = session or _newest({name: one for name, (one, _) in files.items()}, problems)
    if session not in files:
        raise ReadError(f"{path}: it holds no session {session!r}; `checkpoint sessions --all`")
    file, storage = files[session]
    about = _json(file, problems)
    about.setdefault("id", session)
    old = _is_old(storage)
    base = storage / "session" if old else storage
    messages: Messages = []
    for one in sorted((base / "message" / session).glob("msg_*.json")):
        info = _json(one, problems)
        if not info:
            continue
        info.setdefault("id", one.stem)
        folder = base / "part" / session / one.stem if old else base / "part" / one.stem
        parts = [_json(part, problems) for part in sorted(folder.glob("prt_*.json"))]
        messages.append(said_of(info, [part for part in parts if part]))
    return about, messages


def _newest(files: dict[str, Path], problems: Problems) -> str:
    """Return the session that changed last; subagents' only if there are no others."""
    abouts = [(name, _json(path, problems)) for name, path in sorted(files.items())]
    mains = [pair for pair in abouts if not pair[1].get("parentID")] or abouts
    return max(mains, key=lambda pair: _time(pair[1], "updated"))[0] if mains else ""


def _time(record: Record, key: str) -> float:
    at = at_of(dict_of(record.get("time")).get(key))
    return at.timestamp() if at else 0.0


def commit_of(project: object) -> str:
    """Return the first commit that names a project; "" for one outside a repository."""
    return project if isinstance(project, str) and _COMMIT.fullmatch(project) else ""


def find(storage: Path, agent: str) -> Iterator[Found]:
    """Yield the sessions of a tree."""
    base = storage / "session" if _is_old(storage) else storage
    for path in _sessions(storage):
        yield from remembered(agent, path, partial(_found, base, path, agent))


def _found(base: Path, path: Path, agent: str) -> Iterator[Found]:
    quiet = Problems()
    if about := _json(path, quiet):
        messages = sorted((base / "message" / path.stem).glob("msg_*.json"))
        # The last by id need not be the last by time.
        last = max((_time(_json(one, quiet), "created") for one in messages[-4:]), default=0.0)
        parent = text_of(about.get("parentID"))
        directory = text_of(about.get("directory"))
        if not directory:  # the oldest layout tells it in the messages only
            first = [_json(one, quiet) for one in messages[:4]]
            places = [dict_of(one.get("path")) for one in first]
            directory = next((text_of(one["cwd"]) for one in places if one.get("cwd")), "")
        yield Found(
            agent=agent,
            path=path,
            session=path.stem,
            directory=directory,
            title=text_of(about.get("title")),
            started=_time(about, "created"),
            updated=last or _time(about, "updated"),
            messages=len(messages),
            parent=parent,
            subagent=bool(parent),
            empty=not messages,
            project=commit_of(about.get("projectID")),
        )
