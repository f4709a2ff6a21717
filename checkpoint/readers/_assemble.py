"""Records into messages: numbering, joining, pairing calls with their results, settling.

An agent stores a message in pieces (a record a content block) and a call's result elsewhere. The
assembler holds messages back until they are settled: until a later message began, and until each
call has its result or enough came after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import takewhile
from typing import Any

from checkpoint.model import (
    Cursor,
    Message,
    Origin,
    Part,
    Problem,
    Role,
    SessionHead,
    Text,
    ToolCall,
)
from checkpoint.readers._base import Problems

HOLD = 64
"""A message with open calls is held while at most so many messages came after it."""

RECENT = 64
"""Of so many calls it is known that they were made, whether before the cursor or after it."""


class Assembler:
    """Builds the messages of one session, in order.

    A reader calls `message` and `result` for each record, tells `place` before each record, and
    yields from `settled()` after it; at the end of the file it yields from `rest()`.
    """

    def __init__(
        self, head: SessionHead, problems: Problems, since: Cursor | None = None, kind: str = ""
    ) -> None:
        self.head = head
        self.problems = problems
        self.carry: dict[str, Any] = dict(since.carry) if since else {}
        """What must be known to go on from a place; replace it whole, never change it in place."""
        self._kind = kind or (since.kind if since else "")
        self._number = since.number if since else 0
        self._held: deque[Message] = deque()
        self._places: deque[tuple[int, dict[str, Any], tuple[str, ...]]] = deque()
        self._keys: deque[str] = deque()
        self._records: deque[int] = deque()
        self._record = 0
        self._open: dict[str, tuple[Message, ToolCall]] = {}
        self._recent: deque[str] = deque(self.carry.pop("calls", ()), RECENT)
        self._place = since.offset if since else 0
        self._before = self.carry
        self._marks: deque[dict[str, Problem]] = deque()
        self._mark = problems.mark()

    def place(self, offset: int) -> None:
        """Say where the next record begins (bytes, rows or messages before it)."""
        self._place = offset
        self._before = self.carry
        self._mark = self.problems.mark()
        self._record += 1

    def message(
        self,
        role: Role,
        parts: list[Part],
        *,
        origin: Origin,
        id: str = "",  # noqa: A002 - the field's name
        join: str = "",
        at: datetime | None = None,
        model: str = "",
        cwd: str = "",
        branch: str = "",
        subagent: str = "",
    ) -> Message:
        """Begin a message, or add to the last one if it was begun with the same non-empty `join`.

        Text equal to the last text of the message it is added to is left out: agents repeat
        blocks when they rewrite a message while it streams.
        """
        if join and self._keys and self._keys[-1] == join:
            last = self._held[-1]
            for part in parts:
                if not (type(part) is Text and part in last.parts):
                    last.parts.append(part)
                    self._watch(last, part)
            return last
        message = Message(self._number, role, parts, origin, id, at, model, cwd, branch, subagent)
        self._number += 1
        self._held.append(message)
        self._places.append((self._place, self._before, tuple(self._recent)))
        self._keys.append(join)
        # Without places each message stands for a record of its own.
        self._records.append(self._record or -message.number - 1)
        self._marks.append(self._mark)
        for part in parts:
            self._watch(message, part)
        return message

    def _watch(self, message: Message, part: Part) -> None:
        if type(part) is ToolCall and part.id:
            self._recent.append(part.id)
            if not part.finished:
                self._open[part.id] = (message, part)

    def call(self, call_id: str) -> ToolCall | None:
        """Return the call of this id that still waits for its result, or None."""
        held = self._open.get(call_id)
        return held[1] if held else None

    def knows(self, call_id: str) -> bool:
        """Whether this call was made a short while ago, be it before the place of the cursor."""
        return call_id in self._recent

    def close(self, call_id: str) -> None:
        """Say that the call has its result (the reader filled in the fields)."""
        held = self._open.pop(call_id, None)
        if held:
            held[1].finished = True

    def abandon(self, call_id: str) -> None:
        """Say that the call will never have a result: its message need not wait for one."""
        self._open.pop(call_id, None)

    def held(self) -> Iterator[Message]:
        """Yield the messages that were begun and not yielded yet, in order."""
        yield from self._held

    def last(self) -> Message | None:
        """Return the last message begun, if it is still held."""
        return self._held[-1] if self._held else None

    @property
    def ready(self) -> bool:
        """Whether `settled` may have something to yield; asking is cheap."""
        return bool(self._records) and self._records[0] != self._records[-1]

    def settled(self) -> Iterator[Message]:
        """Yield, in order, the messages that can no longer change; the last one never is.

        What one record began is settled together: reading goes on at records only.
        """
        while self._records and self._records[0] != self._records[-1]:
            first = self._of_first_record()
            waiting = self._open and [
                call
                for message in first
                for call in message.calls()
                if not call.finished and call.id in self._open
            ]
            if waiting and len(self._held) <= HOLD:
                return
            for call in waiting or ():
                self._open.pop(call.id, None)
            queues: tuple[deque[Any], ...] = (
                self._held, self._places, self._keys, self._marks, self._records,
            )  # fmt: skip
            for queue in queues:
                for _ in first:
                    queue.popleft()
            yield from first

    def _of_first_record(self) -> list[Message]:
        record = self._records[0]
        if record != self._records[1]:
            return [self._held[0]]
        begun = takewhile(lambda number: number == record, self._records)
        return [message for _number, message in zip(begun, self._held, strict=False)]

    def rest(self) -> Iterator[Message]:
        """Yield what is held at the end of the file, marked as not settled."""
        for message in self._held:
            message.settled = False
            yield message

    def cursor(self, end: int, check: str = "") -> Cursor:
        """Return where to go on: before the first message that is not settled, else at `end`."""
        self.problems.settle(self._marks[0] if self._held else self.problems.mark())
        if self._held:
            offset, carry, recent = self._places[0]
            return Cursor(self._kind, offset, self._held[0].number, check, _with(carry, recent))
        return Cursor(self._kind, end, self._number, check, _with(self.carry, self._recent))


def _with(carry: dict[str, Any], recent: Iterable[str]) -> dict[str, Any]:
    calls = list(recent)
    return {**carry, "calls": calls} if calls else carry
