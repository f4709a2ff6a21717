"""Printing: text without control characters, JSON, notes, progress on a terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
"""What a terminal obeys or hides: C0 (but tab and line feed), C1, bidirectional, zero width. The
joiners U+200C and U+200D stay: words and emoji need them."""


def clean(text: str) -> str:
    """Return `text` without what could steer a terminal or deceive a reader."""
    return _CONTROL.sub("", text)


def out(text: str) -> None:
    """Print text, with one line end."""
    sys.stdout.write(clean(text).rstrip("\n") + "\n")


def out_json(value: Any) -> None:
    """Print a value as JSON; times and paths as text."""
    import json

    out_json_text(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def out_json_text(text: str) -> None:
    """Print what is JSON already, with all control characters escaped."""
    escaped = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    sys.stdout.write(escaped.rstrip("\n") + "\n")


def note(text: str) -> None:
    """Say something to the person, beside the output."""
    sys.stderr.write(clean(text).rstrip("\n") + "\n")


def table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows with their columns aligned; the last column runs on."""
    cells = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
    if not cells:
        return
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        sys.stdout.write("  ".join([*padded, row[-1]]).rstrip() + "\n")


def age(seconds: float) -> str:
    """Return a length of time as people say it: "5 min", "3 h", "2 days"."""
    for limit, unit, name in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{max(0, round(seconds / unit))} {name}"
    return f"{round(seconds / 86_400)} days"


def state_home() -> Path:
    """Return the folder of our logs."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path("~/.local/state").expanduser()) / "checkpoint"


class Progress:
    """Counts messages on standard error once the work takes over a second; on a terminal only."""

    def __init__(self, what: str = "messages") -> None:
        self._what = what
        self._start = time.monotonic()
        self._shown = 0.0
        self._on = sys.stderr.isatty()

    def __call__(self, number: int) -> None:
        """Show the number, at most ten times a second."""
        if not self._on or number & 0x3F:
            return
        now = time.monotonic()
        if now - self._start > 1 and now - self._shown > 0.1:
            self._shown = now
            rate = number / (now - self._start)
            sys.stderr.write(f"\r{number:,} {self._what}, {rate:,.0f} a second\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
