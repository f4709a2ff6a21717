"""Which sessions belong to a directory, newest first, and why.

What counts is the directory that the session itself recorded, not the folder or the time of its
file: the same directory, one below or above it within the repository, or a work tree of the same
repository. Subagents' and empty sessions are folded away. A session of a directory that is gone,
recorded in a repository with a commit of this one, may be of this repository before it was moved:
that is a doubt, which is shown and never chosen.

What was learned of a file is remembered in the user's cache folder until the file changes.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from checkpoint.errors import ReadError, SettingsError
from checkpoint.readers import Found, by_name, readers
from checkpoint.readers._listing import Listing, used
from checkpoint.redact import Redactor
from checkpoint.settings import load, read_yaml

TIE_S = 2.0
"""Sessions whose last messages are no further apart are a tie (seconds)."""

GIT_S = 5.0
"""How long git is waited for."""


@dataclass(frozen=True)
class Listed:
    """A session of this machine, and why it is listed."""

    agent: str
    path: Path
    session: str
    directory: str = ""
    title: str = ""
    """Without secrets."""
    started: float = 0.0
    updated: float = 0.0
    """Seconds since the epoch of the last message."""
    messages: int | None = None
    parent: str = ""
    branch: str = ""
    reason: str = ""
    subagents: int = 0
    """How many subagents' sessions are folded away under it."""


@dataclass(frozen=True)
class Choice:
    """The session that was chosen."""

    found: Listed
    reason: str
    """For a person: which, of how many, and what speaks against it."""
    ties: tuple[Listed, ...] = ()
    doubts: tuple[Listed, ...] = ()
    """Sessions that may belong here as well, each with what speaks for it."""


HERE, ABOVE, BELOW, BESIDE = (
    "recorded in this directory",
    "recorded in this work tree",
    "recorded below this directory",
    "recorded in another work tree of this repository",
)
_RANK = {HERE: 0, ABOVE: 0, BELOW: 0, BESIDE: 1}


def sessions(directory: Path | None, agents: Sequence[str] | str | None = None) -> list[Listed]:
    """Return sessions, newest first; of `directory` only, if one is given.

    Args:
        directory: whose sessions; None is all of this machine.
        agents: names of readers; None is all.

    Raises:
        ReadError: no reader has such a name.
    """
    return _sessions(_everything(directory, agents), directory)


def _sessions(everything: list[Found], directory: Path | None) -> list[Listed]:
    related = []
    for found in everything:
        why = relation(found.directory, directory) if directory is not None else "all"
        if why:
            related.append((found, why))
    return _folded(related)


def _everything(directory: Path | None, agents: Sequence[str] | str | None) -> list[Found]:
    """Return what the readers find, subagents' and empty sessions too."""
    refresh()
    names = [agents] if isinstance(agents, str) else list(agents or readers())
    chosen = [by_name(name) for name in names]
    with used(Listing(_cache(), _masked)):
        return [found for reader in chosen for found in _found(reader.name, directory)]


def _found(name: str, directory: Path | None) -> Iterator[Found]:
    """Yield what a reader finds; a store that cannot be read ends it, as there is none."""
    with suppress(OSError, ReadError):
        yield from by_name(name).find(directory)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "checkpoint" / "sessions.msgpack"


def _masked(title: str) -> str:
    return _redactor().text(title) if title else ""


@cache
def _redactor() -> Redactor:
    """Return the redactor; a user's rules that are not valid are said where a session is saved."""
    try:
        own = load().user_folder
        rules = own / "redact.yaml" if own else None
        return Redactor.shipped(read_yaml(rules) if rules and rules.is_file() else None)
    except SettingsError:
        return Redactor.shipped()


def _folded(related: list[tuple[Found, str]]) -> list[Listed]:
    """Return the sessions, newest first; the later of two records of the same one."""
    children = Counter((one.agent, one.parent) for one, _why in related if one.subagent)
    listed: dict[tuple[str, str], Listed] = {}
    for found, why in related:
        key = (found.agent, found.session)
        known = listed.get(key)
        if found.subagent or found.empty or (known and known.updated >= found.updated):
            continue
        listed[key] = replace(_listed(found, why), subagents=children[key])
    return sorted(listed.values(), key=lambda one: (-one.updated, one.agent, one.session))


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
    line = _first_line(Path(dot)).removeprefix("gitdir:").strip()
    if not line:
        return ""
    own = _real(os.path.join(os.path.dirname(dot), line))
    inner = _first_line(Path(own) / "commondir")
    return _real(os.path.join(own, inner)) if inner else own


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


