"""The hook, its spool and its worker, as processes of their own, with real git."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkpoint.hooks import host
from checkpoint.store import Store

from .conftest import Git

HOOK = [sys.executable, "-m", "checkpoint.hooks"]
IDLE = "/bin/true"
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "claude": (
        "claude-code",
        "end",
        {"transcript_path": "/h/.claude/projects/x/s1.jsonl", "hook_event_name": "SessionEnd"},
    ),
    "claude-compaction": (
        "claude-code",
        "compaction",
        {
            "transcript_path": "/h/.claude/projects/x/s1.jsonl",
            "hook_event_name": "PreCompact",
            "trigger": "auto",
            "custom_instructions": None,
        },
    ),
    "codex": (
        "codex",
        "stop",
        {
            "transcript_path": "/h/.codex/sessions/2026/01/02/rollout-2026-s1.jsonl",
            "hook_event_name": "Stop",
            "turn_id": "t",
            "stop_hook_active": False,
        },
    ),
    "gemini": (
        "gemini-cli",
        "compaction",
        {"transcript_path": "/h/.gemini/tmp/x/chats/s.json", "hook_event_name": "PreCompress"},
    ),
    "qwen": (
        "qwen-code",
        "end",
        {"transcript_path": "/h/.qwen/projects/x/s.jsonl", "hook_event_name": "SessionEnd"},
    ),
    "cursor": (
        "cursor",
        "end",
        {"conversation_id": "s1", "hook_event_name": "sessionEnd", "cursor_version": "2"},
    ),
    "cursor-by-claude's-hooks": (
        "cursor",
        "stop",
        {
            "conversation_id": "s1",
            "hook_event_name": "Stop",
            "transcript_path": "/h/.claude/projects/x/s1.jsonl",
        },
    ),
    "copilot": (
        "copilot-cli",
        "stop",
        {"sessionId": "s1", "timestamp": 1, "hookEventName": "agentStop"},
    ),
    "opencode": ("opencode", "end", {"agent": "opencode", "hook_event_name": "SessionEnd"}),
}


def hook(
    payload: Any, *arguments: str, at: Path, worker: str = IDLE
) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """Call the hook as a host does and return what it did and how long it took (seconds)."""
    environment = dict(os.environ)
    if worker:
        environment["CHECKPOINT_WORKER"] = worker
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
    """Run a worker to its end."""
    folder = repository / ".git" / "checkpoint" / "spool"
    subprocess.run(
        [sys.executable, "-m", "checkpoint.hooks.worker", str(folder)],
        cwd=repository,
        check=True,
        timeout=60,
    )


def event(path: Path, name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": path.stem, "transcript_path": str(path), "hook_event_name": name, **more}


@pytest.mark.parametrize("name", CASES)
def test_an_event_is_spooled_and_answered_with_nothing(name: str, repository: Path):
    agent, kind, payload = CASES[name]
    done, took = hook({"session_id": "s1", "cwd": str(repository), **payload}, at=repository)
    print(f"{name}: {took:.3f} s")
    expected = b"{}\n" if agent in ("gemini-cli", "qwen-code") else b""
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, b"")
    [kept] = spool(repository)
    assert (kept["agent"], kept["event"], kept["directory"]) == (agent, kind, str(repository))


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"hook_event_name": "Notification"}', b"{}" * 9],
)
def test_what_means_nothing_is_let_go(payload: bytes, repository: Path):
    done, _ = hook(payload, at=repository)
    assert (done.returncode, done.stdout) == (0, b"")
    assert spool(repository) == []


def test_subagents_are_ignored(repository: Path):
    for more in ({"hook_event_name": "SubagentStop"}, {"hook_event_name": "Stop", "agent_id": "a"}):
        hook({"session_id": "s", "cwd": str(repository), **more}, at=repository)
    assert spool(repository) == []


def test_the_hook_can_be_switched_off(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHECKPOINT_DISABLE", "1")
    done, _ = hook({"session_id": "s", "hook_event_name": "Stop"}, at=repository)
    assert done.returncode == 0
    assert spool(repository) == []


def test_an_input_that_stays_open_does_not_hold_the_agent(repository: Path):
    process = subprocess.Popen(
        HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=repository,
        env={**os.environ, "CHECKPOINT_WORKER": IDLE},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps({"session_id": "s", "hook_event_name": "Stop"}).encode())
    process.stdin.flush()
    assert process.wait(10) == 0
    process.stdin.close()
    assert process.stdout is not None
    process.stdout.close()
    assert len(spool(repository)) == 1


def test_outside_a_repository_the_spool_is_the_users(tmp_path: Path, home: Path):
    hook({"session_id": "s", "hook_event_name": "Stop", "cwd": str(tmp_path)}, at=tmp_path)
    assert len(list(home.rglob("spool/*.json"))) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_surrounding_git_does_not_mislead(
    repository: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
):
    other = tmp_path / "other"
    git("init", "--quiet", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    hook({"session_id": "s", "hook_event_name": "Stop"}, at=repository)
    assert len(spool(repository)) == 1


def test_a_linked_work_tree_shares_the_spool(repository: Path, tmp_path: Path, git: Git):
    tree = tmp_path / "tree"
    git("worktree", "add", "--quiet", str(tree), at=repository)
    hook({"session_id": "s", "hook_event_name": "Stop"}, at=tree)
    [kept] = spool(repository)
    assert kept["directory"] == str(tree)


def test_the_hook_imports_only_the_standard_library(repository: Path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "checkpoint.hooks"],
        input=b'{"session_id": "s", "hook_event_name": "Stop"}',
        cwd=repository, capture_output=True, check=True,
        env={**os.environ, "CHECKPOINT_WORKER": IDLE},
    )  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    ours = {name for name in names if name.split(".")[0] == "checkpoint"}
    assert ours <= {"checkpoint", "checkpoint.hooks"} | {
        f"checkpoint.hooks.{name}" for name in ("event", "host", "places", "start")
    }
    foreign = {name.split(".")[0] for name in names}
    assert foreign & {"typer", "pydantic", "jinja2", "git", "yaml", "msgspec", "asyncio"} == set()


def test_a_session_that_ends_has_a_checkpoint_and_nothing_else_changes(
    found_session: Path, repository: Path, home: Path, git: Git
):
    (repository / "new.txt").write_text("not committed\n")
    git("add", "new.txt", at=repository)
    index = (repository / ".git" / "index").read_bytes()
    status, head = git("status", "--short", at=repository), git("rev-parse", "HEAD", at=repository)
    done, _ = hook(event(found_session, "SessionEnd"), at=repository, worker="")
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
    assert {one.session for one in store.list()} == {found_session.stem, other.stem}
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
        path.write_text(_moved(text.replace(demo.SESSION, name), now - ago), encoding="utf-8")
        os.utime(path, (now - ago, now - ago))
    start = {"session_id": "own", "hook_event_name": "SessionStart", "source": "resume"}
    hook({**start, "cwd": str(repository)}, at=repository)
    drain(repository)
    assert [(one.session, one.reason) for one in Store.open(repository).list()] == [
        ("missed", "sweep")
    ]
    drain(repository)
    hook({**start, "cwd": str(repository)}, at=repository)
    drain(repository)
    assert len(Store.open(repository).list()) == 1, "what was saved is not saved again"


def _moved(text: str, last: float) -> str:
    """Return the session with its times moved so that its last message was at `last`."""
    import re
    from datetime import UTC, datetime

    times = re.findall(r'"timestamp": ?"([^"]+)"', text)
    ends = max(datetime.fromisoformat(one.replace("Z", "+00:00")).timestamp() for one in times)

    def move(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[2].replace("Z", "+00:00")).timestamp() + last - ends
        return f'{found[1]}"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.000Z}"'

    return re.sub(r'("timestamp": ?)"([^"]+)"', move, text)


def _start(repository: Path, session: str, source: str) -> str:
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


def test_a_new_session_is_told_of_the_last_one(found_session: Path, repository: Path, demo: Any):
    assert _start(repository, "n", "startup") == "", "there is no checkpoint yet"
    text = found_session.read_text(encoding="utf-8")
    found_session.write_text(_moved(text, time.time() - 600), encoding="utf-8")
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    told = _start(repository, "n", "startup")
    assert "<checkpoint-notes nonce=" in told
    assert len(told) <= 9_000
    assert _start(repository, "n", "clear")
    assert _start(repository, "n", "resume") == ""
    assert _start(repository, "n", "fork") == ""
    assert _start(repository, "n", "compact") == "", "it is not that session's own"
    assert "<checkpoint-notes nonce=" in _start(repository, demo.SESSION, "compact")


def test_an_old_checkpoint_is_only_pointed_to(found_session: Path, repository: Path):
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    told = _start(repository, "n", "startup")
    assert "checkpoint resume --print" in told
    assert "checkpoint-notes" not in told
    assert len(told) <= 600


def test_fetched_checkpoints_are_never_shown_by_themselves(
    found_session: Path, repository: Path, tmp_path: Path, git: Git
):
    text = found_session.read_text(encoding="utf-8")
    found_session.write_text(_moved(text, time.time() - 600), encoding="utf-8")
    hook(event(found_session, "SessionEnd"), at=repository)
    drain(repository)
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(repository), str(clone))
    assert Store.open(clone).pull("origin").moved
    assert _start(clone, "n", "startup") == ""


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({}, ""),
        ({"agent": "claude"}, "claude-code"),
        ({"transcript_path": "C:\\Users\\a\\.claude\\projects\\x\\s.jsonl"}, "claude-code"),
        ({"turn_id": "1"}, "codex"),
        ({"thread-id": "1", "type": "agent-turn-complete"}, "codex"),
    ],
)
def test_the_payload_tells_the_host(payload: dict[str, Any], expected: str):
    assert host.agent(payload, {}) == expected
