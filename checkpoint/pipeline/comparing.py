"""Two states, told apart by fact: new, superseded, changed, done, dropped, reopened, gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from checkpoint.pipeline.lines import line, standing, value
from checkpoint.state import Item, State, Task

Act = Literal["new", "superseded", "changed", "done", "dropped", "reopened", "gone"]

ACTS: tuple[Act, ...] = ("new", "superseded", "changed", "done", "dropped", "reopened", "gone")
"""In the order in which they are told."""

_CLOSED = {
    "done": "done",
    "fixed": "done",
    "resolved": "done",
    "answered": "done",
    "stopped": "done",
    "finished": "done",
    "dropped": "dropped",
    "lifted": "dropped",
    "retracted": "dropped",
    "replaced": "dropped",
    "superseded": "superseded",
}
"""What it means that a thing took this status."""

_OVER = frozenset({"done", "fixed", "resolved", "answered", "dropped", "lifted"})
"""A thing that leaves one of these was reopened."""


@dataclass(frozen=True)
class Change:
    """What became of one thing between two states."""

    act: Act
    kind: str
    """What it is called: "goal", "measurement", ..."""
    id: str
    text: str
    """What it says now; of what is gone, what it said."""
    was: str = ""
    """What it said or was before, where that differs."""
    message: int = -1
    """The message that says so last."""


def compare(before: State, after: State) -> list[Change]:
    """Return what differs, in the order of `ACTS`, within an act in that of the document."""
    found = list(_changes(before, after))
    return [change for act in ACTS for change in found if change.act == act]


def _changes(before: State, after: State) -> Iterator[Change]:
    old = {(kind, item.id): item for kind, item in standing(before)}
    new = {(kind, item.id): item for kind, item in standing(after)}
    for (kind, name), item in new.items():
        former = old.get((kind, name))
        change = _fresh(kind, item) if former is None else _change(kind, former, item)
        if change is not None:
            yield change
    for (kind, name), item in old.items():
        if (kind, name) not in new:
            yield Change("gone", kind, name, line(item), "", item.last)


def _fresh(kind: str, item: Item) -> Change:
    act: Act = "new"
    if isinstance(item, Task) and item.status in ("done", "dropped"):
        act = "done" if item.status == "done" else "dropped"
    return Change(act, kind, item.id, line(item), "", item.last)


def _change(kind: str, before: Item, after: Item) -> Change | None:
    was, now = _status(before), _status(after)
    if was != now:
        act: Act = "changed"
        if was in _OVER and now not in _OVER:
            act = "reopened"
        elif now in _CLOSED:
            act = _CLOSED[now]  # type: ignore[assignment]
        return Change(act, kind, after.id, line(after), was, after.last)
    if value(before) != value(after):
        return Change("superseded", kind, after.id, line(after), _short(value(before)), after.last)
    return None


def _status(item: Item) -> str:
    status = getattr(item, "status", "")
    return str(status) if item.__class__.__name__ != "File" else ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:159] + "…"
