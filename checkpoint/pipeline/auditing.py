"""What a compaction dropped: facts of the state before it that its summary lacks.

A fact counts as kept if the summary holds what cannot be guessed of it: its figures, the last part
of its path, its commit, its port; of a fact without any of these, most of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.pipeline.lines import line, standing
from checkpoint.pipeline.summary import pivots
from checkpoint.readers import identify
from checkpoint.settings import Settings
from checkpoint.state import File, Item, Process, Question, State, Task

AFTER = 6
"""A summary is looked for among so many messages behind its compaction."""

_CLOSED = frozenset({"lifted", "replaced", "superseded", "retracted", "resolved", "answered",
                     "stopped", "finished", "failed", "earlier", "read", "mentioned",
                     "dropped"})  # fmt: skip
_EXACT = re.compile(r"\d[\d.,:]*\d|\b[0-9a-f]{7,40}\b|`[^`]+`|--[\w-]+|\b[A-Z][A-Z0-9_]{3,}\b")
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True)
class Dropped:
    """One fact that a summary lacks."""

    kind: str
    text: str
    message: int
    """Where it was last said."""


@dataclass(frozen=True)
class Audit:
    """One compaction, and what became of what was known before it."""

    message: int
    trigger: str
    summary: int
    """The number of the message that holds the summary; -1: none was stored."""
    known: int
    kept: int
    dropped: tuple[Dropped, ...]


def audit(
    path: Path, *, settings: Settings, agent: str | None = None, session: str = ""
) -> Iterator[Audit]:
    """Yield an audit for each compaction of a session that has a stored summary, in order.

    Raises:
        ReadError: the session cannot be read, or was never compacted.
    """
    summaries = _summaries(path, agent, session)
    if not summaries:
        raise ReadError(f"{path}: the session was never compacted; there is nothing to compare")
    for found in pivots(path, settings=settings, agent=agent, session=session):
        state = found.state
        at = state.pivots[-1] if state.pivots else None
        if at is None or at.kind != "compaction" or state.session.messages - 1 != at.message:
            continue
        if at.message in summaries:
            number, words = summaries.pop(at.message)
            yield _compare(state, at.message, at.trigger, number, words)


def _summaries(path: Path, agent: str | None, session: str) -> dict[int, tuple[int, str]]:
    """Return of each compaction's message the number and the words of its summary."""
    found: dict[int, tuple[int, str]] = {}
    waiting = -1
    for message in identify(path, agent).read(path, None, session):
        if any(type(part).__name__ == "Compaction" for part in message.parts):
            waiting = message.number
            found[waiting] = (-1, "")
        if waiting >= 0 and message.origin == "summary" and message.said().strip():
            found[waiting] = (message.number, message.said())
            waiting = -1
        elif waiting >= 0 and message.number - waiting > AFTER:
            waiting = -1
    return found


def _compare(state: State, at: int, trigger: str, number: int, words: str) -> Audit:
    known = kept = 0
    dropped: list[Dropped] = []
    folded = _plain(words)
    for kind, item in standing(state):
        if getattr(item, "status", "") in _CLOSED or kind in ("command", "failure", "note"):
            continue
        if isinstance(item, Task) and item.source == "words":
            continue
        known += 1
        if _holds(folded, item):
            kept += 1
        else:
            dropped.append(Dropped(kind, line(item), item.last))
    return Audit(at, trigger, number, known, kept, tuple(dropped))


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace(",", "").split())


def _holds(summary: str, item: Item) -> bool:
    if isinstance(item, File):
        return item.path.rsplit("/", 1)[-1].casefold() in summary
    if isinstance(item, Process) and item.port:
        return item.port in summary
    text = line(item)
    exact = {_plain(one.strip("`")) for one in _EXACT.findall(text)}
    exact = {one for one in exact if len(one) > 2}
    words = {one.casefold() for one in _WORD.findall(text)}
    common = sum(one in summary for one in words) / max(len(words), 1)
    if exact and not isinstance(item, Question):
        return sum(one in summary for one in exact) * 2 > len(exact) and common > 0.4
    return common >= 0.7
