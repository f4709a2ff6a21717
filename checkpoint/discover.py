"""Which sessions belong to a directory, newest first, and why.

What counts is the directory that the session itself recorded, not the folder or the time of its
file: the same directory, one below or above it within the repository, or a work tree of the same
repository. Subagents' and empty sessions are folded away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.readers import Found, by_name, readers

TIE_S = 2.0
"""Sessions whose last messages are no further apart are a tie (seconds)."""


@dataclass(frozen=True)
class Listed:
    """A session of this machine, and why it is listed."""

    agent: str
    path: Path
    session: str
    directory: str = ""
    title: str = ""
    started: float = 0.0
    updated: float = 0.0
    """Seconds since the epoch of the last message."""
    messages: int | None = None
    parent: str = ""
    branch: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Choice:
    """The session that was chosen."""

    found: Listed
    reason: str
    """For a person: which, of how many, and what speaks against it."""
    ties: tuple[Listed, ...] = ()


def sessions(directory: Path | None, agents: Sequence[str] | str | None = None) -> list[Listed]:
    """Return sessions, newest first; of `directory` only, if one is given.

    Args:
        directory: whose sessions; None is all of this machine.
        agents: names of readers; None is all.

    Raises:
        ReadError: no reader has such a name.
    """
    names = [agents] if isinstance(agents, str) else list(agents or readers())
    listed: dict[tuple[str, str], Listed] = {}
    for name in names:
        for found in _found(name, directory):
            if found.subagent or found.empty:
                continue
            why = relation(found.directory, directory) if directory is not None else "all"
            if not why:
                continue
            one = _listed(found, why)
            known = listed.get((one.agent, one.session))
            if known is None or one.updated > known.updated:
                listed[one.agent, one.session] = one
    return sorted(listed.values(), key=lambda one: (-one.updated, one.agent, one.session))


def _found(name: str, directory: Path | None) -> Iterator[Found]:
    """Yield what a reader finds; a store that cannot be read ends it, as there is none."""
    try:
        yield from by_name(name).find(directory)
    except OSError:
        return


def _listed(found: Found, why: str) -> Listed:
    return Listed(
        found.agent,
        found.path,
        found.session,
        found.directory,
        found.title,
        found.started,
        found.updated,
        found.messages,
        found.parent,
        found.branch,
        why,
    )


@lru_cache(maxsize=4096)
def _real(directory: str) -> str:
    return os.path.realpath(directory)


@lru_cache(maxsize=4096)
def repository(directory: str) -> tuple[str, str]:
    """Return (top of the work tree, git directory that its work trees share), "" outside one."""
    at = _real(directory)
    while True:
        dot = os.path.join(at, ".git")
        if os.path.isdir(dot):
            return at, _real(dot)
        if os.path.isfile(dot):
            return at, _shared(dot)
        parent = os.path.dirname(at)
        if parent == at:
            return "", ""
        at = parent


def _shared(dot: str) -> str:
    """Return the common git directory that a linked work tree's `.git` file leads to."""
    try:
        line = Path(dot).read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        own = _real(os.path.join(os.path.dirname(dot), line.removeprefix("gitdir:").strip()))
        common = os.path.join(own, "commondir")
        if os.path.isfile(common):
            inner = Path(common).read_text(encoding="utf-8", errors="replace").strip()
            return _real(os.path.join(own, inner))
        return own
    except OSError:
        return ""


def relation(recorded: str, directory: Path) -> str:
    """Return why a session of the directory `recorded` belongs to `directory`; "" if it does not."""
    if not recorded:
        return ""
    here, there = _real(str(directory)), _real(recorded)
    if here == there:
        return "recorded in this directory"
    top, common = repository(here)
    if _inside(there, here) and there != os.sep:
        return "recorded below this directory"
    if top and _inside(there, top):
        return "recorded in this work tree"
    if common and os.path.isdir(there) and repository(there)[1] == common:
        return "recorded in another work tree of this repository"
    return ""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


_RANK = {
    "recorded in this directory": 0,
    "recorded in this work tree": 0,
    "recorded below this directory": 0,
    "recorded in another work tree of this repository": 1,
}


def choose(directory: Path, agents: Sequence[str] | str | None = None) -> Choice:
    """Return the newest session of a directory; this work tree's come before other ones'.

    Raises:
        ReadError: there is none; the message says where it was looked.
    """
    listed = sessions(directory, agents)
    if not listed:
        names = [agents] if isinstance(agents, str) else list(agents or readers())
        raise ReadError(
            f"{directory}: no session of {', '.join(names) if len(names) < 4 else 'any agent'} "
            "was recorded here; `checkpoint sessions --all` lists those of other directories, "
            "`checkpoint save FILE` takes a file"
        )
    best = min(listed, key=lambda one: (_RANK.get(one.reason, 2), -one.updated))
    ties = tuple(
        one
        for one in listed
        if one is not best
        and _RANK.get(one.reason, 2) == _RANK.get(best.reason, 2)
        and best.updated - one.updated <= TIE_S
    )
    reason = f"{best.agent} session {best.session}: the newest {best.reason}"
    if len(listed) > 1:
        reason += f" (of {len(listed)})"
    if ties:
        reason += "; as new is " + ", ".join(f"{one.agent} {one.session}" for one in ties)
    newer = [one for one in listed if one.updated > best.updated + TIE_S]
    if newer:
        reason += f"; newer, but {newer[0].reason}: {newer[0].agent} {newer[0].session}"
    return Choice(best, reason, ties)


def refresh() -> None:
    """Forget what was learned of directories (they change while a program runs on)."""
    _real.cache_clear()
    repository.cache_clear()


__all__ = ["Choice", "Listed", "choose", "refresh", "relation", "repository", "sessions"]
