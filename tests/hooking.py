"""What the tests of hooks share: calls as a host makes them, the spool, a worker."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from checkpoint.hooks import worker

HOOK = [sys.executable, "-m", "checkpoint.hooks"]
IDLE = "/bin/true"


def hook(
    payload: Any, *arguments: str, at: Path, program: str = IDLE
) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """Call the hook as a host does and return what it did and how long it took (seconds)."""
    environment = {**os.environ, "CHECKPOINT_DEADLINE_S": "60"}  # a busy machine is no failure
    if program:
        environment["CHECKPOINT_WORKER"] = program
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    start = time.monotonic()
    done = subprocess.run(
        [*HOOK, *arguments], input=given, cwd=at, capture_output=True, env=environment, check=False
    )
    return done, time.monotonic() - start


def wait(what: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Return what `what` returns once it is true; fail after some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def spool(repository: Path) -> list[dict[str, Any]]:
    folder = repository / ".git" / "checkpoint" / "spool"
    found = sorted(folder.glob("[0-9]*.json")) if folder.is_dir() else []
    return [json.loads(one.read_text()) for one in found]


def log(home: Path) -> str:
    path = home / ".local" / "state" / "checkpoint" / "hook.log"
    return path.read_text() if path.exists() else ""


def drain(repository: Path) -> None:
    """Let a worker work to its end, in this process."""
    at, environment = Path.cwd(), dict(os.environ)
    try:
        worker.drain(repository / ".git" / "checkpoint" / "spool")
    finally:
        os.chdir(at)
        os.environ.clear()
        os.environ.update(environment)


def event(path: Path, name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": path.stem, "transcript_path": str(path), "hook_event_name": name, **more}


def moved(text: str, last: float) -> str:
    """Return the session with its times moved so that its last message was at `last`."""
    times = re.findall(r'"timestamp": ?"([^"]+)"', text)
    ends = max(datetime.fromisoformat(one.replace("Z", "+00:00")).timestamp() for one in times)

    def move(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[2].replace("Z", "+00:00")).timestamp() + last - ends
        return f'{found[1]}"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.000Z}"'

    return re.sub(r'("timestamp": ?)"([^"]+)"', move, text)


def start(repository: Path, session: str, source: str) -> str:
    payload = {
        "session_id": session, "transcript_path": f"/h/.claude/projects/x/{session}.jsonl",
        "hook_event_name": "SessionStart", "source": source, "cwd": str(repository),
    }  # fmt: skip
    done, took = hook(payload, at=repository)
    print(f"{source}: {took:.3f} s")
    assert done.returncode == 0
    if not done.stdout:
        return ""
    given = json.loads(done.stdout)
    assert set(given) == {"hookSpecificOutput"}, "Codex refuses unknown fields"
    return str(given["hookSpecificOutput"]["additionalContext"])
