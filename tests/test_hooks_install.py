"""Our entries in other programs' settings and in git's hooks: put in, taken out, byte for byte."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkpoint.hooks import git_hooks, json_text
from checkpoint.hooks.table import AGENTS, settings_file
from checkpoint.store import Store

from .conftest import Checkpoint, Git
from .hooking import drain, wait

FORMS = [name for name, agent in AGENTS.items() if agent.form in ("claude", "cursor")]
OTHERS = '{"type": "command", "command": "lint --fix", "timeout": 3, "x-own": [1,2 ,3]}'
SETTINGS: dict[str, bytes] = {
    "empty": b"{}",
    "no line end": b'{\n  "model": "x"\n}',
    "tabs": b'{\n\t"model": "x",\n\t"hooks": {}\n}\n',
    "four spaces, windows": b'{\r\n    "a": 1,\r\n    "hooks": {"Stop": []}\r\n}\r\n',
    "byte order mark": b'\xef\xbb\xbf{"a": 1}\n',
    "by hand": b'{ "z":1 ,\n "hooks" : {"Stop":[ {"hooks":[' + OTHERS.encode() + b" ]} ],\n"
    b'   "stop": [' + OTHERS.encode() + b'], "Strange": 3 },\n  "a":[ ] }\n\n',
    "one line": b'{"hooks":{"SessionEnd":[{"matcher":"x","hooks":[' + OTHERS.encode() + b"]}]}}",
    "no ascii": '{"name": "Zoë — „hooks“ \\u00e9", "hooks": {}}\n'.encode(),
}


def path_of(name: str) -> Path:
    return settings_file(AGENTS[name], "user", Path())


@pytest.mark.parametrize("agent", FORMS)
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_come_back_byte_for_byte(agent: str, name: str, checkpoint: Checkpoint):
    path = path_of(agent)
    path.parent.mkdir(parents=True)
    path.write_bytes(SETTINGS[name])
    path.chmod(0o600)
    assert checkpoint("hooks", "install", agent).code == 0
    once = path.read_bytes()
    given = json.loads(once.decode("utf-8-sig"))
    assert set(AGENTS[agent].events) <= set(given["hooks"])
    assert path.stat().st_mode & 0o777 == 0o600
    for kept in (OTHERS, '"Strange": 3', "„hooks“ \\u00e9"):
        if kept.encode() in SETTINGS[name]:
            assert kept.encode() in once
    assert checkpoint("hooks", "install", agent).out.startswith(f"{agent}: nothing to change")
    assert path.read_bytes() == once
    assert checkpoint("hooks", "remove", agent).code == 0
    assert path.read_bytes() == SETTINGS[name]


@pytest.mark.parametrize("agent", [*AGENTS])
def test_where_nothing_was_nothing_is_left(agent: str, checkpoint: Checkpoint, home: Path):
    before = sorted(home.rglob("*"))
    assert checkpoint("hooks", "install", agent).code == 0
    assert path_of(agent).is_file()
    assert checkpoint("hooks", "status").out.splitlines()[1].startswith(agent)
    assert checkpoint("hooks", "remove", agent).code == 0
    left = [one for one in sorted(home.rglob("*")) if ".local" not in one.parts]
    assert left == before


def test_a_file_that_others_changed_meanwhile_loses_only_our_part(checkpoint: Checkpoint):
    path = path_of("claude")
    path.parent.mkdir(parents=True)
    path.write_bytes(SETTINGS["by hand"])
    checkpoint("hooks", "install", "claude")
    text = path.read_text()
    path.write_text(text.replace('"z":1 ,', '"z":1 ,\n "new":  true,'))
    checkpoint("hooks", "install", "claude")
    checkpoint("hooks", "remove", "claude")
    expected = SETTINGS["by hand"].replace(b'"z":1 ,', b'"z":1 ,\n "new":  true,')
    assert path.read_bytes() == expected


def test_our_hook_in_a_group_with_others_is_taken_out_alone(checkpoint: Checkpoint):
    path = path_of("claude")
    path.parent.mkdir(parents=True)
    group = {"hooks": [{"command": "a"}, {"command": "/old/checkpoint-hook"}, {"command": "b"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [group]}}))
    checkpoint("hooks", "remove", "claude")
    left = json.loads(path.read_text())["hooks"]["Stop"]
    assert left == [{"hooks": [{"command": "a"}, {"command": "b"}]}]


@pytest.mark.parametrize(
    "text", ['{"a": 1, // why\n}', "{", '{"hooks": []}', "[]", '{"a": 1, "a": 2}', "\x00"]
)
def test_what_is_not_plain_json_is_left_alone(text: str, checkpoint: Checkpoint):
    path = path_of("claude")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = checkpoint("hooks", "install", "claude")
    assert done.code == 1
    assert "not plain JSON" in done.err
    assert '"SessionEnd"' in done.err, "it shows what to put in by hand"
    assert path.read_text() == text


def test_a_trial_changes_nothing(checkpoint: Checkpoint, home: Path):
    done = checkpoint("hooks", "install", "--dry-run", "claude", "cursor", "opencode")
    assert done.code == 0
    assert "+++" in done.out
    assert [one for one in home.rglob("*") if one.is_file()] == []


def test_a_link_stays_a_link(checkpoint: Checkpoint, home: Path, tmp_path: Path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    path = path_of("claude")
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    checkpoint("hooks", "install", "claude")
    assert path.is_symlink()
    assert b"checkpoint-hook" in real.read_bytes()
    checkpoint("hooks", "remove", "claude")
    assert real.read_text() == "{}\n"


def test_codex_has_one_command_for_ever(checkpoint: Checkpoint):
    checkpoint("hooks", "install", "codex")
    hooks = json.loads(path_of("codex").read_text())["hooks"]
    commands = {one["command"] for groups in hooks.values() for g in groups for one in g["hooks"]}
    assert commands == {"checkpoint-hook"}


def test_a_projects_hooks_do_nothing_where_the_program_is_missing(
    checkpoint: Checkpoint, repository: Path
):
    checkpoint("hooks", "install", "claude", "--project")
    hooks = json.loads((repository / ".claude" / "settings.json").read_text())["hooks"]
    text = hooks["Stop"][0]["hooks"][0]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", text], env={"PATH": "/nowhere"}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_server_is_registered_and_taken_out(checkpoint: Checkpoint, home: Path):
    own = home / ".claude.json"
    own.write_text('{"numStartups": 3, "mcpServers": {"other": {"command": "x"}}}')
    before = own.read_bytes()
    checkpoint("hooks", "install", "claude", "gemini", "--mcp")
    assert json.loads(own.read_text())["mcpServers"]["checkpoint"]["args"] == ["mcp"]
    gemini = json.loads(path_of("gemini").read_text())
    assert set(gemini) == {"hooks", "mcpServers"}
    checkpoint("hooks", "remove", "claude", "gemini")
    assert own.read_bytes() == before
    assert not path_of("gemini").exists()


@pytest.mark.parametrize(
    "text",
    ["{}", '{"a":[1,{"b":"]}"}],"c":null}', ' {"\\u0022x" : "\\\\" , "hooks":{}} ', "[[],{}]"],
)
def test_values_are_found_where_they_stand(text: str):
    node = json_text.parse(text)
    assert json_text.value(text, node) == json.loads(text)
    for name, one in node.members.items():
        assert json_text.value(text, one) == json.loads(text)[name]


# git


def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat git as one without hooks in its configuration."""
    monkeypatch.setattr(git_hooks, "CONFIG_HOOKS", (999, 0))


