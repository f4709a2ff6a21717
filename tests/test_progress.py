"""Progress is shown on a terminal, once the work takes over a second; nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

CODE = """
import time
from checkpoint.cli._print import Progress
with Progress() as progress:
    for number in range(0, 64 * 13, 64):
        progress(number)
        time.sleep({pause})
"""


def _on_a_terminal(pause: float) -> str:
    outer, inner = pty.openpty()
    subprocess.run([sys.executable, "-c", CODE.format(pause=pause)], stderr=inner, check=True)
    os.close(inner)
    found = b""
    try:
        while piece := os.read(outer, 4096):
            found += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(outer)
    return found.decode()


def test_quick_work_says_nothing():
    assert _on_a_terminal(0.001) == ""


def test_slow_work_counts_and_cleans_up():
    shown = _on_a_terminal(0.11)
    assert "704 messages" in shown
    assert shown.endswith("\r\x1b[K")


def test_no_terminal_no_progress():
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(pause=0.11)], capture_output=True, check=True
    )
    assert done.stderr == b""
