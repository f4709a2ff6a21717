"""Fixtures shared by all: a pinned home and identity, real git repositories, the demo session."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import settings as hypothesis_settings

ROOT = Path(__file__).parent.parent

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Tester",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Tester",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}

Git = Callable[..., str]

# A machine that is busy with something else must not fail a test.
hypothesis_settings.register_profile("unhurried", deadline=None)
hypothesis_settings.load_profile("unhurried")


class Ran(NamedTuple):
    """What one command line did."""

    code: int
    out: str
    err: str


Checkpoint = Callable[..., Ran]


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no settings, sessions or git configuration of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "XDG_", "CLAUDE", "CODEX", "OPENCODE", "CHECKPOINT", "_CHECK")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in a directory (`tmp_path` if none is given) and return what it prints."""

    def run(*arguments: str, at: Path = tmp_path) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=at, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A repository with one commit on `main`, and one file."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git("init", "--quiet", "--initial-branch", "main", at=folder)
    (folder / "README").write_text("A project.\n", encoding="utf-8")
    git("add", "README", at=folder)
    git("commit", "--quiet", "-m", "Begin", at=folder)
    return folder


@pytest.fixture(scope="session")
def demo() -> ModuleType:
    """The module `demo/session.py`, which writes the demo session."""
    spec = importlib.util.spec_from_file_location("session", ROOT / "demo" / "session.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def demo_session(tmp_path: Path, demo: ModuleType) -> Path:
    """The demo session as a file; it says that its directory is `tmp_path / "repository"`."""
    written: Path = demo.write(str(tmp_path / "repository"), tmp_path / "session.jsonl")
    return written


@pytest.fixture
def found_session(home: Path, repository: Path, demo: ModuleType) -> Path:
    """The demo session where Claude Code would keep it for `repository`, so that it is found."""
    slug = "".join(c if c.isalnum() else "-" for c in str(repository))
    path = home / ".claude" / "projects" / slug / f"{demo.SESSION}.jsonl"
    written: Path = demo.write(str(repository), path)
    return written


@pytest.fixture
def checkpoint(
    capsys: pytest.CaptureFixture[str], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> Checkpoint:
    """Run one command line, in the repository."""
    from checkpoint.cli import run

    monkeypatch.chdir(repository)

    def call(*arguments: object) -> Ran:
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return call


def process(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run one command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "checkpoint", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **more,
    )
