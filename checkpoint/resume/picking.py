"""Which checkpoint to go on from, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from checkpoint.discover import repository
from checkpoint.errors import StoreError
from checkpoint.store import Checkpoint, Store

LOOKED_AT = 24
"""Of so many sessions, the ones saved last, it is looked up where they worked and when."""
TIE_S = 60.0
"""Sessions that ended no further apart are a tie (seconds)."""


class _Session(msgspec.Struct):
    directory: str = ""
    ended: datetime | None = None


class _State(msgspec.Struct):
    session: _Session = msgspec.field(default_factory=_Session)


@dataclass(frozen=True)
class Candidate:
    """The latest checkpoint of one session, and what speaks for it."""

    checkpoint: Checkpoint
    directory: str
    """Where the session worked; "" if that is not known."""
    ended: datetime
    """Of its last message; the time of the checkpoint where no message has one."""
    same_tree: bool
    same_branch: bool

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Ours before fetched ones, then this work tree, then this branch."""
        return (not self.checkpoint.remote, self.same_tree, self.same_branch)


@dataclass(frozen=True)
class Picked:
    """The checkpoint that was picked."""

    checkpoint: Checkpoint
    ended: datetime
    reason: str
    """For a person: which, of how many, and why."""
    same_tree: bool = True
    same_branch: bool = True
    ties: tuple[Checkpoint, ...] = ()


def pick(
    store: Store,
    *,
    name: str = "",
    agent: str | None = None,
    session: str = "",
    remote: bool = False,
    but: str = "",
) -> Picked:
    """Return the checkpoint to go on from.

    Args:
        store: of the directory in which it goes on.
        name: a checkpoint as `Store.find` takes it; "" ranks them: same work tree, same branch, and
            the session that ended last.
        agent: of this agent's sessions only.
        session: of this session only, by its id's beginning.
        remote: fetched ones count too, after all of our own.
        but: the id of a session that is left out.

    Raises:
        StoreError: there is none; the message says what can be done.
    """
    if name:
        found = store.find(name)
        return Picked(found, _ends(store, [found])[0].ended, f"{_named(found)}: as asked for")
    listed = candidates(store, agent=agent, session=session, remote=remote, but=but)
    if not listed:
        which = f" of session {session}" if session else f" of {agent}" if agent else ""
        raise StoreError(
            f"{store.directory}: no checkpoint{which} here yet; `checkpoint save` makes one, "
            "`checkpoint pull` fetches those of a remote"
        )
    best = listed[0]
    ties = tuple(
        one.checkpoint
        for one in listed[1:]
        if one.rank == best.rank and (best.ended - one.ended).total_seconds() <= TIE_S
    )
    return Picked(
        best.checkpoint,
        best.ended,
        _reason(best, listed, ties, session),
        best.same_tree,
        best.same_branch,
        ties,
    )


def _reason(
    best: Candidate, listed: Sequence[Candidate], ties: Sequence[Checkpoint], session: str
) -> str:
    if session:
        return f"{_named(best.checkpoint)}: the session asked for"
    same = [
        *(["fetched"] if best.checkpoint.remote else []),
        *(["this work tree"] if best.same_tree else []),
        *(["this branch"] if best.same_branch else []),
    ]
    where = " and ".join(same) or "another work tree or branch; none is of this one"
    reason = f"{_named(best.checkpoint)}: the session that ended last ({where}"
    reason += f"; of {len(listed)} sessions)" if len(listed) > 1 else ")"
    if ties:
        reason += "; as late ended " + ", ".join(_named(one) for one in ties)
    later = [one for one in listed[1:] if (one.ended - best.ended).total_seconds() > TIE_S]
    if later:
        newer = later[0]
        why = "fetched" if newer.checkpoint.remote else "of another branch or work tree"
        reason += f"; later, but {why}: {_named(newer.checkpoint)}"
    return reason


def _named(one: Checkpoint) -> str:
    return f"{one.id} ({one.agent} {one.session[:40]})"


def candidates(
    store: Store,
    *,
    agent: str | None = None,
    session: str = "",
    remote: bool = False,
    but: str = "",
) -> list[Candidate]:
    """Return the latest checkpoint of each session, the best to go on from first."""
    tips: dict[tuple[str, str], Checkpoint] = {}
    for one in store.list(agent=agent, remote=remote):
        if one.session.startswith(session) and not (but and one.session == but):
            tips.setdefault((one.agent, one.session), one)
    found = _ends(store, list(tips.values())[:LOOKED_AT])
    return sorted(found, key=lambda one: (one.rank, one.ended), reverse=True)


def _ends(store: Store, tips: Sequence[Checkpoint]) -> list[Candidate]:
    top, _ = repository(str(store.directory))
    here = top or os.path.realpath(store.directory)
    branch = _branch(store)
    found = []
    for one, state in zip(tips, _states(store, tips), strict=True):
        place = state.session.directory
        ended = state.session.ended or one.at
        if ended.tzinfo is None:
            ended = ended.replace(tzinfo=UTC)
        found.append(Candidate(one, place, ended, _within(place, here), one.branch == branch))
    return found


def _within(place: str, top: str) -> bool:
    if not place:
        return False
    real = os.path.realpath(place)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def _branch(store: Store) -> str:
    if store.kind != "repository":
        return ""
    answer = store.git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return answer.text.strip() if answer.code == 0 else ""


def _states(store: Store, tips: Sequence[Checkpoint]) -> Iterator[_State]:
    """Yield what is needed of each state; one git process for all. A damaged one says nothing."""
    if not tips:
        return
    asked = "".join(f"{one.commit}:state.json\n" for one in tips).encode()
    out = store.git.ask("cat-file", "--batch", stdin=asked).out
    at = 0
    for _ in tips:
        line = out.find(b"\n", at)
        if line < 0:
            yield _State()
            continue
        head = out[at:line].split(b" ")
        at = line + 1
        if len(head) != 3 or head[1] != b"blob":
            yield _State()
            continue
        size = int(head[2])
        body, at = out[at : at + size], at + size + 1
        try:
            yield msgspec.json.decode(body, type=_State)
        except (msgspec.DecodeError, RecursionError):
            yield _State()


def age(since: datetime, now: datetime | None = None) -> str:
    """Return how long ago a time was, as people say it: "5 min", "3 h", "2 days"."""
    seconds = max(0.0, ((now or datetime.now(UTC)) - since).total_seconds())
    for limit, unit, name in ((90, 1, "s"), (5_400, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return f"{round(seconds / unit)} {name}"
    return f"{round(seconds / 86_400)} days"


def here(directory: Path) -> str:
    """Return the top of the work tree around a directory, or the directory."""
    return repository(str(directory))[0] or os.path.realpath(directory)
