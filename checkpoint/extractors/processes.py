"""Processes: programs left running, and what ended them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_BRIEF = frozenset(
    {"sleep", "echo", "wait", "kill", "cat", "tail", "true", "cd", "ls", "export", ""}
)
_PORT = re.compile(
    r"(?:--?(?:server[-.]|http[-.])?port[= ]|\bPORT=|(?:^|[\s/@])(?:localhost|0\.0\.0\.0|"
    r"127\.0\.0\.1):|-p )(\d{2,5})\b"
)
_PRINTED = re.compile(r"^\s*(?:\[\d+\]\s+)?(\d{2,8})\s*$", re.MULTILINE)


@extractor
def processes(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield a `process` for each program that a command left running or ended."""
    for call in message.calls():
        if call.tool.lower() in ("killshell", "killbash", "kill_shell", "taskstop"):
            yield _fact(
                message,
                call,
                call.target or "shell",
                act="stop",
                host="local",
                name=str(call.input.get("call") or call.input.get("shell_id") or ""),
                by="the agent stopped it",
            )
            continue
        if call.category != "shell" or call.failed or call.refused:
            continue
        found = runs(call.target)
        for run in found:
            yield from _of(message, call, run, found)


def _fact(message: Message, call: ToolCall, quote: str, **fields: Any) -> Fact:
    return fact(message, "process", "", quote, Authority.INPUT, **fields)


def _of(message: Message, call: ToolCall, run: Run, found: list[Run]) -> Iterator[Fact]:
    words = run.args()
    whole = run.background or (call.background and run is found[-1])
    if run.name in ("kill", "pkill", "killall", "fuser"):
        yield from _killed(message, call, run)
    elif run.name in ("docker", "podman"):
        yield from _container(message, call, run, words)
    elif run.name in ("tmux", "screen"):
        yield from _terminal(message, call, run, words)
    elif run.name in ("systemctl", "service"):
        yield from _service(message, call, run, words)
    elif whole and run.name not in _BRIEF:
        yield _fact(
            message,
            call,
            run.command,
            act="start",
            command=run.command + (" &" if run.background else ""),
            name=call.id if call.background and not run.background else "",
            host=run.host,
            port=port(run.command),
            pid=_pid(call, found),
            log=run.log,
        )


def port(command: str) -> str:
    """Return the port that a command line names, or ""."""
    match = _PORT.search(command)
    return match.group(1) if match else ""


def _pid(call: ToolCall, found: list[Run]) -> str:
    asked = any(run.name == "echo" and "$!" in run.command for run in found)
    started = sum(run.background and run.name not in _BRIEF for run in found)
    if started != 1 or not (asked or re.match(r"\s*\[\d+\] \d+", call.output)):
        return ""
    match = _PRINTED.search(call.output)
    return match.group(1) if match else ""


def _killed(message: Message, call: ToolCall, run: Run) -> Iterator[Fact]:
    words = [w for w in run.args() if not w.startswith("-")]
    host = run.host
    if run.name == "kill":
        for word in words:
            if word.isdigit():
                yield _fact(
                    message, call, run.command, act="stop", host=host, pid=word, by=run.command
                )
            elif word.startswith("%"):
                continue
        at = re.search(r"lsof\b[^)]*?:(\d{2,5})", run.command)
        if at:
            yield _fact(
                message, call, run.command, act="stop", host=host, port=at.group(1), by=run.command
            )
    elif run.name == "fuser":
        for word in words:
            if match := re.match(r"(\d{2,5})/tcp", word):
                yield _fact(
                    message,
                    call,
                    run.command,
                    act="stop",
                    host=host,
                    port=match.group(1),
                    by=run.command,
                )
    elif words:
        yield _fact(
            message, call, run.command, act="stop", host=host, pattern=words[-1], by=run.command
        )


def _container(message: Message, call: ToolCall, run: Run, words: list[str]) -> Iterator[Fact]:
    if run.sub == "run" and any(re.match(r"-[a-z]*d[a-z]*$|--detach", w) for w in words):
        yield _fact(
            message,
            call,
            run.command,
            act="start",
            command=run.command,
            host=run.host,
            name=run.option("--name"),
            port=_published(run),
        )
    elif run.sub == "compose" or run.name == "docker-compose":
        if "up" in words and ("-d" in words or "--detach" in words):
            yield _fact(
                message,
                call,
                run.command,
                act="start",
                command=run.command,
                host=run.host,
                name="compose",
                port="",
            )
        elif "down" in words or "stop" in words:
            yield _fact(
                message,
                call,
                run.command,
                act="stop",
                host=run.host,
                name="compose",
                by=run.command,
            )
    elif run.sub in ("stop", "rm", "kill"):
        for word in words[1:]:
            if not word.startswith("-"):
                yield _fact(
                    message, call, run.command, act="stop", host=run.host, name=word, by=run.command
                )


def _published(run: Run) -> str:
    value = run.option("-p", "--publish")
    parts = value.split(":")
    return parts[-2] if len(parts) > 1 else ""


def _terminal(message: Message, call: ToolCall, run: Run, words: list[str]) -> Iterator[Fact]:
    if (
        run.name == "tmux"
        and ("new-session" in words or "new" in words)
        and "-d" in " ".join(words)
    ):
        yield _fact(
            message,
            call,
            run.command,
            act="start",
            command=run.command,
            host=run.host,
            name=run.option("-s"),
            port=port(run.command),
        )
    elif run.name == "tmux" and "kill-session" in words:
        yield _fact(
            message,
            call,
            run.command,
            act="stop",
            host=run.host,
            name=run.option("-t"),
            by=run.command,
        )
    elif run.name == "screen" and any(re.match(r"-[a-zA-Z]*dm", w) for w in words):
        yield _fact(
            message,
            call,
            run.command,
            act="start",
            command=run.command,
            host=run.host,
            name=run.option("-S", "-dmS", "-mdS"),
            port=port(run.command),
        )


def _service(message: Message, call: ToolCall, run: Run, words: list[str]) -> Iterator[Fact]:
    verbs = {"start": "start", "restart": "start", "stop": "stop"}
    names = [w for w in words if not w.startswith("-")]
    if len(names) >= 2:
        verb, unit = (names[0], names[1]) if run.name == "systemctl" else (names[1], names[0])
        if verb in verbs:
            yield _fact(
                message,
                call,
                run.command,
                act=verbs[verb],
                command=run.command,
                host=run.host,
                name=unit,
                port="",
                by=run.command,
            )
