"""What goes wrong around a hook: kills, crowds, no git, no home. Nothing is lost, nobody is held.

The short runs stand among the tests, the long ones only in `make stress`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from checkpoint.store import Store

from .conftest import Git
from .hooking import HOOK, drain, event, hook, log, spool, wait


def killed(repository: Path, after_s: float) -> bool:
    """Start a worker and kill it after some time; say whether it still worked."""
    folder = repository / ".git" / "checkpoint" / "spool"
    worker = subprocess.Popen(
        [sys.executable, "-m", "checkpoint.hooks.worker", str(folder)],
        cwd=repository, start_new_session=True,
    )  # fmt: skip
    time.sleep(after_s)
    alive = worker.poll() is None
    worker.kill()
    worker.wait()
    return alive


def kill_often(repository: Path, session: Path, times: int) -> int:
    lines = session.read_text(encoding="utf-8").splitlines(keepends=True)
    chance = random.Random(7)
    cut_short = 0
    for number in range(times):
        session.write_text("".join(lines[: 8 + number % (len(lines) - 8)]), encoding="utf-8")
        hook(event(session, "SessionEnd"), at=repository)
        cut_short += killed(repository, chance.uniform(0.05, 1.2))
    session.write_text("".join(lines), encoding="utf-8")
    hook(event(session, "SessionEnd"), at=repository)
    return cut_short


@pytest.mark.parametrize("times", [3, pytest.param(200, marks=pytest.mark.stress)])
def test_workers_that_are_killed_lose_nothing(
    times: int, found_session: Path, repository: Path, git: Git, home: Path
):
    assert kill_often(repository, found_session, times) > 0
    drain(repository)
    assert spool(repository) == []
    assert Store.open(repository).list()[0].messages == 34, log(home)
    assert not (repository / ".git" / "checkpoint" / "failed").exists()
    git("fsck", "--strict", "--connectivity-only", at=repository)
    assert git("status", "--short", at=repository) == ""


@pytest.mark.parametrize("count", [pytest.param(10, marks=pytest.mark.stress)])
def test_many_sessions_end_at_once(
    count: int, found_session: Path, repository: Path, demo: Any, home: Path
):
    text = found_session.read_text(encoding="utf-8")
    paths = []
    for number in range(count):
        path = found_session.with_name(f"many-{number}.jsonl")
        path.write_text(text.replace(demo.SESSION, path.stem), encoding="utf-8")
        paths.append(path)
    calls = [
        subprocess.Popen(HOOK, stdin=subprocess.PIPE, cwd=repository, text=True) for _ in paths
    ]
    for call, path in zip(calls, paths, strict=True):
        call.communicate(json.dumps(event(path, "SessionEnd")))
        assert call.returncode == 0
    wait(lambda: not spool(repository), 120)
    stored = Store.open(repository).list()
    assert {one.session for one in stored} == {path.stem for path in paths}, log(home)


def test_without_git_the_event_waits(
    found_session: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
):
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "/nowhere")
    done, _ = hook(event(found_session, "SessionEnd"), at=repository)
    assert (done.returncode, done.stdout) == (0, b"")
    drain(repository)
    assert len(spool(repository)) == 1
    monkeypatch.setenv("PATH", path)
    drain(repository)
    assert spool(repository) == []
    assert len(Store.open(repository).list()) == 1


def test_without_a_home_the_session_is_saved_all_the_same(
    found_session: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", "/dev/null/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    done, _ = hook(event(found_session, "SessionEnd"), at=repository)
    assert (done.returncode, done.stderr) == (0, b"")
    drain(repository)
    assert len(Store.open(repository).list()) == 1


def test_where_no_spool_can_be_made_the_agent_sees_nothing(
    found_session: Path, repository: Path, home: Path
):
    (repository / ".git" / "checkpoint").write_text("in the way\n")
    done, _ = hook(event(found_session, "SessionEnd"), at=repository)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "checkpoint-hook: " in log(home)
    assert len(list(home.rglob("spool/[0-9]*.json"))) == 1, "it goes to the user's state folder"
    (repository / ".git" / "checkpoint").unlink()
    begun = {"session_id": "n", "hook_event_name": "SessionStart", "source": "resume"}
    hook({**begun, "cwd": str(repository)}, at=repository, program="")
    assert wait(Store.open(repository).list)


def test_a_directory_that_is_gone_is_no_failure_of_the_agent(repository: Path, tmp_path: Path):
    gone = {"session_id": "s", "hook_event_name": "Stop", "cwd": str(tmp_path / "gone")}
    done, _ = hook(gone, at=repository)
    assert (done.returncode, done.stdout) == (0, b"")
    assert [one["directory"] for one in spool(repository)] == [str(repository)]
