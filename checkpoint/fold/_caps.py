"""Caps: the state stays bounded, whatever the session's length.

When a list outgrows its cap by an eighth, the least valuable items go, down to the cap. What is
valuable is a function of the items alone, so the fold law holds; what went is counted.
"""

from __future__ import annotations

from typing import Any

from checkpoint.settings import Settings
from checkpoint.state import Finding, Item, State

_CLOSED = {"lifted", "replaced", "superseded", "retracted", "resolved", "answered", "stopped",
           "finished", "earlier", "read", "mentioned", "deleted", "dropped"}  # fmt: skip


def value(item: Item) -> tuple[Any, ...]:
    """Return what an item is worth keeping; larger is more."""
    status = getattr(item, "status", "")
    standing = bool(getattr(item, "standing", False)) or status == "overall"
    weight = item.weight if isinstance(item, Finding) else 0
    touched = getattr(item, "edits", 0)
    return (standing, status not in _CLOSED, item.authority, min(touched, 3), weight > 3,
            min(item.seen, 4), item.last, item.key)  # fmt: skip


def trim(state: State, settings: Settings) -> bool:
    """Let the least valuable items of each overfull list go; whether any went."""
    trimmed = False
    for kind, cap in settings.caps.items():
        items: list[Any] = getattr(state, kind)
        if len(items) <= cap + max(cap // 8, 1):
            continue
        excess = len(items) - cap
        if kind == "pivots":
            del items[1 : 1 + excess]
        else:
            gone = {id(item) for item in sorted(items, key=value)[:excess]}
            items[:] = [item for item in items if id(item) not in gone]
        trimmed = True
        state.evicted[kind] = state.evicted.get(kind, 0) + excess
    return trimmed
