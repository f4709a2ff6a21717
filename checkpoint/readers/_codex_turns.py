"""Codex: which records were taken back: `thread_rolled_back` undoes a person's last turns."""

from __future__ import annotations

from pathlib import Path

import msgspec

from checkpoint.readers._base import Problems
from checkpoint.readers._jsonl import Lines, Plan
from checkpoint.readers._whole import dict_of

_MARK = b"thread_rolled_back"
_TYPED = (b'"user_message"', b'"UserMessage"')
_SAID = b'"role":"user"'


def plan(path: Path, after: int) -> Plan:
    """Return what is left out of the records from the offset `after` on."""
    if not any(_MARK in line for _offset, line in Lines(path, Problems(), after).raw()):
        return Plan()
    offsets: list[int] = []
    turns: list[int] = []
    carrier = 0
    left_out: set[int] = set()
    stale = ""
    for offset, line in Lines(path, Problems()).raw():
        offsets.append(offset)
        start = line[:400].replace(b" ", b"")
        if _SAID in start:
            carrier = offset
        elif any(one in start for one in _TYPED):
            turns.append(carrier or offset)
            carrier = 0
        count = _undone(line) if _MARK in start else 0
        if count and turns:
            begun = turns[-count] if count <= len(turns) else turns[0]
            del turns[-count:]
            left_out.update(one for one in offsets if begun <= one < offset)
            if begun < after <= offset:
                stale = "what lies before the cursor was rolled back"
    return Plan(left_out, stale)


def _undone(line: bytes) -> int:
    """Return how many turns the record takes back; 0 if it is no such record."""
    try:
        event = dict_of(dict_of(msgspec.json.decode(line)).get("payload"))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return 0
    count = event.get("num_turns")
    return count if event.get("type") == _MARK.decode() and isinstance(count, int) else 0
