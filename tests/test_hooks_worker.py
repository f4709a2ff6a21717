"""The worker and a session's start: what is saved, what waits, what is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from checkpoint.store import Store

from .conftest import Git
from .hooking import HOOK, drain, event, hook, log, moved, spool, start, wait


def test_a_session_that_ends_has_a_checkpoint_and_nothing_else_changes(
    found_session: Path, repository: Path, home: Path, git: Git
):
    (repository / "new.txt").write_text("not committed\n")
    git("add", "new.txt", at=repository)
    index = (repository / ".git" / "index").read_bytes()
    status, head = git("status", "--short", at=repository), git("rev-parse", "HEAD", at=repository)
    done, _ = hook(event(found_session, "SessionEnd"), at=repository, program="")
    assert (done.returncode, done.stdout) == (0, b"")
    store = Store.open(repository)
    [made] = wait(store.list)
    assert (made.agent, made.reason, made.messages) == ("claude-code", "session-end", 34)
    wait(lambda: not spool(repository))
    assert (repository / ".git" / "index").read_bytes() == index
    assert (git("status", "--short", at=repository), git("rev-parse", "HEAD", at=repository)) == (
        status,
        head,
    )
    assert "session-end" in log(home)


def test_the_worker_outlives_the_group_of_the_agent(found_session: Path, repository: Path):
    """Agents kill the process group of a hook that takes too long, with SIGKILL."""
    given = json.dumps(event(found_session, "SessionEnd"))
    script = f"{sys.executable} -m checkpoint.hooks <<'END'\n{given}\nEND\nsleep 30"
    agent = subprocess.Popen(["/bin/sh", "-c", script], cwd=repository, start_new_session=True)
    wait(lambda: (repository / ".git" / "checkpoint" / "locks").is_dir())
    os.killpg(agent.pid, signal.SIGKILL)
    agent.wait()
    assert wait(Store.open(repository).list)


def test_two_events_at_once_lose_nothing(
    found_session: Path, repository: Path, demo: Any, home: Path
):
    other = found_session.with_name("0f0f0f0f-1111-4222-8333-444444444444.jsonl")
    text = found_session.read_text(encoding="utf-8").replace(demo.SESSION, other.stem)
    other.write_text(text, encoding="utf-8")
    events = [event(found_session, "Stop"), event(found_session, "SessionEnd"),
              event(other, "SessionEnd"), event(other, "PreCompact")]  # fmt: skip
    calls = [
        subprocess.Popen(HOOK, stdin=subprocess.PIPE, cwd=repository, text=True) for _ in events
    ]
    for call, one in zip(calls, events, strict=True):
        call.communicate(json.dumps(one))
        assert call.returncode == 0
    wait(lambda: not spool(repository))
    store = Store.open(repository)
    assert sorted(one.session for one in store.list()) == sorted([found_session.stem, other.stem])
    assert not (repository / ".git" / "checkpoint" / "failed").exists(), log(home)


def test_a_worker_that_was_killed_leaves_its_event_for_the_next(
    found_session: Path, repository: Path
):
    hook(event(found_session, "SessionEnd"), at=repository)  # its worker does nothing
    assert len(spool(repository)) == 1
    drain(repository)
    assert spool(repository) == []
    assert len(Store.open(repository).list()) == 1


def test_what_cannot_be_read_is_put_aside_with_the_reason(repository: Path, tmp_path: Path):
    strange = tmp_path / "s1.jsonl"
    strange.write_text("nothing of any agent\n" * 9)
    payload = event(strange, "SessionEnd", cwd=str(repository))
    hook(payload, at=repository)
    for _ in range(3):
        assert len(spool(repository)) == 1
        drain(repository)
    assert spool(repository) == []
    [why] = (repository / ".git" / "checkpoint" / "failed").glob("*.txt")
    assert "ReadError" in why.read_text()


def test_a_stop_soon_after_a_save_waits_and_an_end_does_not(
    found_session: Path, repository: Path, demo: Any
):
    whole = found_session.read_text(encoding="utf-8").splitlines(keepends=True)
    found_session.write_text("".join(whole[:20]), encoding="utf-8")
    hook(event(found_session, "Stop"), at=repository)
    drain(repository)
    found_session.write_text("".join(whole), encoding="utf-8")
    hook(event(found_session, "Stop"), at=repository)
    drain(repository)
    store = Store.open(repository)
    assert len(store.list()) == 1
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    assert [one.reason for one in store.list()] == ["session-end", "stop"]


def test_a_transcript_that_is_not_where_it_was_said_is_found(found_session: Path, repository: Path):
    payload = {**event(found_session, "SessionEnd"), "transcript_path": "/nowhere/s.jsonl"}
    hook({**payload, "agent": "claude-code"}, at=repository)
    drain(repository)
    assert [one.session for one in Store.open(repository).list()] == [found_session.stem]


def test_a_start_sweeps_up_what_was_missed_but_neither_the_old_nor_the_busy(
    found_session: Path, repository: Path, demo: Any
):
    text = found_session.read_text(encoding="utf-8")
    found_session.unlink()
    now = time.time()
    for name, ago in (("missed", 3_600), ("busy", 5), ("own", 7_200), ("old", 40 * 86_400)):
        path = found_session.with_name(f"{name}.jsonl")
        path.write_text(moved(text.replace(demo.SESSION, name), now - ago), encoding="utf-8")
        os.utime(path, (now - ago, now - ago))
    begin = {"session_id": "own", "hook_event_name": "SessionStart", "source": "resume"}
    hook({**begin, "cwd": str(repository)}, at=repository)
    drain(repository)
    assert [(one.session, one.reason) for one in Store.open(repository).list()] == [
        ("missed", "sweep")
    ]
    drain(repository)
    hook({**begin, "cwd": str(repository)}, at=repository)
    drain(repository)
    assert len(Store.open(repository).list()) == 1, "what was saved is not saved again"


def test_a_new_session_is_told_of_the_last_one(found_session: Path, repository: Path, demo: Any):
    assert start(repository, "n", "startup") == "", "there is no checkpoint yet"
    text = found_session.read_text(encoding="utf-8")
    found_session.write_text(moved(text, time.time() - 600), encoding="utf-8")
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    told = start(repository, "n", "startup")
    assert "<checkpoint-notes nonce=" in told
    assert len(told) <= 9_000
    assert start(repository, "n", "clear")
    assert start(repository, "n", "resume") == ""
    assert start(repository, "n", "fork") == ""
    assert start(repository, "n", "compact") == "", "it is not that session's own"
    assert "<checkpoint-notes nonce=" in start(repository, demo.SESSION, "compact")


def test_an_old_checkpoint_is_only_pointed_to(found_session: Path, repository: Path):
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    told = start(repository, "n", "startup")
    assert "checkpoint resume --print" in told
    assert "checkpoint-notes" not in told
    assert len(told) <= 600


def test_fetched_checkpoints_are_never_shown_by_themselves(
    found_session: Path, repository: Path, tmp_path: Path, git: Git
):
    text = found_session.read_text(encoding="utf-8")
    found_session.write_text(moved(text, time.time() - 600), encoding="utf-8")
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(repository), str(clone))
    assert Store.open(clone).pull("origin").moved
    assert start(clone, "n", "startup") == ""
