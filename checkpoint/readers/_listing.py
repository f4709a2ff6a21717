"""What was learned of session files before, so that listing thousands of them is quick.

A file that has still the size and the time of its last change (and so its `-wal`) is not opened
again. It is a cache: lost, broken or not writable, all is looked up anew. Titles are kept masked.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from checkpoint.readers._base import Found

VERSION = 1
"""Goes up when what readers learn of a file changes."""

MOST = 100_000
"""More files than that are not remembered."""

Stamp = tuple[int, int, int, int]


class _Kept(msgspec.Struct, array_like=True):
    session: str
    directory: str
    title: str
    started: float
    updated: float
    messages: int | None
    parent: str
    subagent: bool
    empty: bool
    branch: str
    project: str


class _File(msgspec.Struct, array_like=True):
    stamp: Stamp
    found: list[_Kept]


class _Cache(msgspec.Struct):
    version: int
    files: dict[str, _File]


def _nothing(text: str) -> str:
    return text


class Listing:
    """The remembered files; `find` of the readers asks it while it is in use."""

    def __init__(self, store: Path | None, mask: Callable[[str], str] = _nothing) -> None:
        """Load what is remembered.

        Args:
            store: the cache file; None remembers nothing.
            mask: takes secrets out of a title before it is given out and kept.
        """
        self._store = store
        self._mask = mask
        self._files = _loaded(store)
        self._new = False

    def found(self, agent: str, path: Path, look: Callable[[], Iterable[Found]]) -> list[Found]:
        """Return the sessions of a file: remembered ones, or those that `look` finds now."""
        stamp = _stamp(path)
        key = f"{agent}\n{path}"
        known = self._files.get(key)
        if known is not None and known.stamp == stamp:
            return [_given(agent, path, one) for one in known.found]
        fresh = [replace(one, title=self._mask(one.title)) for one in look()]
        if stamp is not None and all(one.path == path for one in fresh):
            self._files[key] = _File(stamp, [_kept(one) for one in fresh])
            self._new = True
        return fresh

    def save(self) -> None:
        """Write what was learned, for its owner only; not being able to is no error."""
        if self._store is None or not self._new or len(self._files) > MOST:
            return
        raw = msgspec.msgpack.encode(_Cache(VERSION, self._files))
        with contextlib.suppress(OSError):
            self._store.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._store.parent, prefix=".sessions-")
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
            Path(name).replace(self._store)


def _loaded(store: Path | None) -> dict[str, _File]:
    if store is None:
        return {}
    try:
        cache = msgspec.msgpack.decode(store.read_bytes(), type=_Cache)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return cache.files if cache.version == VERSION else {}


def _stamp(path: Path) -> Stamp | None:
    try:
        own = path.stat()
    except OSError:
        return None
    try:
        log = path.with_name(path.name + "-wal").stat() if path.suffix == ".db" else None
    except OSError:
        log = None
    beside = (log.st_size, log.st_mtime_ns) if log else (0, 0)
    return (own.st_size, own.st_mtime_ns, *beside)


def _kept(one: Found) -> _Kept:
    return _Kept(
        one.session, one.directory, one.title, one.started, one.updated, one.messages, one.parent,
        one.subagent, one.empty, one.branch, one.project,
    )  # fmt: skip


def _given(agent: str, path: Path, one: _Kept) -> Found:
    return Found(agent, path, *(getattr(one, name) for name in _Kept.__struct_fields__))


_in_use: list[Listing] = []


@contextlib.contextmanager
def used(listing: Listing) -> Iterator[None]:
    """Let the readers ask this listing, and save it in the end."""
    _in_use.append(listing)
    try:
        yield
    finally:
        _in_use.remove(listing)
        listing.save()


def remembered(agent: str, path: Path, look: Callable[[], Iterable[Found]]) -> list[Found]:
    """Return the sessions of a file, from the listing in use if there is one."""
    return _in_use[-1].found(agent, path, look) if _in_use else list(look())
