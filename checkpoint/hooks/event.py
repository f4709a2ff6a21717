"""One event: read it, write it to the spool, start the worker, answer what the agent expects."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import Any

from checkpoint.hooks import host, places

MOST = 8 << 20
"""A payload is never longer (bytes); what comes behind is not read."""
PATIENCE = 2.0
"""Seconds to wait for standard input: some hosts never close it."""


def handle(arguments: list[str]) -> None:
    """Handle the event on standard input, or the git event that the arguments name."""
    if arguments[:1] == ["compact-context"]:
        from checkpoint.hooks import start

        sys.stdout.write(start.kept(arguments[1:], os.getcwd()))
        return
    options = _options(arguments)
    if options.get("--git"):
        _git(options["--git"])
        return
    payload = _read()
    if options.get("--agent"):
        payload["agent"] = options["--agent"]
    if options.get("--event"):  # hosts whose payload does not name it
        payload.setdefault("hook_event_name", options["--event"])
    kind = host.event(payload)
    agent = host.agent(payload, os.environ)
    if kind in ("", "subagent") or payload.get("agent_id") or payload.get("agentId"):
        _answer(agent, "")
        return
    directory = host.directory(payload, os.getcwd())
    spool = write(directory, {"agent": agent, "event": kind, "payload": payload})
    context = ""
    try:
        if kind == "start":
            from checkpoint.hooks import start

            context = start.context(agent, payload, directory)
        _answer(agent, context, kind)
    finally:
        detach(spool, directory)


def _options(arguments: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        if name in ("--agent", "--git", "--event") and rest:
            found[name] = rest.pop(0)
    return found


def _git(event: str) -> None:
    """A git hook called: note a commit and let the worker save; other events need nothing."""
    if event != "post-commit":
        return
    directory = os.getcwd()
    payload = {"head": places.head(directory)}
    spool = write(directory, {"agent": "", "event": f"git-{event}", "payload": payload})
    detach(spool, directory)


def _read() -> dict[str, Any]:
    """Read one JSON object from standard input, without waiting for its end."""
    source = sys.stdin.buffer
    raw = b""
    until = time.monotonic() + PATIENCE
    descriptor = source.fileno()
    while len(raw) < MOST:
        left = until - time.monotonic()
        if left <= 0:
            break
        if os.name != "nt" and not select.select([descriptor], [], [], left)[0]:
            break
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            break
        raw += piece
        if raw.rstrip().endswith(b"}"):
            try:
                whole = json.loads(raw)
            except ValueError:
                continue
            return whole if isinstance(whole, dict) else {}
    whole = json.loads(raw.decode("utf-8", "replace") or "{}")
    return whole if isinstance(whole, dict) else {}


def write(directory: str, event: dict[str, Any]) -> str:
    """Write an event to the spool of the repository around `directory`, all or nothing.

    Returns:
        the spool's folder.
    """
    event = {
        "version": 1,
        "at": time.time(),
        "directory": directory,
        "environment": {
            name: os.environ[name]
            for name in ("CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME")
            if name in os.environ
        },
        **event,
    }
    try:
        return _put(os.path.join(places.folder(directory), "spool"), event)
    except OSError as error:  # a full disk, a folder that is in the way
        places.log(f"checkpoint-hook: {error}; the event goes to the user's state folder")
        return _put(os.path.join(places.beside(directory), "spool"), event)


def _put(spool: str, event: dict[str, Any]) -> str:
    os.makedirs(spool, mode=0o700, exist_ok=True)
    name = f"{int(event['at'] * 1e6):017d}-{os.getpid()}.json"
    hidden = os.path.join(spool, "." + name)
    descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            json.dump(event, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, os.path.join(spool, name))
    except OSError:
        os.unlink(hidden)
        raise
    return spool


def detach(spool: str, directory: str) -> None:
    """Start the worker in a session of its own; a test names another program."""
    own = os.environ.get("CHECKPOINT_WORKER")
    command = [own, spool] if own else [sys.executable, "-m", "checkpoint.hooks.worker", spool]
    environment = {**places.clean_environment(), "CHECKPOINT_IN_WORKER": "1"}
    options: dict[str, Any] = {
        "cwd": directory,
        "env": environment,
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "close_fds": True,
    }
    if os.name == "nt":
        # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP (learn.microsoft.com, process creation flags)
        subprocess.Popen(command, creationflags=0x00000008 | 0x00000200, **options)
        return
    subprocess.Popen(command, start_new_session=True, **options)


def _answer(agent: str, context: str, kind: str = "") -> None:
    """Print what the host expects.

    Nothing, an empty object, or the context at a session's start.
    """
    if context and kind == "start":
        if agent == "cursor":
            answer: dict[str, Any] = {"additional_context": context}
        elif agent == "copilot-cli":
            answer = {"additionalContext": context}
        else:
            answer = {
                "hookSpecificOutput": {
                    "hookEventName": "SessionStart",
                    "additionalContext": context,
                }
            }
        print(json.dumps(answer))
    elif agent in ("gemini-cli", "qwen-code", "gemini", "qwen"):
        print("{}")  # these hosts parse standard output as JSON
