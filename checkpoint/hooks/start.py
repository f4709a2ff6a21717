"""What is said at a session's start, and what a compaction should keep; standard library only.

The words are made by another process (`checkpoint.hooks.opening`), so that a hard limit of time
holds: an agent that waits for us waits two seconds at most, and is then only told where to look.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from checkpoint.hooks import host, places

DEADLINE_S = 2.0
"""Seconds; a slow machine may be given more by `CHECKPOINT_DEADLINE_S` (Claude Code waits 10)."""
KEEP_DEADLINE_S = 1.4
"""opencode's plugin waits 1.5 s before it goes on with the compaction."""
LATE = (
    "A checkpoint of an earlier session in this repository exists. `checkpoint resume --print` "
    "prints its notes (goal, findings, next steps).\n"
)
"""What is said where the briefing was not ready in time."""
SOURCES = ("startup", "clear", "new")
"""Starts that are given the latest checkpoint; a resumed or forked session holds it already."""


def context(agent: str, payload: Mapping[str, Any], directory: str) -> str:
    """Return what the agent is told when a session begins; "" for nothing.

    Args:
        agent: the agent's name.
        payload: what it sent.
        directory: where the session works.
    """
    source = str(payload.get("source") or "startup")
    if source not in (*SOURCES, "compact") or not _any(directory):
        return ""
    session = host.session(payload)
    kind = "compact" if source == "compact" else "start"
    return _made([kind, agent, session], directory, _deadline(DEADLINE_S))


def kept(arguments: Sequence[str], directory: str) -> str:
    """Return what a compaction's summary should keep, by the session's last checkpoint."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    agent, session = given.get("--agent", ""), given.get("--session", "")
    if not session or not _any(directory):
        return ""
    return _made(["keep", agent, session], directory, _deadline(KEEP_DEADLINE_S))


def _deadline(usual_s: float) -> float:
    given = os.environ.get("CHECKPOINT_DEADLINE_S", "")
    return float(given) if given.replace(".", "", 1).isdigit() else usual_s


def _any(directory: str) -> bool:
    """Say whether there may be a checkpoint, without asking git."""
    common = places.common_directory(directory)
    if not common:
        return True  # outside a repository there may be a store of one's own
    if os.path.isdir(os.path.join(common, "refs", "checkpoints")):
        return True
    if os.path.isdir(os.path.join(common, "reftable")):
        return True
    try:
        with open(os.path.join(common, "packed-refs"), "rb") as file:
            return b" refs/checkpoints/" in file.read()
    except OSError:
        return False


def _made(arguments: list[str], directory: str, limit_s: float) -> str:
    command = [sys.executable, "-m", "checkpoint.hooks.opening", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env={**places.clean_environment(), "CHECKPOINT_IN_WORKER": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        places.log(f"start: no briefing within {limit_s:g} s")
        return LATE if arguments[0] == "start" else ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
