"""opencode's storage trees: a JSON file a session, a message, a part (releases to 1.1).

Two layouts: `storage/session/<project>/<ses>.json`, `storage/message/<ses>/<msg>.json`,
`storage/part/<msg>/<prt>.json`; and the oldest, with `info`, `message` and `part` below
`storage/session`, parts below `part/<ses>/<msg>`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._whole import Record, at_of, dict_of, text_of


def storage_of(path: Path) -> Path | None:
    """Return the `storage` folder that `path` is, holds, or lies in; None if there is none."""
    candidates = [path, path / "storage", *path.glob("project/*/storage"), *path.glob("*/storage")]
    candidates += list(path.parents)[:5]
    for one in candidates:
        if (one / "session").is_dir() and (
            (one / "message").is_dir() or (one / "session" / "message").is_dir()
        ):
            return one
    return None


def is_tree(path: Path) -> bool:
    """Whether a directory is, or holds, such a tree with at least one session."""
    storage = storage_of(path) if path.is_dir() else None
    return storage is not None and next(_sessions(storage), None) is not None


def is_session_file(head: Head) -> bool:
    """Whether the file is one session's own file inside a tree."""
    return (
        head.path.name.startswith("ses_")
        and b'"ses_' in head.start[:400]
        and (storage_of(head.path.parent) is not None)
    )


def _sessions(storage: Path) -> Iterator[Path]:
    yield from storage.glob("session/*/ses_*.json")


def _json(path: Path, problems: Problems) -> Record:
    try:
        raw = path.read_bytes()
        if not raw.strip(b"\x00 \t\r\n"):
            problems.add("a file of the store is empty", path.name, "note")
            return {}
        return dict_of(json.loads(raw.decode("utf-8", "replace")))
    except (OSError, ValueError, RecursionError):
        problems.add("a file of the store is broken", path.name)
        return {}


def load(
    path: Path, session: str, problems: Problems
) -> tuple[Record, list[tuple[Record, list[Record]]]]:
    """Return a session's own record, and its messages with their parts.

    Raises:
        ReadError: the tree holds no such session.
    """
    if path.is_file():
        session = session or path.stem
    storage = storage_of(path if path.is_dir() else path.parent)
    if storage is None:
        raise ReadError(f"{path}: no storage folder of opencode lies here")
    files = {one.stem: one for one in _sessions(storage)}
    if not session:
        abouts = [(name, _json(one, problems)) for name, one in sorted(files.items())]
        mains = [pair for pair in abouts if not pair[1].get("parentID")] or abouts
        session = max(mains, key=lambda pair: (_updated(pair[1]), pair[0]))[0] if mains else ""
    if session not in files:
        raise ReadError(f"{path}: it holds no session {session!r}")
    about = _json(files[session], problems)
    about.setdefault("id", session)
    old = (storage / "session" / "message").is_dir()
    base = storage / "session" if old else storage
    messages = []
    for one in sorted((base / "message" / session).glob("msg_*.json")):
        info = _json(one, problems)
        if not info:
            continue
        info.setdefault("id", one.stem)
        folder = base / "part" / session / one.stem if old else base / "part" / one.stem
        parts = [_json(part, problems) for part in sorted(folder.glob("prt_*.json"))]
        messages.append((info, [part for part in parts if part]))
    return about, messages


def _updated(about: Record) -> float:
    value = dict_of(about.get("time")).get("updated")
    return float(value) if isinstance(value, int | float) else 0.0


def find(storage: Path, agent: str) -> Iterator[Found]:
    """Yield the sessions of a tree."""
    quiet = Problems()
    for path in _sessions(storage):
        about = _json(path, quiet)
        times = dict_of(about.get("time"))
        made, last = at_of(times.get("created")), at_of(times.get("updated"))
        parent = text_of(about.get("parentID"))
        yield Found(
            agent, path, path.stem, text_of(about.get("directory")), text_of(about.get("title")),
            made.timestamp() if made else 0.0, last.timestamp() if last else 0.0, None, parent,
            bool(parent),
        )  # fmt: skip
