"""The hook itself: what it spools, what it answers, what it never does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkpoint.hooks import host, places

from .conftest import Git
from .hooking import HOOK, IDLE, hook, spool

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


def test_the_commit_is_read_as_git_reads_it(repository: Path, tmp_path: Path, git: Git):
    tree = tmp_path / "tree"
    git("worktree", "add", "--quiet", str(tree), at=repository)
    git("commit", "--quiet", "--allow-empty", "-m", "there", at=tree)
    below = repository / "below"
    below.mkdir()
    for place in (repository, below, tree):
        assert places.head(str(place)) == git("rev-parse", "HEAD", at=place)
    git("checkout", "--quiet", "--detach", at=repository)
    assert places.head(str(repository)) == git("rev-parse", "HEAD", at=repository)
    empty = tmp_path / "empty"
    git("init", "--quiet", str(empty))
    assert places.head(str(empty)) == ""
    assert places.head("/") == ""


def test_git_is_answered_with_nothing_and_only_a_commit_is_noted(repository: Path, git: Git):
    for name in ("post-commit", "pre-push", "strange"):
        done, _ = hook(b"", "--git", name, at=repository)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [kept] = spool(repository)
    assert kept["payload"] == {"head": git("rev-parse", "HEAD", at=repository)}
