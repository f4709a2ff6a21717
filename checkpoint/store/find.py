"""Which checkpoint is meant: by id, commit, session, "latest", and how many before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from checkpoint.errors import StoreError
from checkpoint.store.checkpoints import Checkpoint, one_line

_SHOWN = 6


def find(name: str, stored: Sequence[Checkpoint], directory: Path) -> Checkpoint:
    """Return the one checkpoint that `name` means.

    Args:
        name: "latest"; a checkpoint's id or commit, or the beginning of one; a session's id or the
            beginning of one, for its latest checkpoint. "~2" after any of them: two before that.
        stored: all there are, newest first, our own before fetched ones.
        directory: what to call the store in a message.

    Raises:
        StoreError: there is none, or more than one; the message says what there is.
    """
    if not stored:
        raise StoreError(f"{directory}: no checkpoint here yet; `checkpoint save` makes one")
    shown = one_line(name, 80)
    asked = re.fullmatch(r"(.*?)(?:~([0-9]{1,6}))?", name.strip(), re.DOTALL)
    base, steps = (asked[1], int(asked[2] or 0)) if asked else (name, 0)
    found = _candidates(base, stored)
    if not found:
        raise StoreError(
            f"{directory}: no checkpoint or session is called {shown!r}; "
            f"there is {_listed(stored)}; `checkpoint log` shows all"
        )
    if len(found) > 1:
        raise StoreError(
            f"{directory}: {shown!r} may be any of {_listed(found)}; give more of its name"
        )
    return _before(found[0], steps, stored, shown, directory)


def _candidates(base: str, stored: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return what a name without steps may mean; a whole name wins over the beginning of one."""
    if not base:
        return []
    if base == "latest":
        return [next((one for one in stored if not one.remote), stored[0])]
    lower = base.lower()
    whole = [one for one in stored if base in (one.id, one.commit)]
    if whole:
        return _once(whole)
    sessions = _tips(one for one in stored if one.session == base)
    if sessions:
        return sessions
    started = _once(
        one for one in stored if one.id.startswith(base) or one.commit.startswith(lower)
    )
    return started + [
        one
        for one in _tips(one for one in stored if one.session.startswith(base))
        if one not in started
    ]


def _once(found: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Leave out what is the same checkpoint, imported or fetched a second time."""
    return list({one.id: one for one in reversed(list(found))}.values())[::-1]


def _tips(found: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return the latest of each session; our own wins over a fetched one."""
    tips: dict[tuple[str, str], Checkpoint] = {}
    for one in found:
        key = (one.agent, one.session)
        if key not in tips or (tips[key].remote and not one.remote):
            tips[key] = one
    return list(tips.values())


def _before(
    found: Checkpoint, steps: int, stored: Sequence[Checkpoint], shown: str, directory: Path
) -> Checkpoint:
    by_commit = {one.commit: one for one in stored}
    for step in range(steps):
        if found.parent not in by_commit:
            raise StoreError(
                f"{directory}: {shown!r} goes back too far; the session's first checkpoint is "
                f"{found.id}, {step} before"
            )
        found = by_commit[found.parent]
    return found


def _listed(found: Sequence[Checkpoint]) -> str:
    """Name some checkpoints, for a message."""
    names = [
        f"{one.id} ({one.agent} {one.session[:40]}, {one.at:%Y-%m-%d %H:%M})"
        for one in found[:_SHOWN]
    ]
    more = len(found) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
