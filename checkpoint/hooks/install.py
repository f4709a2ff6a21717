"""Put our hooks into agents' settings, take them out, and say where they are.

Every other entry and every unknown field stays byte for byte; doing it twice changes nothing;
taking it out gives back what was there.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checkpoint.errors import CheckpointError
from checkpoint.hooks import json_text, kept_file
from checkpoint.hooks.table import (
    AGENTS,
    PROGRAM,
    Agent,
    Scope,
    command,
    entries,
    folder,
    mcp_file,
    program,
    settings_file,
)
from checkpoint.resources import folder as shipped

MCP = {"command": "checkpoint", "args": ["mcp"]}
MCP_OPENCODE = {"type": "local", "command": ["checkpoint", "mcp"], "enabled": True}


@dataclass(frozen=True)
class Change:
    """What is done to one file."""

    path: Path
    before: bytes | None
    after: bytes | None
    note: str = ""
    """For the user: what else is to be done."""
    gives_back: bool = False
    """The file is to be as it was before us, if nobody else changed it since."""

    @property
    def changes(self) -> bool:
        """Whether the file is to change at all."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (
            (one or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for one in (self.before, self.after)
        )
        name = str(self.path)
        return "".join(difflib.unified_diff(old, new, name, name))

    def carry_out(self) -> None:
        """Write the file.

        Raises:
            CheckpointError: it cannot be written.
        """
        if self.gives_back:
            kept_file.give_back(self.path, self.after)
        elif self.changes and self.after is not None:
            kept_file.change(self.path, self.after)


def named(name: str) -> Agent:
    """Return the agent of a name.

    Raises:
        CheckpointError: there is none.
    """
    try:
        return AGENTS[name]
    except KeyError:
        known = ", ".join([*AGENTS, "git"])
        raise CheckpointError(f"no hooks are known for {name!r}; choose among {known}") from None


def present() -> list[str]:
    """Return the agents whose folder the user has."""
    return [name for name, agent in AGENTS.items() if folder(agent).is_dir()]


def install(agent: Agent, scope: Scope, top: Path, *, mcp: bool = False) -> list[Change]:
    """Return what is to be changed so that an agent calls us.

    Raises:
        CheckpointError: a settings file is not plain JSON, or of an unexpected shape.
    """
    path = settings_file(agent, scope, top)
    before = kept_file.read(path)
    if agent.form == "plugin":
        changes = [Change(path, before, _plugin(scope), agent.after)]
        command_file = _command_file(path)
        changes.append(Change(command_file, kept_file.read(command_file), _opencode_command()))
    else:
        text = _text(path, before, agent)
        wanted = entries(agent, scope)
        after = before if _as_wanted(text, wanted) else _edited(path, text, wanted, agent)
        changes = [Change(path, before, after, agent.after)]
    if mcp:
        changes += _server(agent, scope, top, changes)
    return changes


def _as_wanted(text: str, wanted: Mapping[str, Any]) -> bool:
    if not text.strip():
        return False
    hooks = json.loads(text).get("hooks")
    if not isinstance(hooks, dict):
        return False
    for event, listed in hooks.items():
        ours = [one for one in (listed if isinstance(listed, list) else []) if _is_ours(one)]
        if ours != ([wanted[event]] if event in wanted else []):
            return False
    return set(wanted) <= set(hooks)


def _text(path: Path, before: bytes | None, agent: Agent) -> str:
    """Return the text of a settings file without its byte order mark.

    Raises:
        CheckpointError: it is not plain JSON, or of an unexpected shape.
    """
    try:
        text = (before or b"").decode("utf-8").removeprefix("﻿")
        if text.strip():
            node = json_text.parse(text)
            given = json_text.value(text, node)
            if not isinstance(given, dict) or not isinstance(given.get("hooks", {}), dict):
                raise ValueError("it is no object of settings")
    except (ValueError, RecursionError, IndexError) as error:
        block = json.dumps({"hooks": _block(agent)}, indent=2)
        raise CheckpointError(
            f"{path}: not plain JSON ({error}), so it is left alone; put this into it by hand:\n"
            f"{block}"
        ) from error
    return text


