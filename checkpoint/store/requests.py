"""Requests: what a sandboxed agent wants saved, as files that the next hook carries out.

A sandbox keeps `.git` read-only but lets the work tree be written. So the request lies there, in
`.checkpoint/requests/`; that folder ignores itself, so `git status` does not show it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkpoint.errors import StoreError

FOLDER = ".checkpoint"
LARGEST_BYTES = 65_536
MOST = 20
"""More requests than these are left for the next time."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was found: its values are foreign."""

    path: Path
    agent: str
    session: str
    """"" is the newest session of the repository."""
    subject: str
    at: float
    """Seconds since the epoch."""
    notes: list[dict[str, str]] = field(default_factory=list)
    """What `checkpoint note` was told: `action`, `text`, `kind`, `by`, each a text."""


def _top(directory: Path) -> Path:
    """Return the top of the work tree around a directory, or the directory itself."""
    real = Path(os.path.realpath(directory))
    return next((one for one in (real, *real.parents) if (one / ".git").exists()), real)


def write(
    directory: Path,
    *,
    agent: str,
    session: str,
    subject: str = "",
    notes: Sequence[Mapping[str, str]] = (),
) -> Path:
    """Write a request and return its file.

    Raises:
        StoreError: not even the work tree can be written.
    """
    top = _top(directory)
    folder = top / FOLDER / "requests"
    at = time.time()
    asked: dict[str, Any] = {
        "version": 1,
        "agent": agent,
        "session": session,
        "subject": subject,
        "at": at,
        "notes": [dict(one) for one in notes],
    }
    path = folder / f"{int(at * 1e6):017d}-{os.getpid()}.json"
    hidden = path.with_name(f".{path.name}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = top / FOLDER / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        hidden.write_text(json.dumps(asked), encoding="utf-8")
        hidden.replace(path)
    except OSError as error:
        raise StoreError(
            f"{folder}: neither the repository nor this folder can be written ({error.strerror}); "
            "let the sandbox write the .git folder (Codex: sandbox_workspace_write.writable_roots)"
        ) from error
    return path


def waiting(directory: Path) -> Iterator[Request]:
    """Yield the requests of a work tree, oldest first; what is none is left alone."""
    folder = _top(directory) / FOLDER / "requests"
    try:
        names = sorted(one.name for one in folder.iterdir() if one.suffix == ".json")
    except OSError:
        return
    for name in [one for one in names if not one.startswith(".")][:MOST]:
        request = _read(folder / name)
        if request is not None:
            yield request


def _read(path: Path) -> Request | None:
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST_BYTES:
            return None
        given = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        if not isinstance(given, dict) or given.get("version") != 1:
            return None
        words = {key: str(given.get(key) or "")[:500] for key in ("agent", "session", "subject")}
        return Request(path, **words, at=float(given.get("at") or 0.0), notes=_notes(given))
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        return None


def _notes(given: dict[str, Any]) -> list[dict[str, str]]:
    notes = given.get("notes")
    names = ("action", "text", "kind", "by")
    return [
        {name: str(one.get(name) or "")[:4_000] for name in names}
        for one in (notes if isinstance(notes, list) else [])[:50]
        if isinstance(one, dict)
    ]
