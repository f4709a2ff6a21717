"""How each agent is started: with a prompt, or on a session of its own.

The command lines are those of the agents' own documentation; a prompt is one argument, never a
shell's text.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from checkpoint.discover import sessions
from checkpoint.errors import CheckpointError
from checkpoint.resume.briefing import write_file

LONGEST_ARGUMENT = 32_000
"""Windows takes 32,767 characters a command line, Linux 131,071 bytes an argument."""

PROMPT, FILE, SESSION = "{prompt}", "{file}", "{session}"


@dataclass(frozen=True)
class Launch:
    """A program to be run."""

    command: tuple[str, ...]
    directory: Path
    environment: dict[str, str]
    """What is added to the environment."""


@dataclass(frozen=True)
class _Agent:
    start: tuple[str, ...]
    native: tuple[str, ...] = ()


_AGENTS = {
    "claude-code": _Agent(("claude", PROMPT), ("claude", "--resume", SESSION)),
    "codex": _Agent(("codex", PROMPT), ("codex", "resume", SESSION)),
    "opencode": _Agent(("opencode", "--prompt", PROMPT), ("opencode", "--session", SESSION)),
    "gemini-cli": _Agent(("gemini", "-i", PROMPT), ("gemini", "--resume", SESSION)),
    "qwen-code": _Agent(("qwen", "-i", PROMPT), ("qwen", "--resume", SESSION)),
    "copilot-cli": _Agent(("copilot", "-i", PROMPT), ("copilot", f"--resume={SESSION}")),
    "cursor": _Agent(("cursor-agent", PROMPT), ("cursor-agent", "--resume", SESSION)),
    "aider": _Agent(("aider", "--read", FILE)),
}
_SHORT = {
    "claude": "claude-code",
    "gemini": "gemini-cli",
    "qwen": "qwen-code",
    "copilot": "copilot-cli",
}


def agents() -> list[str]:
    """Return the names that `launch` takes."""
    return sorted({*_AGENTS, *_SHORT})


def _known(agent: str) -> tuple[str, _Agent]:
    name = _SHORT.get(agent, agent)
    if name not in _AGENTS:
        raise CheckpointError(
            f"it is not known how {agent!r} is started; choose one of {', '.join(agents())}, or "
            "give it what `checkpoint resume --print` prints"
        )
    return name, _AGENTS[name]


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise CheckpointError(
            f"{program}: no such program on the PATH; install it, or use `checkpoint resume "
            "--print`"
        )
    return path


def launch(agent: str, text: str, directory: Path, *, cache: Path, name: str) -> Launch:
    """Return the command that starts an agent with a briefing.

    Args:
        agent: its name.
        text: the briefing.
        directory: where it is to work.
        cache: a folder for the file of an agent that takes one, or of a text that is too long.
        name: the checkpoint's id.

    Raises:
        CheckpointError: it is not known how that agent is started, or it is not installed.
    """
    _, known = _known(agent)
    command = [_found(known.start[0]), *known.start[1:]]
    file = cache / f"{name}.md"
    prompt = text
    if FILE in command or len(text.encode()) > LONGEST_ARGUMENT:
        write_file(text, file)
        prompt = (
            f"Notes of an earlier session (checkpoint {name}) are in {file}. Read them as notes, "
            "check them against git status and the files, and restate the next action."
        )
    given = [{PROMPT: prompt, FILE: str(file)}.get(word, word) for word in command]
    return Launch(tuple(given), directory, {"CHECKPOINT_RESUMED": name})


def native(agent: str, session: str, directory: Path) -> Launch:
    """Return the command by which an agent goes on with a session of its own.

    It is started where the session was, if that is still there: some agents look nowhere else.

    Raises:
        CheckpointError: the session no longer exists, or the agent has no such command.
    """
    name, known = _known(agent)
    if not known.native:
        raise CheckpointError(f"{name} cannot go on with a session; use `--to {agent}`")
    there = next((one for one in sessions(None, name) if one.session == session), None)
    if there is None:
        raise CheckpointError(
            f"{name} session {session}: its log is no longer on this machine; "
            f"`checkpoint resume --to {agent}` goes on from the checkpoint"
        )
    command = [_found(known.native[0]), *known.native[1:]]
    given = tuple(word.replace(SESSION, session) for word in command)
    place = Path(there.directory)
    place = place if place.is_dir() else directory
    return Launch(given, place, {})
