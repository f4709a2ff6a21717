"""Which sessions belong to a directory: relations, folding, ties, doubts, what is remembered."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkpoint.discover import choose, doubts, relation, sessions
from checkpoint.errors import ReadError

Git = Callable[..., str]

T = 1772442000


def _claude(home: Path, directory: Path, session: str, at: int, words: str = "go") -> Path:
    folder = (
        home
        / ".claude"
        / "projects"
        / "".join(c if c.isalnum() and c.isascii() else "-" for c in str(directory))
    )
    folder.mkdir(parents=True, exist_ok=True)
    records = [
        {"type": "user", "uuid": f"u{n}", "parentUuid": None, "sessionId": session,
         "cwd": str(directory), "timestamp": f"2026-03-02T09:{at // 60:02d}:{at % 60:02d}.000Z",
         "message": {"role": "user", "content": words}}
        for n in range(2)
    ]  # fmt: skip
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def _name(number: int) -> str:
    return f"{number:08d}-1111-4222-8333-444455556666"


class _Store:
    """opencode's database, as far as listing needs it."""

    def __init__(self, home: Path) -> None:
        folder = home / ".local" / "share" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "opencode.db"
        self.database = sqlite3.connect(self.path)
        self.database.executescript(
            "CREATE TABLE project(id TEXT);"
            "CREATE TABLE session(id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title "
            "TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);"
            "CREATE TABLE message(id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
            "CREATE TABLE part(id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
        )

    def add(self, session: str, directory: Path, at: int, **more: Any) -> None:
        given = {"project_id": "global", "parent_id": None, "title": "T", "time_archived": None,
                 "messages": 1, **more}  # fmt: skip
        self.database.execute(
            "INSERT INTO session VALUES(?,?,?,?,?,?,?,?)",
            (session, given["project_id"], given["parent_id"], str(directory), given["title"],
             T * 1000, (T + 99_999) * 1000, given["time_archived"]),
        )  # fmt: skip
        for number in range(given["messages"]):
            self.database.execute(
                "INSERT INTO message VALUES(?,?,?,'{}')",
                (f"{session}-{number}", session, (T + at) * 1000),
            )
        self.database.commit()


@pytest.fixture
def store(home: Path) -> Any:
    made = _Store(home)
    yield made
    made.database.close()


def test_nothing_is_found_where_nothing_is(tmp_path: Path):
    assert sessions(tmp_path) == []
    with pytest.raises(ReadError, match=r"no session of any agent was recorded here.*--all"):
        choose(tmp_path)
    with pytest.raises(ReadError, match="no session of opencode was"):
        choose(tmp_path, "opencode")


def test_an_unknown_agent_is_named(tmp_path: Path):
    with pytest.raises(ReadError, match="no reader is called 'nobody'"):
        sessions(tmp_path, ["nobody"])


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        ("", ""),
        ("relative", ""),
        ("/", ""),
        ("{top}/../other", ""),
        ("{top}-2", ""),
        ("{top}/src", "recorded in this directory"),
        ("{top}/src/../src", "recorded in this directory"),
        ("{top}/src/deep/er", "recorded below this directory"),
        ("{top}", "recorded in this work tree"),
        ("{top}/tests", "recorded in this work tree"),
        ("{beside}", "recorded in another work tree of this repository"),
        ("{beside}/src", "recorded in another work tree of this repository"),
        ("{removed}/src", "recorded in another work tree of this repository"),
        ("{clone}", ""),
        ("{link}", "recorded in this directory"),
    ],
)
def test_relation(recorded: str, reason: str, repository: Path, git: Git, tmp_path: Path):
    for name in ("src", "tests"):
        (repository / name).mkdir(exist_ok=True)
    beside, removed, link = tmp_path / "beside", tmp_path / "removed", tmp_path / "link"
    for tree in (beside, removed):
        git("worktree", "add", "--quiet", str(tree), at=repository)
    git("clone", "--quiet", str(repository), str(tmp_path / "clone"))
    (removed / ".git").unlink()
    removed.rename(tmp_path / "gone")
    link.symlink_to(repository / "src")
    places = {"top": repository, "beside": beside, "removed": removed, "link": link,
              "clone": tmp_path / "clone"}  # fmt: skip
    assert relation(recorded.format(**places), repository / "src") == reason


def test_lists_the_newest_first_and_folds(home: Path, tmp_path: Path, store: _Store):
    here = tmp_path / "kettle"
    here.mkdir()
    _claude(home, here, _name(1), 50)
    store.add("ses_new", here, 90)
    store.add("ses_child", here, 95, parent_id="ses_new")
    store.add("ses_empty", here, 96, messages=0)
    store.add("ses_archived", here, 97, time_archived=1)
    store.add("ses_other", tmp_path / "elsewhere", 98)
    found = sessions(here)
    assert [(one.agent, one.session, one.subagents) for one in found] == [
        ("opencode", "ses_new", 1),
        ("claude-code", _name(1), 0),
    ]
    assert found[0].updated == T + 90  # of the last message, not of the session's row
    assert [one.session for one in sessions(here, "claude-code")] == [_name(1)]
    assert [one.session for one in sessions(None)] == ["ses_other", "ses_new", _name(1)]