@pytest.mark.parametrize(
    "former", [None, b"#!/bin/sh\necho mine\nexit 0\n", b"#! /usr/bin/env bash\nexec true\n"]
)
def test_a_hook_file_comes_back_byte_for_byte(
    former: bytes | None, checkpoint: Checkpoint, repository: Path, monkeypatch: pytest.MonkeyPatch
):
    old(monkeypatch)
    path = repository / ".git" / "hooks" / "post-commit"
    if former is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(former)
        path.chmod(0o755)
    assert checkpoint("hooks", "install", "git").code == 0
    once = path.read_bytes()
    assert os.access(path, os.X_OK)
    checkpoint("hooks", "install", "git")
    assert path.read_bytes() == once
    assert "post-commit" in checkpoint("hooks", "status").out
    checkpoint("hooks", "remove", "git")
    assert (path.read_bytes() if path.exists() else None) == former


def test_a_hook_of_another_language_is_chained_and_given_back(
    checkpoint: Checkpoint, repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch
):
    old(monkeypatch)
    path = repository / ".git" / "hooks" / "post-commit"
    path.parent.mkdir(exist_ok=True)
    former = f"#!{sys.executable}\nopen('ran', 'w').close()\n"
    path.write_text(former)
    path.chmod(0o755)
    monkeypatch.setenv("CHECKPOINT_DISABLE", "1")
    checkpoint("hooks", "install", "git")
    git("commit", "--quiet", "--allow-empty", "-m", "x", at=repository)
    assert (repository / "ran").exists()
    checkpoint("hooks", "remove", "git")
    assert path.read_text() == former