def _block(agent: Agent) -> dict[str, Any]:
    return {event: [entry] for event, entry in entries(agent, "user").items()}


def _edited(path: Path, text: str, wanted: Mapping[str, Any], agent: Agent) -> bytes:
    raw = kept_file.read(path) or b""
    mark = "﻿" if raw.startswith(b"\xef\xbb\xbf") else ""
    if not text.strip():
        head = {"version": 1} if agent.form in ("cursor", "copilot") else {}
        given = {**head, "hooks": {event: [entry] for event, entry in wanted.items()}}
        return (mark + json.dumps(given, indent=2, ensure_ascii=False) + "\n").encode()
    text = _without(text)
    if agent.form == "cursor" and "version" not in json.loads(text):
        text = json_text.add_member(text, (), "version", 1)
    if json_text.at(text, "hooks") is None:
        text = json_text.add_member(text, (), "hooks", {})
    for event, entry in wanted.items():
        if json_text.at(text, "hooks", event) is None:
            text = json_text.add_member(text, ("hooks",), event, [entry])
        else:
            text = json_text.add_part(text, ("hooks", event), entry)
    return (mark + text).encode()


def _is_ours(entry: Any) -> bool:
    """Say whether an entry of an event's list, or a hook in a group, is ours, and only ours."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(_is_ours(one) for one in inner)
    words = [entry.get("command"), entry.get("bash"), entry.get("powershell")]
    arguments = entry.get("args")
    words += arguments if isinstance(arguments, list) else []
    return any(isinstance(word, str) and PROGRAM in word for word in words)


def _without(text: str) -> str:
    """Return settings without our entries, and without the lists that only held them."""
    hooks = json_text.at(text, "hooks")
    emptied = False
    for event in list(hooks.members) if hooks else []:
        text, found = json_text.drop_parts(text, _finder("hooks", event), _is_ours)
        groups = json_text.at(text, "hooks", event)
        for index in range(len(groups.parts) if groups else 0):
            text, inner = json_text.drop_parts(text, _group(event, index), _is_ours)
            found = found or inner
        left = json_text.at(text, "hooks", event)
        if found and left is not None and not left.parts:
            text = json_text.drop_member(text, ("hooks",), event)
            emptied = True
    hooks = json_text.at(text, "hooks")
    if emptied and hooks is not None and not hooks.members:
        text = json_text.drop_member(text, (), "hooks")
    return text


def _finder(*path: str) -> Any:
    return lambda text: json_text.at(text, *path)


def _group(event: str, index: int) -> Any:
    def find(text: str) -> json_text.Node | None:
        groups = json_text.at(text, "hooks", event)
        return groups.parts[index].members.get("hooks") if groups else None

    return find


def _plugin(scope: Scope) -> bytes:
    """Return opencode's plugin; the user's names the program by its path."""
    text = (shipped("templates") / "agents" / "opencode.js").read_text(encoding="utf-8")
    name = program() if scope == "user" else PROGRAM
    return text.replace('"checkpoint-hook" // PROGRAM', json.dumps(name)).encode()


def _command_file(plugin: Path) -> Path:
    return plugin.parent.parent / "command" / "checkpoint-resume.md"


def _opencode_command() -> bytes:
    return (shipped("templates") / "agents" / "opencode-resume.md").read_bytes()


def _server(agent: Agent, scope: Scope, top: Path, done: list[Change]) -> list[Change]:
    """Return the change that registers our server, on top of those that are planned."""
    path, key = mcp_file(agent, scope, top), agent.mcp[2]
    if path is None:
        return []
    planned = next((one for one in done if one.path == path), None)
    before = planned.after if planned else kept_file.read(path)
    text = _text(path, before, agent)
    given = MCP_OPENCODE if agent.name == "opencode" else MCP
    if not text.strip():
        after = (json.dumps({key: {"checkpoint": given}}, indent=2) + "\n").encode()
        return [Change(path, before, after)]
    if json_text.at(text, key) is None:
        text = json_text.add_member(text, (), key, {})
    if json_text.at(text, key, "checkpoint") is None:
        text = json_text.add_member(text, (key,), "checkpoint", given)
    if planned is not None:
        done[done.index(planned)] = replace(planned, after=text.encode())
        return []
    return [Change(path, before, text.encode())]


def remove(agent: Agent, scope: Scope, top: Path) -> list[Change]:
    """Return what is to be changed so that an agent no longer calls us.

    Raises:
        CheckpointError: a settings file is not plain JSON.
    """
    path = settings_file(agent, scope, top)
    before = kept_file.read(path)
    changes = []
    if agent.form == "plugin":
        for one in (path, _command_file(path)):
            text = kept_file.read(one)
            if text is not None and PROGRAM.encode() in text:
                changes.append(Change(one, text, None, gives_back=True))
    elif before is not None and PROGRAM.encode() in before:
        changes.append(Change(path, before, _rest(path, before, agent), gives_back=True))
    server = mcp_file(agent, scope, top)
    if server is not None:
        changes = _without_server(agent, server, changes)
    return changes


def _rest(path: Path, before: bytes, agent: Agent) -> bytes | None:
    text = _without(_text(path, before, agent))
    left = json.loads(text)
    if agent.form == "copilot" and set(left) <= {"version"}:
        return None  # the file was only ours
    mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    return mark + text.encode()


def _without_server(agent: Agent, path: Path, changes: list[Change]) -> list[Change]:
    planned = next((one for one in changes if one.path == path), None)
    before = planned.after if planned else kept_file.read(path)
    key = agent.mcp[2]
    if before is None or b"checkpoint" not in before:
        return changes
    text = _text(path, before, agent)
    node = json_text.at(text, key, "checkpoint")
    given = MCP_OPENCODE if agent.name == "opencode" else MCP
    if node is None or json_text.value(text, node) != given:
        return changes
    text = json_text.drop_member(text, (key,), "checkpoint")
    servers = json_text.at(text, key)
    if servers is not None and not servers.members:
        text = json_text.drop_member(text, (), key)
    if planned is not None:
        changes[changes.index(planned)] = replace(planned, after=text.encode())
        return changes
    return [*changes, Change(path, before, text.encode(), gives_back=True)]


@dataclass(frozen=True)
class Status:
    """Whether an agent calls us from one place."""

    agent: str
    scope: Scope
    path: Path
    events: tuple[str, ...]
    missing: tuple[str, ...] = ()
    """Events that it has and we are not called for."""
    program: str = ""
    """What it calls."""
    problem: str = ""


def status(agent: Agent, scope: Scope, top: Path) -> Status | None:
    """Return how an agent calls us from a place; None if it does not."""
    path = settings_file(agent, scope, top)
    try:
        before = kept_file.read(path)
    except CheckpointError as error:
        return Status(agent.name, scope, path, (), problem=str(error))
    if before is None or PROGRAM.encode() not in before:
        return None
    if agent.form == "plugin":
        outdated = "" if before == _plugin(scope) else "another version; install it again"
        name = program() if scope == "user" else PROGRAM
        return Status(agent.name, scope, path, ("plugin",), program=name, problem=outdated)
    try:
        hooks = json.loads(_text(path, before, agent)).get("hooks") or {}
    except CheckpointError as error:
        return Status(agent.name, scope, path, (), problem=str(error).partition(";")[0])
    found: dict[str, str] = {}
    for event, listed in hooks.items():
        for one in listed if isinstance(listed, list) else []:
            for hook in one.get("hooks") or [one] if isinstance(one, dict) else []:
                if _is_ours(hook):
                    found[event] = str(hook.get("command") or hook.get("bash") or "")
    missing = tuple(one for one in agent.events if one not in found)
    texts = list(found.values())
    return Status(agent.name, scope, path, tuple(found), missing, called(texts[0] if texts else ""))


def called(text: str) -> str:
    """Return the program that a hook's command runs."""
    try:
        words = shlex.split(text)
    except ValueError:
        return PROGRAM
    return next((word for word in words if word.rpartition("/")[2] == PROGRAM), PROGRAM)


__all__ = [
    "Change",
    "Status",
    "called",
    "command",
    "install",
    "named",
    "present",
    "remove",
    "status",
]