def test_chooses_the_newest_and_says_why(home: Path, tmp_path: Path, store: _Store):
    here = tmp_path / "kettle"
    here.mkdir()
    _claude(home, here, _name(1), 50)
    store.add("ses_new", here, 90)
    choice = choose(here)
    assert choice.found.session == "ses_new"
    assert choice.reason == "opencode session ses_new: the newest recorded in this directory (of 2)"
    assert (choice.ties, choice.doubts) == ((), ())


def test_ties_are_shown(home: Path, tmp_path: Path, store: _Store):
    here = tmp_path / "kettle"
    here.mkdir()
    _claude(home, here, _name(1), 89)
    store.add("ses_new", here, 90)
    choice = choose(here)
    assert [one.session for one in choice.ties] == [_name(1)]
    assert choice.reason.endswith(f"; as new is claude-code {_name(1)}")


def test_a_newer_one_of_another_work_tree_is_said(
    home: Path, repository: Path, git: Git, tmp_path: Path, store: _Store
):
    git("worktree", "add", "--quiet", str(tmp_path / "beside"), at=repository)
    store.add("ses_here", repository, 10)
    store.add("ses_beside", tmp_path / "beside", 90)
    choice = choose(repository)
    assert choice.found.session == "ses_here"
    assert choice.reason.endswith(
        "; newer, but recorded in another work tree of this repository: opencode ses_beside"
    )
    assert choose(tmp_path / "beside").found.session == "ses_beside"


def test_a_moved_repository_is_a_doubt(repository: Path, git: Git, tmp_path: Path, store: _Store):
    first = git("rev-list", "--max-parents=0", "HEAD", at=repository).strip()
    store.add("ses_moved", tmp_path / "old-place", 10, project_id=first)
    store.add("ses_foreign", tmp_path / "gone-too", 20, project_id="ab" * 20)
    store.add("ses_clone", tmp_path, 30, project_id=first)  # that place is still there
    assert sessions(repository) == []
    assert [one.session for one in doubts(repository)] == ["ses_moved"]
    with pytest.raises(ReadError, match=r"ses_moved was recorded in .*old-place, which is gone"):
        choose(repository)
    store.add("ses_here", repository, 5)
    choice = choose(repository)
    assert choice.found.session == "ses_here"
    assert [one.session for one in choice.doubts] == ["ses_moved"]
    assert "which is gone, at a commit of this repository: opencode ses_moved" in choice.reason


def test_git_variables_of_a_hook_do_not_mislead(
    repository: Path, git: Git, tmp_path: Path, store: _Store, monkeypatch: pytest.MonkeyPatch
):
    first = git("rev-list", "--max-parents=0", "HEAD", at=repository).strip()
    store.add("ses_moved", tmp_path / "old-place", 10, project_id=first)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert [one.session for one in doubts(repository)] == ["ses_moved"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "checkpoint" / "sessions.msgpack"


def test_a_file_is_not_opened_again_until_it_changes(home: Path, tmp_path: Path, cache: Path):
    here = tmp_path / "kettle"
    path = _claude(home, here, _name(1), 10)
    before, times = sessions(here), path.stat()
    # What cannot be noticed proves that the file is not opened: same size, same time.
    path.write_bytes(b"\n" * times.st_size)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert sessions(here) == before
    assert len(before) == 1
    path.write_bytes(b"\n" * times.st_size)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert sessions(here) == []


def test_rows_in_the_log_beside_a_database_are_noticed(tmp_path: Path, cache: Path, store: _Store):
    store.database.execute("PRAGMA journal_mode=WAL")
    store.add("ses_one", tmp_path, 10)
    assert len(sessions(tmp_path)) == 1
    store.add("ses_two", tmp_path, 20)
    assert len(sessions(tmp_path)) == 2


def test_secrets_in_titles_are_kept_nowhere(home: Path, tmp_path: Path, cache: Path):
    here = tmp_path / "kettle"
    secret = "ghp_" + "k3TTle9Zq2" * 3 + "aB4xYz"
    _claude(home, here, _name(1), 10, f"use {secret} for it")
    cold, warm = sessions(here), sessions(here)
    assert cold == warm
    assert secret not in cold[0].title
    assert cold[0].title.startswith("use ")
    assert secret.encode() not in cache.read_bytes()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\x00nonsense", b"\x82\xa7version\x01\xa5files\xc0"])
def test_a_broken_cache_is_made_anew(content: bytes, home: Path, tmp_path: Path, cache: Path):
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content)
    _claude(home, tmp_path, _name(1), 10)
    assert len(sessions(tmp_path)) == 1
    assert len(cache.read_bytes()) > 60


def test_a_cache_that_cannot_be_written_is_no_error(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    _claude(home, tmp_path, _name(1), 10)
    assert len(sessions(tmp_path)) == 1


def test_a_damaged_store_hides_no_other(home: Path, tmp_path: Path, store: _Store):
    store.database.close()
    raw = store.path.read_bytes()
    store.path.write_bytes(raw[:60] + b"\xff" * 900 + raw[960:])
    _claude(home, tmp_path, _name(1), 10)
    assert [one.agent for one in sessions(tmp_path)] == ["claude-code"]