@lru_cache(maxsize=64)
def _work_trees(common: str) -> tuple[str, ...]:
    """Return the linked work trees that a repository knows, removed ones too."""
    named = sorted(Path(common, "worktrees").glob("*/gitdir"))
    return tuple(_real(os.path.dirname(line)) for line in map(_first_line, named) if line)


def relation(recorded: str, directory: Path) -> str:
    """Return why a session recorded in `recorded` belongs to `directory`; "" if it does not."""
    if not recorded or not os.path.isabs(recorded):
        return ""
    here, there = _real(str(directory)), _real(recorded)
    if here == there:
        return HERE
    top, common = repository(here)
    if _inside(there, here):
        return BELOW
    if top and _inside(there, top):
        return ABOVE
    if not common:
        return ""
    beside = any(_inside(there, one) for one in _work_trees(common))
    if beside or (os.path.isdir(there) and repository(there)[1] == common):
        return BESIDE
    return ""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def doubts(directory: Path, agents: Sequence[str] | str | None = None) -> list[Listed]:
    """Return the sessions, newest first, that may be of this repository before it was moved.

    Their directory is gone, and they were recorded at a commit that this repository has.

    Raises:
        ReadError: no reader has such a name.
    """
    return _doubts(_everything(directory, agents), directory)


def _doubts(everything: list[Found], directory: Path) -> list[Listed]:
    top, _common = repository(str(directory))
    gone = [
        one
        for one in everything
        if top and one.project and one.directory and not os.path.exists(one.directory)
        and not relation(one.directory, directory)
    ]  # fmt: skip
    known = _commits(top, {one.project for one in gone}) if gone else set()
    return _folded(
        [
            (one, f"recorded in {one.directory}, which is gone, at a commit of this repository")
            for one in gone
            if one.project in known
        ]
    )


def _commits(top: str, wanted: set[str]) -> set[str]:
    """Return those of the commits that the repository has."""
    asked = "".join(f"{one}\n" for one in sorted(wanted) if one.isalnum())
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        ran = subprocess.run(
            ["git", "-C", top, "cat-file", "--batch-check=%(objectname) %(objecttype)"],
            input=asked,
            capture_output=True,
            text=True,
            timeout=GIT_S,
            env={**own, "GIT_OPTIONAL_LOCKS": "0"},
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return set()
    lines = (line.split(" ") for line in ran.stdout.splitlines())
    return {line[0] for line in lines if line[1:] == ["commit"]}


def choose(directory: Path, agents: Sequence[str] | str | None = None) -> Choice:
    """Return the newest session of a directory; this work tree's come before other ones'.

    Raises:
        ReadError: there is none; the message says where it was looked, and what may be meant.
    """
    everything = _everything(directory, agents)
    listed, doubtful = _sessions(everything, directory), _doubts(everything, directory)
    if not listed:
        raise ReadError(_none(directory, agents, doubtful))
    best = min(listed, key=lambda one: (_rank(one), -one.updated))
    ties = tuple(
        one
        for one in listed
        if one is not best and _rank(one) == _rank(best) and best.updated - one.updated <= TIE_S
    )
    reason = f"{best.agent} session {best.session}: the newest {best.reason}"
    if len(listed) > 1:
        reason += f" (of {len(listed)})"
    if ties:
        reason += "; as new is " + ", ".join(f"{one.agent} {one.session}" for one in ties)
    newer = [one for one in (*listed, *doubtful) if one.updated > best.updated + TIE_S]
    for one in newer[:2]:
        reason += f"; newer, but {one.reason}: {one.agent} {one.session}"
    return Choice(best, reason, ties, tuple(doubtful))


def _rank(one: Listed) -> int:
    return _RANK.get(one.reason, 2)


def _none(directory: Path, agents: Sequence[str] | str | None, doubtful: list[Listed]) -> str:
    names = [agents] if isinstance(agents, str) else list(agents or readers())
    which = ", ".join(names) if len(names) < 4 else "any agent"
    said = f"{directory}: no session of {which} was recorded here"
    for one in doubtful[:2]:
        said += f"; {one.agent} {one.session} was {one.reason}: `checkpoint save {one.session}`"
    return (
        f"{said}; `checkpoint sessions --all` lists those of other directories, "
        "`checkpoint save FILE` takes a file"
    )


def refresh() -> None:
    """Forget what was learned of directories (they change while a program runs on)."""
    _real.cache_clear()
    repository.cache_clear()
    _work_trees.cache_clear()


__all__ = ["Choice", "Listed", "choose", "doubts", "refresh", "relation", "repository", "sessions"]
