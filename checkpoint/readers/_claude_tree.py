"""Claude Code: which records are not the session's course: taken back by a rewind, or told twice.

Records form a tree by `parentUuid`. A fork is a rewind only if two prompts hang on one record and
the older was answered: parallel tool calls fork as well. Compactions begin a new root. The order of
the session is that of the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from checkpoint.readers._base import Problems
from checkpoint.readers._claude_origin import said
from checkpoint.readers._jsonl import Lines, Plan
from checkpoint.readers._whole import at_of, dict_of

_WINDOW = 262_144
_BACK_S = 60.0
_NOTHING = msgspec.Raw(b"null")


class _Link(msgspec.Struct):
    """What of a record tells its place in the tree; the rest is not even decoded."""

    type: Any = None
    uuid: Any = None
    parentUuid: Any = None  # noqa: N815 - as in the file
    logicalParentUuid: Any = None  # noqa: N815
    timestamp: Any = None
    isMeta: Any = None  # noqa: N815
    isSidechain: Any = None  # noqa: N815
    isCompactSummary: Any = None  # noqa: N815
    planContent: Any = None  # noqa: N815
    toolUseResult: msgspec.Raw = _NOTHING  # noqa: N815
    message: msgspec.Raw = _NOTHING


_decode = msgspec.json.Decoder(_Link).decode


class _Tree:
    """The tree of the records seen so far, by hashes of their ids: long sessions have a million."""

    def __init__(self) -> None:
        self._anchor: dict[int, int] = {}
        self._owner: dict[int, int] = {}
        self._over = [0]
        """For each prompt the one under which it was typed; number 0 is no prompt."""
        self._answered = [False]
        self._at = [-1]
        self._last: dict[int, int] = {}
        self.taken_back: dict[int, int] = {}
        """Prompts that a rewind took back, and where the prompt stands that did it."""
        self.told_twice: set[int] = set()
        self.offsets = array("q")
        self.owners = array("q")
        self.lost: list[int] = []
        """Prompts whose parent was not seen."""

    def add(self, offset: int, link: _Link) -> None:
        own = hash(link.uuid)
        if own in self._owner or own in self._anchor:
            self.told_twice.add(offset)
            return
        parent = link.parentUuid or link.logicalParentUuid
        above = hash(parent) if isinstance(parent, str) else 0
        above = self._anchor.get(above, above)
        owner = self._owner.get(above, 0)
        if link.type == "user" or link.type == "assistant":
            if link.type == "assistant":
                self._answered[owner] = True
            elif _is_prompt(link):
                owner = self._prompt(offset, above, owner)
            self._owner[own] = owner
        else:
            self._anchor[own] = above
        self.offsets.append(offset)
        self.owners.append(owner)

    def _prompt(self, offset: int, above: int, owner: int) -> int:
        number = len(self._over)
        self._over.append(owner)
        self._answered.append(False)
        self._at.append(offset)
        if above and above not in self._owner:
            self.lost.append(offset)
        elif above:
            older = self._last.get(above, 0)
            if older and self._answered[older]:
                self.taken_back[older] = offset
            self._last[above] = number
        return number

    def began(self, prompt: int) -> int:
        """Return the offset of a prompt."""
        return self._at[prompt]

    def left_out(self) -> set[int]:
        """Return the offsets of all that is not the session's course."""
        gone = [False] * len(self._over)
        for number in range(1, len(self._over)):
            gone[number] = number in self.taken_back or gone[self._over[number]]
        found = {at for at, own in zip(self.offsets, self.owners, strict=True) if gone[own]}
        return found | self.told_twice


def _is_prompt(link: _Link) -> bool:
    if link.isMeta or link.isSidechain or link.isCompactSummary or link.planContent:
        return False
    if bytes(link.toolUseResult) != b"null" or b'"tool_result"' in bytes(link.message)[:400]:
        return False
    try:
        content = dict_of(msgspec.json.decode(link.message)).get("content")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    origin, parts = said({}, content)
    return origin == "person" and bool(parts)


def plan(path: Path, after: int) -> Plan:
    """Return what is left out of the records from the offset `after` on.

    From a place within the file only what lies shortly before it is looked at, and the whole file
    only if a prompt hangs on something older.
    """
    tree, back = _grow(path, max(0, after - _WINDOW), after)
    if after and (back or any(offset >= after for offset in tree.lost)):
        tree, _back = _grow(path, 0, after)
    stale = ""
    if any(tree.began(one) < after <= by for one, by in tree.taken_back.items()):
        stale = "what lies before the cursor was taken back by a rewind"
    return Plan(tree.left_out(), stale)


def _grow(path: Path, start: int, after: int) -> tuple[_Tree, bool]:
    """Return the tree of the records from `start` on, and whether time goes back after `after`."""
    tree = _Tree()
    newest, back = "", False
    for offset, link in _links(path, start):
        tree.add(offset, link)
        if not after or back or not isinstance(link.timestamp, str):
            continue
        if offset < after:
            newest = max(newest, link.timestamp)
        elif link.timestamp < newest:
            then, now = at_of(newest), at_of(link.timestamp)
            back = bool(then and now and (then - now).total_seconds() > _BACK_S)
    return tree, back


def _links(path: Path, start: int) -> Iterator[tuple[int, _Link]]:
    for offset, line in Lines(path, Problems(), start).raw():
        try:
            link = _decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue  # whoever reads the records tells of it
        if isinstance(link.uuid, str) and link.uuid:
            yield offset, link
