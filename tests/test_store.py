"""The store: what is written, where, and what is left alone."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checkpoint import __version__
from checkpoint.store import Checkpoint, Store
from checkpoint.store.refs import component, session_ref
from tests.conftest import ROOT, Git

WRITER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from checkpoint.store import Store
store = Store.open(Path(sys.argv[1]))
files = {{"state.json": sys.argv[3].encode()}}
made = store.write(agent="claude", session=sys.argv[2], files=files,
                   subject="From a process", body="", reason="test", messages=1)
print(made.commit if made else "")
"""


def save(store: Store, text: str = "one", session: str = "s1", **more: Any) -> Checkpoint | None:
    given: dict[str, Any] = {
        "agent": "claude",
        "session": session,
        "files": {"checkpoint.md": f"# {text}\n".encode(), "state.json": b"{}\n"},
        "subject": f"checkpoint: {text}",
        "body": "",
        "reason": "manual",
        "messages": 7,
    }
    return store.write(**{**given, **more})


def saved(store: Store, text: str = "one", session: str = "s1", **more: Any) -> Checkpoint:
    made = save(store, text, session, **more)
    assert made is not None
    return made


def world(folder: Path) -> dict[str, str]:
    """Every file's digest but objects and our own refs."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not re.search(r"(^|/)(objects|checkpoints|checkpoints-remotes)/", str(path))
    }


# What is not written


def test_opening_writes_nothing(tmp_path: Path, repository: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    outside = tmp_path / "plain"
    outside.mkdir()
    for folder in (repository, outside):
        store = Store.open(folder, data_home=tmp_path / "share")
        assert store.list(remote=True) == []
        assert store.latest("claude", "s1") is None
        assert store.writable()
    outside.rmdir()
    assert sorted(tmp_path.rglob("*")) == before


def test_same_state_twice_is_one_commit(repository: Path) -> None:
    store = Store.open(repository)
    first = saved(store)
    assert save(store, subject="other words", reason="session-end") is None
    assert store.list() == [first]


def test_user_world_stays_byte_for_byte(repository: Path, git: Git) -> None:
    (repository / "staged").write_text("staged")
    git("add", "staged", at=repository)
    (repository / "README").write_text("changed")
    (repository / "new").write_text("untracked")
    os.utime(repository / "staged", (1, 1))  # the index is stale: a plain `status` would rewrite it
    before = world(repository)

    store = Store.open(repository)
    made = saved(store)
    store.list(remote=True)
    store.read(made, "state.json")
    store.find(made.id)
    store.prune(keep=0)

    assert world(repository) == before
    assert git("branch", "--all", at=repository) == "* main"
    assert git("status", "--short", at=repository) == "M README\nA  staged\n?? new"


# Kinds of places


def _worktree(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side tree"), at=repository)
    return tmp_path / "side tree"


def _bare(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("clone", "--quiet", "--bare", str(repository), str(tmp_path / "bare.git"))
    return tmp_path / "bare.git"


def _detached(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("checkout", "--quiet", "--detach", at=repository)
    return repository


def _unborn(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("init", "--quiet", "--initial-branch", "fresh", str(tmp_path / "unborn"))
    return tmp_path / "unborn"


def _sha256(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("init", "--quiet", "--object-format=sha256", str(tmp_path / "long"))
    git("commit", "--quiet", "--allow-empty", "-m", "Begin", at=tmp_path / "long")
    return tmp_path / "long"


def _reftable(tmp_path: Path, repository: Path, git: Git) -> Path:
    try:
        git("init", "--quiet", "--ref-format=reftable", str(tmp_path / "table"))
    except subprocess.CalledProcessError:
        pytest.skip("this git has no reftable")
    return tmp_path / "table"


def _shallow(tmp_path: Path, repository: Path, git: Git) -> Path:
    git("commit", "--quiet", "--allow-empty", "-m", "Second", at=repository)
    git("clone", "--quiet", "--depth", "1", repository.as_uri(), str(tmp_path / "shallow"))
    return tmp_path / "shallow"


def _below(tmp_path: Path, repository: Path, git: Git) -> Path:
    (repository / "a b" / "ü").mkdir(parents=True)
    return repository / "a b" / "ü"


def _git_directory(tmp_path: Path, repository: Path, git: Git) -> Path:
    return repository / ".git"


def _outside(tmp_path: Path, repository: Path, git: Git) -> Path:
    (tmp_path / "no repository").mkdir()
    return tmp_path / "no repository"


PLACES = [
    (_worktree, "repository", "side", "0"),
    (_bare, "repository", "main", ""),
    (_detached, "repository", "", "0"),
    (_unborn, "repository", "fresh", "0"),
    (_sha256, "repository", "master", "0"),
    (_reftable, "repository", "master", "0"),
    (_shallow, "repository", "main", "0"),
    (_below, "repository", "main", "0"),
    (_git_directory, "repository", "main", ""),
    (_outside, "outside", "", ""),
]


@pytest.mark.parametrize(("make", "kind", "branch", "dirty"), PLACES)
def test_works_in(
    make: Callable[[Path, Path, Git], Path],
    kind: str,
    branch: str,
    dirty: str,
    tmp_path: Path,
    repository: Path,
    git: Git,
    home: Path,
) -> None:
    folder = make(tmp_path, repository, git)
    store = Store.open(folder)
    assert store.kind == kind

    first = saved(store, "one")
    second = saved(store, "two")
    assert save(store, "two") is None
    assert (second.parent, second.branch, second.dirty) == (first.commit, branch, dirty)
    if kind == "repository" and make is not _unborn and make is not _reftable:
        assert second.head == git("rev-parse", "HEAD", at=folder)
    else:
        assert second.head == ""

    again = Store.open(folder)
    assert again.list() == [second, first]
    assert again.read(first, "checkpoint.md") == b"# one\n"
    assert again.files(second) == ["checkpoint.md", "state.json"]
    assert "dangling" not in git("fsck", "--strict", at=store.repository.git_dir)
    if kind == "outside":
        assert store.repository.git_dir.is_relative_to(home / ".local" / "share" / "checkpoint")
        assert list(folder.iterdir()) == []


def test_work_trees_share_one_list(tmp_path: Path, repository: Path, git: Git) -> None:
    side = _worktree(tmp_path, repository, git)
    made = saved(Store.open(side))
    assert Store.open(repository).list() == [made]


def test_outside_follows_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    saved(Store.open(tmp_path / "one"))
    assert Store.open(tmp_path / "two").list() == []
    assert Store.open(tmp_path / "one", data_home=tmp_path / "other").list() == []
    (stored,) = (tmp_path / "xdg" / "checkpoint" / "stores").iterdir()
    assert re.fullmatch(r"one-[0-9a-f]{12}\.git", stored.name)
    assert stored.stat().st_mode & 0o077 == 0


# Surrounding git


def test_inside_a_post_commit_hook(repository: Path, git: Git, tmp_path: Path) -> None:
    script = tmp_path / "writer.py"
    script.write_text(WRITER)
    hook = repository / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" "{script}" "$PWD" hooked text >&2\n')
    hook.chmod(0o755)
    # `commit -- path` runs the hook with a GIT_INDEX_FILE that is not the real one
    (repository / "README").write_text("more")
    git("commit", "--quiet", "-m", "Second", "--", "README", at=repository)
    (made,) = Store.open(repository).list()
    assert made.head == git("rev-parse", "HEAD", at=repository)
    assert (made.session, made.dirty) == ("hooked", "0")


def test_callers_git_variables_are_not_obeyed(
    repository: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _unborn(tmp_path, repository, git)
    hostile = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git" / "objects"),
        "GIT_QUARANTINE_PATH": str(other / ".git" / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Mallory",
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    made = saved(Store.open(repository))
    assert {name: os.environ[name] for name in hostile} == hostile
    for name in hostile:
        monkeypatch.delenv(name)
    assert git("log", "-1", "--format=%an", made.commit, at=repository) == "checkpoint"
    assert git("for-each-ref", at=other) == ""


def test_own_hooks_of_the_repository_do_not_run(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    saved(Store.open(repository))


# The commit


def test_trailers_and_identity(repository: Path, git: Git) -> None:
    git("config", "user.name", "Bo <x> Li", at=repository)
    git("config", "user.email", "bo@example.org", at=repository)
    (repository / "new").write_text("untracked")
    at = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    body = "Words.\n\nCheckpoint-Id: forged\nCheckpoint-Session: forged\x00\x1b[2J"
    made = saved(Store.open(repository), body=body, continues="before", at=at)
    message = git("log", "-1", "--format=%an|%ae|%at%n%B", made.commit, at=repository)
    assert message == (
        f"Bo x Li|bo@example.org|{at.timestamp():.0f}\n"
        "checkpoint: one\n\nWords.\n\nCheckpoint-Id: forged\nCheckpoint-Session: forged  [2J\n\n"
        f"Checkpoint-Id: {made.id}\nCheckpoint-Agent: claude\nCheckpoint-Session: s1\n"
        "Checkpoint-Continues: before\nCheckpoint-Messages: 7\nCheckpoint-Reason: manual\n"
        f"Checkpoint-Head: {made.head}\nCheckpoint-Branch: main\nCheckpoint-Dirty: 1\n"
        f"Checkpoint-Version: {__version__}"
    )
    assert Store.open(repository).list() == [made]
    assert made.at == at


def test_newest_first_although_the_clock_jumps_back(repository: Path) -> None:
    store = Store.open(repository)
    late = datetime(2030, 1, 1, tzinfo=UTC)
    first = saved(store, "one", at=late)
    second = saved(store, "two", at=late - timedelta(days=900))
    assert store.list() == [second, first]
    assert second.at < first.at


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_signed_only_when_asked(repository: Path, git: Git, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    for name, value in [
        ("gpg.format", "ssh"),
        ("user.signingkey", str(key)),
        ("commit.gpgsign", "true"),
    ]:
        git("config", name, value, at=repository)
    store = Store.open(repository)
    plain, signed = saved(store, "one"), saved(store, "two", sign=True)
    assert "gpgsig" not in git("cat-file", "commit", plain.commit, at=repository)
    assert "gpgsig" in git("cat-file", "commit", signed.commit, at=repository)
    assert store.list() == [signed, plain]


def test_a_path_is_no_file_name(repository: Path) -> None:
    for name in ("../x", "a/b", ".git", "-rf", ""):
        with pytest.raises(ValueError, match="not a plain file name"):
            save(Store.open(repository), files={name: b""})


def test_only_the_command_of_gitpython_is_used() -> None:
    for path in (ROOT / "checkpoint").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"git\.Repo\b|from git\b|git\.db|gitdb|\.odb\b", text), path


# Names

NAMES = [
    "plain-1.2_3",
    "with spaces",
    "../../heads/main",
    "..",
    "-option",
    "--upload-pack=x",
    "会话 ü",
    "a.lock",
    ".hidden",
    "a..b",
    "a~1^2:3?*[\\",
    "@{u}",
    "x" * 300,
    "",
    "line\nbreak\x00\x1b",
    "\udcff",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_session_name_has_a_ref(name: str, repository: Path, git: Git) -> None:
    ref = session_ref(name, name)
    git("check-ref-format", ref)
    assert re.fullmatch(r"refs/checkpoints/[A-Za-z0-9][^/ ]{0,116}/[A-Za-z0-9][^/ ]{0,116}", ref)
    store = Store.open(repository)
    made = saved(store, "one", session=name, agent=name)
    assert made.ref == ref
    assert store.latest(name, name) == made
    assert git(
        "for-each-ref", "--format=%(refname)", at=repository
    ) == f"refs/heads/main\n{ref}" or (
        set(git("for-each-ref", "--format=%(refname)", at=repository).split())
        == {"refs/heads/main", ref}
    )


def test_no_two_names_share_a_ref() -> None:
    names = [*NAMES, component("with spaces"), "with-spaces", "a..lock", "a", "A"]
    assert len({component(name) for name in names}) == len(names)
    assert component("plain-1.2_3") == "plain-1.2_3"
