"""What is shipped for agents: Claude's plugin, opencode's, the ids for pre-commit, the server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from checkpoint import __version__
from checkpoint.cli import _server
from checkpoint.hooks.table import AGENTS, entries

from .conftest import ROOT, Checkpoint, process


def test_claudes_plugin_has_the_hooks_that_are_installed_in_projects():
    given = json.loads((ROOT / "plugin" / "hooks" / "hooks.json").read_text())["hooks"]
    wanted = entries(AGENTS["claude"], "project")
    assert given == {event: [entry] for event, entry in wanted.items()}


def test_claudes_plugin_is_of_this_version_and_in_the_marketplace():
    plugin = json.loads((ROOT / "plugin" / ".claude-plugin" / "plugin.json").read_text())
    assert plugin["version"] == __version__
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    [one] = market["plugins"]
    assert (one["name"], (ROOT / one["source"]).is_dir()) == (plugin["name"], True)


@pytest.mark.parametrize("skill", ["save", "resume"])
def test_a_skill_calls_what_there_is(skill: str):
    text = (ROOT / "plugin" / "skills" / skill / "SKILL.md").read_text()
    head = yaml.safe_load(text.split("---")[1])
    assert head["name"] == skill
    [called] = re.findall(rf"`(checkpoint {skill} [^`]*)`", text)
    shown = process(skill, "--help").stdout
    for option in re.findall(r"--[a-z-]+", called):
        assert option in shown


def test_the_ids_for_pre_commit_call_what_there_is():
    given = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [one["id"] for one in given] == ["checkpoint-post-commit", "checkpoint-save"]
    for one in given:
        assert {"name", "entry", "language", "stages"} <= set(one)
        assert one["entry"].split()[0] in ("checkpoint", "checkpoint-hook")


def test_opencodes_plugin_calls_the_program_that_is_installed(checkpoint: Checkpoint, home: Path):
    checkpoint("hooks", "install", "opencode")
    text = (home / ".config" / "opencode" / "plugins" / "checkpoint.js").read_text()
    [program] = re.findall(r"CHECKPOINT_HOOK_BIN \|\| (\".*\")", text)
    done = subprocess.run(
        [json.loads(program), "--agent", "opencode"], input=b"{}", capture_output=True, check=True
    )
    assert done.stdout == b""


def test_a_compaction_is_told_what_to_keep(
    checkpoint: Checkpoint, found_session: Path, repository: Path, demo: Any
):
    checkpoint("save")
    command = [
        sys.executable,
        "-m",
        "checkpoint.hooks",
        "compact-context",
        "--agent",
        "claude-code",
    ]
    for session, expected in ((demo.SESSION, True), ("other", False)):
        done = subprocess.run(
            [*command, "--session", session], cwd=repository, capture_output=True, check=True,
            env={**os.environ, "CHECKPOINT_DEADLINE_S": "60"},
        )  # fmt: skip
        assert bool(done.stdout) is expected
        assert len(done.stdout.decode()) <= 2_000


def tool(directory: Path, name: str) -> Any:
    return next(one for one in _server.tools(directory) if one.__name__ == name)


def test_the_servers_tools(
    checkpoint: Checkpoint, found_session: Path, repository: Path, demo: Any
):
    assert tool(repository, "list_checkpoints")() == []
    checkpoint("save")
    [listed] = tool(repository, "list_checkpoints")()
    assert listed["session"] == demo.SESSION
    whole = tool(repository, "get_checkpoint")()
    part = tool(repository, "get_checkpoint")(section="next steps")
    assert whole.count("<checkpoint-notes nonce=") == part.count("<checkpoint-notes nonce=") == 1
    assert "## Next steps" in part
    assert "## Goal" not in part
    assert tool(repository, "search_checkpoints")("matrix")
    assert tool(repository, "add_note")("Seen over there", kind="finding")["note"]
    assert "Seen over there" in tool(repository, "resume_briefing")()


def test_without_the_sdk_the_server_says_what_to_install(repository: Path):
    hidden = (
        "import sys; sys.modules['mcp'] = None; from checkpoint.cli import run; sys.exit(run())"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden, "mcp"], cwd=repository, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "pip install 'session-checkpoint[mcp]'" in done.stderr
