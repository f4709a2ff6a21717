"""Where Claude Code and Codex keep sessions, and what is learned of one without reading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkpoint.readers import by_name
from checkpoint.readers._claude_find import slug_of

CLAUDE, CODEX = by_name("claude-code"), by_name("codex")
SESSION = "0f0f0f0f-1111-4222-8333-444455556666"


def _user(number: int, words: str) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": SESSION,
        "gitBranch": "main",
        "timestamp": f"2026-03-02T09:00:{number:02d}.000Z",
        "message": {"role": "user", "content": words},
    }


def _write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def _store(folder: Path, directory: str, name: str, records: list[dict[str, Any]]) -> Path:
    changed = [{**one, "cwd": directory} for one in records]
    return _write(folder / "projects" / slug_of(directory) / name, changed)


@pytest.mark.parametrize(
    ("directory", "slug"),
    [
        ("/home/u/b-c", "-home-u-b-c"),
        ("/home/u/b.c", "-home-u-b-c"),
        ("/home/u/\u6570\u636e", "-home-u---"),
        ("/" + "x" * 300, "-" + "x" * 199),
    ],
)
def test_names_the_folder_of_a_directory(directory: str, slug: str):
    assert slug_of(directory) == slug


def test_finds_sessions(home: Path, tmp_path: Path):
    here, other = tmp_path / "pump", tmp_path / "elsewhere"
    here.mkdir()
    talk = [_user(0, "make it so"), _user(9, "ok")]
    title = {"type": "ai-title", "aiTitle": "So"}
    main = _store(home / ".claude", str(here), f"{SESSION}.jsonl", [*talk, title])
    child = _store(home / ".claude", str(here), "agent-a1.jsonl",
                   [{**one, "isSidechain": True} for one in talk])  # fmt: skip
    empty = _store(home / ".claude", str(here), "00000000-1111-4222-8333-444455556666.jsonl",
                   [{"type": "summary", "summary": "x"}])  # fmt: skip
    _store(home / ".claude", str(other), f"{SESSION}.jsonl", talk)
    found = {one.path: one for one in CLAUDE.find(here)}
    assert set(found) == {main, child, empty}
    assert len(list(CLAUDE.find())) == 4
    one = found[main]
    assert (one.session, one.title, one.directory) == (SESSION, "So", str(here))
    assert (one.started, one.updated) == (1772442000.0, 1772442009.0)
    assert (one.subagent, one.empty, one.branch) == (False, False, "main")
    assert (found[child].subagent, found[child].parent) == (True, SESSION)
    assert found[empty].empty


def test_finds_sessions_of_the_other_work_trees(home: Path, repository: Path, git: Any):
    tree = repository.parent / "second"
    git("worktree", "add", "--quiet", str(tree), at=repository)
    talk = [_user(0, "make it so"), _user(1, "ok")]
    path = _store(home / ".claude", str(tree), f"{SESSION}.jsonl", talk)
    assert [one.path for one in CLAUDE.find(repository)] == [path]
    first = _store(home / ".claude", str(repository), f"{SESSION}.jsonl", talk)
    assert {one.path for one in CLAUDE.find(tree)} == {path, first}


def test_the_environment_names_another_store(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    path = _store(tmp_path / "config", "/x", f"{SESSION}.jsonl", [_user(0, "go")])
    assert [one.path for one in CLAUDE.find()] == [path]


def _rollout(folder: Path, name: str, directory: str, words: str, **meta: Any) -> Path:
    about = {"id": name, "timestamp": "2026-03-02T09:00:00.000Z", "cwd": directory, **meta,
             "base_instructions": {"text": "x" * 30_000}}  # fmt: skip
    typed = {"type": "user_message", "message": words}
    records = [
        {"timestamp": "2026-03-02T09:00:01.000Z", "type": "session_meta", "payload": about},
        {"timestamp": "2026-03-02T09:00:02.000Z", "type": "event_msg", "payload": typed},
    ]
    return _write(folder / f"rollout-2026-03-02T09-00-00-{name}.jsonl", records)


def test_finds_rollouts(home: Path):
    day = home / ".codex" / "sessions" / "2026" / "03" / "02"
    main = _rollout(day, "a", "/home/ada/pump", "make it so\nplease")
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "a", "depth": 1}}}
    child = _rollout(day, "b", "/home/ada/pump", "look", source=spawn)
    fork = _rollout(home / ".codex" / "archived_sessions", "c", "/x", "on", forked_from_id="a")
    _write(home / ".codex" / "session_index.jsonl", [{"id": "c", "thread_name": "The fork"}])
    found = {one.path: one for one in CODEX.find(Path("/home/ada/pump"))}
    assert set(found) == {main, child, fork}
    one = found[main]
    assert (one.session, one.title, one.directory) == ("a", "make it so", "/home/ada/pump")
    assert (one.started, one.updated) == (1772442000.0, 1772442002.0)
    assert (one.subagent, one.empty, one.parent) == (False, False, "")
    assert (found[child].subagent, found[child].parent) == (True, "a")
    assert (found[fork].title, found[fork].parent) == ("The fork", "a")


def test_of_an_archived_rollout_the_longer_file_counts(home: Path):
    kept = _rollout(home / ".codex" / "archived_sessions", "a", "/x", "make it so, and on")
    _rollout(home / ".codex" / "sessions" / "2026" / "03" / "02", "a", "/x", "make it so")
    assert [one.path for one in CODEX.find()] == [kept]


def test_the_environment_names_another_codex_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    path = _rollout(tmp_path / "codex" / "sessions", "a", "/x", "go")
    assert [one.path for one in CODEX.find()] == [path]
