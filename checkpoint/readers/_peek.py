"""Looking at the two ends of a line file, for listing sessions without reading them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from checkpoint.errors import ReadError
from checkpoint.readers._open import open_bytes
from checkpoint.readers._whole import at_of

Record = dict[str, Any]

TAIL_BYTES = 65_536


def objects(raw: bytes) -> list[Record]:
    """Return the JSON objects of the whole lines in `raw`; what cannot be decoded is left out."""
    found: list[Record] = []
    for line in raw.split(b"\n"):
        line = line.strip(b"\x00 \t\r").removeprefix(b"\xef\xbb\xbf")
        if line[:1] != b"{" or line[-1:] != b"}":
            continue
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def start_of(path: Path, count: int) -> bytes:
    """Return the first `count` bytes, unpacked; nothing if the file cannot be read."""
    try:
        with open_bytes(path) as file:
            return file.read(count)
    except (OSError, ReadError):
        return b""


def end_of(path: Path, count: int = TAIL_BYTES) -> bytes:
    """Return the last `count` bytes; nothing of a packed file, or of one that cannot be read."""
    try:
        with open_bytes(path) as file:
            if not file.seekable():
                return b""
            file.seek(0, 2)
            file.seek(max(0, file.tell() - count))
            return file.read(count)
    except (OSError, ReadError):
        return b""


def last_time(records: list[Record]) -> datetime | None:
    """Return the time of the last record that has one."""
    for record in reversed(records):
        if at := at_of(record.get("timestamp")):
            return at
    return None


def changed(path: Path) -> float:
    """Return when the file was written last; 0 if that cannot be told."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
