"""Which session is meant: a file, a store with `#ID`, an id's beginning, or the newest here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import ReadError

LISTED = 8
"""How many of several candidates an error names."""


@dataclass(frozen=True)
class Target:
    """What a reader is asked to read."""

    path: Path
    agent: str | None = None
    session: str = ""
    """Which one, in a store of many; "" is the newest."""


def target(asked: str | None, directory: Path, agent: str | None) -> Target:
    """Return the session that is meant.

    Args:
        asked: a path, a store with `#ID` after it, an id or its beginning; None is the newest
            session of the directory; which was taken and why is said on standard error.
        directory: where relative paths begin, and whose sessions count.
        agent: of this agent's sessions only.

    Raises:
        ReadError: there is none, or more than one.
    """
    if asked is None:
        return _newest(directory, agent)
    if _there(asked, directory) or os.sep in asked or "#" in asked or asked.endswith(".jsonl"):
        return at_path(asked, directory, agent)
    return _by_id(asked, agent)


def at_path(asked: str, directory: Path, agent: str | None) -> Target:
    """Return the session in a file, or in a store with `#ID` after it.

    Raises:
        ReadError: there is no such file.
    """
    whole = _there(asked, directory)
    if whole:
        return Target(whole, agent)
    name, mark, session = asked.rpartition("#")
    store = _there(name, directory) if mark else None
    if store:
        return Target(store, agent, session)
    raise ReadError(
        f"{asked}: no such file; `checkpoint sessions` lists the sessions of a directory"
    )


def _there(name: str, directory: Path) -> Path | None:
    if not name:
        return None
    path = directory / Path(name).expanduser()
    try:
        return path if path.exists() else None
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return None


def _newest(directory: Path, agent: str | None) -> Target:
    from checkpoint.cli._print import note
    from checkpoint.discover import choose

    choice = choose(directory, agent)
    note(choice.reason)
    return Target(choice.found.path, choice.found.agent, choice.found.session)


def _by_id(asked: str, agent: str | None) -> Target:
    from checkpoint.discover import sessions

    found = [one for one in sessions(None, agent) if one.session.startswith(asked)]
    exact = [one for one in found if one.session == asked] or found
    if not exact:
        raise ReadError(
            f"{asked}: neither a file nor the beginning of a session's id on this machine; "
            "`checkpoint sessions --all` lists them"
        )
    if len(exact) > 1:
        names = ", ".join(f"{one.agent} {one.session}" for one in exact[:LISTED])
        more = f" and {len(exact) - LISTED} more" if len(exact) > LISTED else ""
        raise ReadError(f"{asked}: begins {len(exact)} sessions: {names}{more}; write more of it")
    one = exact[0]
    return Target(one.path, one.agent, one.session)
