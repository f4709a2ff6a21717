"""Codex: where its sessions lie, and what can be learned of one without reading it whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from checkpoint.readers._base import Found


def session_folders() -> list[Path]:
    """Return the folders that hold rollouts, the one of `CODEX_HOME` first."""
    return []


def find_sessions(agent: str, roots: list[Path], directory: Path | None) -> Iterator[Found]:
    """Yield the sessions under `roots`."""
    yield from ()
