"""Commands worth running again, those that failed, and the success that closes a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_LOOKING = frozenset(
    [
        "ls",
        "cat",
        "grep",
        "egrep",
        "rg",
        "ag",
        "find",
        "fd",
        "cd",
        "pwd",
        "echo",
        "printf",
        "head",
        "tail",
        "sed",
        "awk",
        "wc",
        "sort",
        "uniq",
        "cut",
        "tr",
        "tee",
        "less",
        "which",
        "type",
        "file",
        "stat",
        "du",
        "df",
        "ps",
        "top",
        "date",
        "whoami",
        "hostname",
        "uname",
        "env",
        "export",
        "set",
        "true",
        "false",
        "test",
        "[",
        "sleep",
        "wait",
        "kill",
        "pkill",
        "mkdir",
        "rm",
        "mv",
        "cp",
        "touch",
        "chmod",
        "chown",
        "ln",
        "xargs",
        "jq",
        "diff",
        "tree",
        "history",
        "clear",
        "nvidia-smi",
        "lscpu",
        "free",
        "nproc",
        "read",
        "source",
        ".",
        "for",
        "while",
        "if",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "apply_patch",
        "sqlite3",
        "column",
        "nl",
        "od",
        "xxd",
        "base64",
        "md5sum",
        "sha256sum",
        "strings",
        "open",
        "code",
    ]
) | {""}
_PURPOSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "test",
        re.compile(
            r"\b(?:pytest|unittest|nextest|vitest|jest|mocha|ctest|rspec|phpunit|tox|nox)\b|\b(?:test|check|spec)s?\b"
        ),
    ),
    (
        "benchmark",
        re.compile(
            r"\b(?:bench\w*|hyperfine|wrk|k6|locust|pgbench|sysbench|fio|iperf3|perf)\b|bench|profile"
        ),
    ),
    (
        "lint",
        re.compile(
            r"\b(?:ruff|mypy|eslint|clippy|golangci-lint|flake8|pylint|prettier|fmt|lint|tsc|pyright)\b"
        ),
    ),
    ("build", re.compile(r"\b(?:build|compile|make|cmake|ninja|webpack|vite|bundle|package)\b")),
    ("install", re.compile(r"\b(?:install|add|sync)\b")),
    ("deploy", re.compile(r"\b(?:deploy|apply|publish|release|rollout|helm|terraform)\b")),
    ("serve", re.compile(r"\b(?:serve|server|uvicorn|gunicorn|runserver|start|up|dev)\b")),
    (
        "run",
        re.compile(
            r"\b(?:run|python[\d.]*|node|bash|sh|torchrun|cargo|go|ruby|java|docker)\b|^\./"
        ),
    ),
)
_ERROR = re.compile(
    r"^(?!.*\b0 errors?\b).*(?:\b(?:[A-Z]\w*(?:Error|Exception)|error|fatal|panic|FAILED|"
    r"failed|cannot|"
    r"not found|denied|No such|refused|unable|undefined|Killed|Segmentation fault)\b).*$",
    re.MULTILINE,
)
LONGEST = 400
_DETACHED = re.compile(
    r"\b(?:run|up|create|new|start)\b.*\s(?:-[a-z]*d[a-z]*|--detach)\b|^(?:systemctl|service) "
)
"""What leaves a program running stands among the processes, not the commands."""


@extractor
def commands(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield `command`, `failure` and `success` facts of the shell calls."""
    if message.subagent:
        return
    for call in message.calls():
        if call.category != "shell" or call.refused or not call.finished:
            continue
        found = [r for r in runs(call.target) if r.name not in _LOOKING]
        if not found:
            continue
        last = found[-1]
        for run in found:
            yield from _command(message, call, run, failed=call.failed and run is last)


def purpose(run: Run) -> str:
    """Return what a command is for, "" if nothing tells."""
    head = " ".join(run.argv[:6])
    if run.name == "git":
        return "git"
    return next((name for name, pattern in _PURPOSES if pattern.search(head)), "")


def _command(message: Message, call: ToolCall, run: Run, *, failed: bool) -> Iterator[Fact]:
    text = run.command.strip()
    if len(text) > LONGEST or "\n" in text:
        return
    why = purpose(run)
    if failed:
        error = error_line(call.output)
        if error and why != "git":
            yield fact(
                message,
                "failure",
                "",
                error,
                Authority.OUTPUT,
                command=text,
                host=run.host,
                error=error.strip(),
                exit=call.exit_code,
            )
        return
    if call.failed:
        return
    yield fact(message, "success", "", text, Authority.OUTPUT, command=text, host=run.host)
    leaves_running = run.background or call.background or _DETACHED.search(text) is not None
    if why and why != "git" and not leaves_running:
        yield fact(
            message,
            "command",
            "",
            text,
            Authority.INPUT,
            command=text,
            host=run.host,
            failed=False,
            exit=call.exit_code,
            purpose=why,
        )


def error_line(output: str) -> str:
    """Return the one line of an output that says why it failed: the last that names an error."""
    tail = output[-20_000:]
    found = [m.group(0) for m in _ERROR.finditer(tail)]
    found = [line for line in found if len(line) < 400] or found
    if found:
        return found[-1][:300]
    lines = [line for line in tail.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
