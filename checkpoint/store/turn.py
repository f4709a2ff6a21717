"""Let writers of one repository take turns, so that few of them are overtaken.

A courtesy, not the safeguard: that is the compare-and-swap. But an overtaken writer has written
objects that no ref holds yet and that its next try would count on, just what a gc may sweep.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: compare-and-swap alone
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def turn(folder: Path, longest_s: float) -> Iterator[None]:
    """Hold the repository's turn for the block, waiting for it at most `longest_s`.

    The lock is on the folder itself: no file is made, and it ends with the process that has it.
    Where it cannot be had (time, a file system without locks) the block runs all the same.
    """
    descriptor = -1
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY)
                _wait(descriptor, time.monotonic() + longest_s)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _wait(descriptor: int, until: float) -> None:
    """Take the lock, or give up at `until`."""
    while time.monotonic() < until:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.002)
        else:
            return
