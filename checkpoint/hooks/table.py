"""The agents that can be hooked: where their settings lie, which events they have, in which form.

Sources: the agents' own documentation of hooks as of August 2026.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Form = Literal["claude", "cursor", "copilot", "plugin"]
Scope = Literal["user", "project"]

PROGRAM = "checkpoint-hook"
"""By this word in its command an entry is known as ours."""


@dataclass(frozen=True)
class Agent:
    """One agent that can be hooked."""

    name: str
    """As one writes it on the command line."""
    title: str
    form: Form
    user: str
    """The settings file, below the agent's folder."""
    project: str
    """The same below the top of a repository."""
    home: str
    """The agent's folder, below the user's home."""
    variable: str = ""
    """The environment variable that moves the folder."""
    events: tuple[str, ...] = ()
    timeout: int = 10
    """In the agent's own unit."""
    name_of_itself: str = ""
    """Passed as `--agent`, where only this agent reads the file."""
    after: str = ""
    """What the user has to do afterwards."""
    mcp: tuple[str, str, str] = ("", "", "")
    """File for the user (below the home), file for a project, key of the servers in it."""


AGENTS = {
    one.name: one
    for one in (
        Agent(
            "claude",
            "Claude Code",
            "claude",
            "settings.json",
            ".claude/settings.json",
            ".claude",
            "CLAUDE_CONFIG_DIR",
            ("SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"),
            mcp=(".claude.json", ".mcp.json", "mcpServers"),
        ),
        Agent(
            "codex",
            "Codex",
            "claude",
            "hooks.json",
            ".codex/hooks.json",
            ".codex",
            "CODEX_HOME",
            ("SessionStart", "PreCompact", "Stop", "SessionEnd"),
            after="open codex, run /hooks and approve the entries; until then it skips them. "
            "`codex mcp add checkpoint -- checkpoint mcp` registers the server",
        ),
        Agent(
            "opencode",
            "opencode",
            "plugin",
            "plugins/checkpoint.js",
            ".opencode/plugins/checkpoint.js",
            ".config/opencode",
            mcp=(".config/opencode/opencode.json", "opencode.json", "mcp"),
        ),
        Agent(
            "gemini",
            "Gemini CLI",
            "claude",
            "settings.json",
            ".gemini/settings.json",
            ".gemini",
            events=("SessionStart", "PreCompress", "AfterAgent", "SessionEnd"),
            timeout=10_000,
            name_of_itself="gemini-cli",
            mcp=(".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
        ),
        Agent(
            "cursor",
            "Cursor",
            "cursor",
            "hooks.json",
            ".cursor/hooks.json",
            ".cursor",
            events=("sessionStart", "preCompact", "stop", "sessionEnd"),
            name_of_itself="cursor",
            mcp=(".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
        ),
        Agent(
            "copilot",
            "Copilot CLI",
            "copilot",
            "hooks/checkpoint.json",
            ".github/hooks/checkpoint.json",
            ".copilot",
            "COPILOT_HOME",
            ("sessionStart", "preCompact", "agentStop", "sessionEnd"),
            name_of_itself="copilot-cli",
            mcp=(".copilot/mcp-config.json", "", "mcpServers"),
        ),
        Agent(
            "qwen",
            "Qwen Code",
            "claude",
            "settings.json",
            ".qwen/settings.json",
            ".qwen",
            events=("SessionStart", "PreCompact", "Stop", "SessionEnd"),
            timeout=10_000,
            name_of_itself="qwen-code",
            mcp=(".qwen/settings.json", ".qwen/settings.json", "mcpServers"),
        ),
    )
}


def folder(agent: Agent) -> Path:
    """Return the agent's folder of the user."""
    moved = os.environ.get(agent.variable) if agent.variable else ""
    if moved:
        return Path(moved)
    if agent.home.startswith(".config/") and os.environ.get("XDG_CONFIG_HOME"):
        return Path(os.environ["XDG_CONFIG_HOME"]) / agent.home.removeprefix(".config/")
    return Path.home() / agent.home


def settings_file(agent: Agent, scope: Scope, top: Path) -> Path:
    """Return the file in which the agent's hooks are."""
    return folder(agent) / agent.user if scope == "user" else top / agent.project


def mcp_file(agent: Agent, scope: Scope, top: Path) -> Path | None:
    """Return the file in which the agent's servers are; None if we do not write it."""
    user, project, _ = agent.mcp
    if scope == "project":
        return top / project if project else None
    if user.startswith(f"{agent.home}/"):
        return folder(agent) / user.removeprefix(f"{agent.home}/")
    return Path.home() / user if user else None


def program() -> str:
    """Return the path of the installed `checkpoint-hook`: hooks may be given a poorer PATH."""
    beside = Path(sys.executable).parent / PROGRAM
    if beside.is_file():
        return str(beside)
    return shutil.which(PROGRAM) or PROGRAM


def command(agent: Agent, scope: Scope, event: str = "") -> str:
    """Return the shell command of a hook.

    Codex hashes it for the user's review, so it is the same for ever. A project's file is shared
    with people who may not have the program: for them it must do nothing.
    """
    if agent.name == "codex":
        return PROGRAM
    words = ["--agent", agent.name_of_itself] if agent.name_of_itself else []
    words += ["--event", event] if agent.form == "copilot" else []
    rest = "".join(f" {word}" for word in words)
    if scope == "user":
        return shlex.quote(program()) + rest
    nothing = "printf '{}'" if agent.name in ("gemini", "qwen") else "true"
    return f"command -v {PROGRAM} >/dev/null 2>&1 && {PROGRAM}{rest} || {nothing}"


def entries(agent: Agent, scope: Scope) -> dict[str, dict[str, Any]]:
    """Return what is added to the list of each event."""
    return {event: _entry(agent, scope, event) for event in agent.events}


def _entry(agent: Agent, scope: Scope, event: str) -> dict[str, Any]:
    text = command(agent, scope, event)
    if agent.form == "cursor":
        return {"command": text, "timeout": agent.timeout}
    if agent.form == "copilot":
        shell = {"bash": text, "powershell": f"{PROGRAM} --agent copilot-cli --event {event}"}
        return {"type": "command", **shell, "timeoutSec": agent.timeout}
    timeout = 3 if (agent.name, event) == ("codex", "SessionEnd") else agent.timeout
    hook: dict[str, Any] = {"type": "command", "command": text, "timeout": timeout}
    if (agent.name, event) == ("claude", "Stop"):
        hook["async"] = True
    group: dict[str, Any] = {"hooks": [hook]}
    if event == "SessionStart" and agent.name in ("claude", "codex"):
        group = {"matcher": "startup|clear|compact", **group}
    return group