@pytest.mark.parametrize("manager", ["husky", "lefthook", "hooksPath", "pre-commit"])
def test_where_a_manager_owns_the_hooks_it_is_said_what_to_add(
    manager: str, checkpoint: Checkpoint, repository: Path, git: Git,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    old(monkeypatch)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    if manager == "husky":
        (repository / ".husky").mkdir()
    elif manager == "lefthook":
        (repository / "lefthook.yml").write_text("pre-commit: {}\n")
    elif manager == "hooksPath":
        git("config", "core.hooksPath", ".hooks", at=repository)
    else:
        (hooks / "post-commit").write_text("#!/bin/sh\n# File generated by pre-commit.com\n")
    before = {one: one.read_bytes() for one in hooks.iterdir()}
    done = checkpoint("hooks", "install", "git")
    assert done.code == 0
    assert "add th" in done.err
    assert {one: one.read_bytes() for one in hooks.iterdir()} == before


def test_git_2_54_takes_hooks_from_its_configuration(
    checkpoint: Checkpoint, repository: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(git_hooks, "CONFIG_HOOKS", (2, 0))
    config = repository / ".git" / "config"
    before = config.read_bytes()
    checkpoint("hooks", "install", "git")
    assert b"checkpoint-post-commit" in config.read_bytes()
    once = config.read_bytes()
    checkpoint("hooks", "install", "git")
    assert config.read_bytes() == once
    checkpoint("hooks", "remove", "git")
    assert config.read_bytes() == before


def test_each_commit_has_its_checkpoint(
    checkpoint: Checkpoint, repository: Path, found_session: Path, git: Git
):
    checkpoint("hooks", "install", "git")
    heads = []
    for name in ("one", "two"):
        (repository / name).write_text(name)
        git("add", name, at=repository)
        git("commit", "--quiet", "-m", name, at=repository)
        heads.append(git("rev-parse", "HEAD", at=repository))
    store = Store.open(repository)
    wait(lambda: {one.head for one in store.list()} >= set(heads))
    assert {one.reason for one in store.list()} == {"commit"}


def test_a_save_that_fails_never_fails_the_commit(
    checkpoint: Checkpoint, repository: Path, home: Path, git: Git, monkeypatch: pytest.MonkeyPatch
):
    checkpoint("hooks", "install", "git")
    refs = repository / ".git" / "refs" / "checkpoints"
    refs.write_text("in the way\n")  # no ref can be written below it
    git("commit", "--quiet", "--allow-empty", "-m", "x", at=repository)
    monkeypatch.setenv("PATH", str(_only_git(home)))
    git("commit", "--quiet", "--allow-empty", "-m", "y", at=repository)
    assert git("log", "-1", "--format=%s", at=repository) == "y"


def _only_git(home: Path) -> Path:
    """Return a folder for the PATH with git and a shell, and nothing of ours."""
    folder = home / "bin"
    folder.mkdir()
    for name in ("git", "sh"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def test_the_doctor_finds_what_would_not_run(checkpoint: Checkpoint, repository: Path):
    assert checkpoint("doctor").code == 0
    checkpoint("hooks", "install", "claude")
    good = checkpoint("doctor")
    assert good.code == 0
    assert "claude (user)" in good.out
    path = path_of("claude")
    given: dict[str, Any] = json.loads(path.read_text())
    for groups in given["hooks"].values():
        groups[0]["hooks"][0]["command"] = "/gone/checkpoint-hook"
    path.write_text(json.dumps(given))
    bad = checkpoint("doctor")
    assert bad.code == 1
    assert "/gone/checkpoint-hook, which is not found" in bad.out


def test_the_doctor_shows_what_failed_and_why(checkpoint: Checkpoint, repository: Path):
    folder = repository / ".git" / "checkpoint" / "spool"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text("no event")
    drain(repository)
    done = checkpoint("doctor", "--json")
    assert done.code == 1
    assert any("not an event" in one["text"] for one in json.loads(done.out)["findings"])
