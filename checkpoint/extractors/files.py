"""Files: read, made, changed, moved, removed, by the agent's file tools and by commands."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_READERS = {"cat", "head", "tail", "less", "sed", "nl", "bat", "more"}
_PATH = re.compile(r"^[~./\w@+-][\w./@+~:-]*$")
_NO_FILE = re.compile(r"^(?:\d+|[-+]\d*|/dev/.*|\d*,\+?\d*p?)$")


@extractor
def files(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield a `file` for each file that a call touched."""
    for call in message.calls():
        if call.failed or call.refused:
            continue
        if call.changes:
            for change in call.changes:
                if " -> " in change.path or change.path.startswith(("->", "- ")):
                    continue  # a line of prose that a text format took for a path
                yield _file(message, change.path, change.action, call, source=change.source)
        elif call.category == "read" and call.target:
            yield _file(message, call.target, "read", call)
        elif call.category == "shell":
            yield from _of_command(message, call)


def _file(
    message: Message, path: str, act: str, call: ToolCall, host: str = "local", source: str = ""
) -> Fact:
    path = " ".join(path.split()).strip("'\"")[:400]
    base = call.cwd or message.cwd
    if base and path.startswith(base.rstrip("/") + "/"):
        path = path[len(base.rstrip("/")) + 1 :]
    authority = Authority.INPUT
    return fact(
        message,
        "file",
        "",
        call.target[:300],
        authority,
        path=path,
        act=act,
        host=host,
        source=source,
    )


def _of_command(message: Message, call: ToolCall) -> Iterator[Fact]:
    for run in runs(call.target):
        for act, path, source in _acts(run):
            path = posixpath.join(run.cwd, path) if run.cwd and path[:1] not in "/~" else path
            if _PATH.match(path) and not _NO_FILE.match(path) and "*" not in path:
                yield _file(message, path, act, call, run.host, source)


def _acts(run: Run) -> Iterator[tuple[str, str, str]]:  # noqa: C901 - a table of programs
    """Yield (what was done, path, former path) of a simple command."""
    words = [w for w in run.args() if not w.startswith("-")]
    name = run.name
    if run.log and name in ("cat", "echo", "printf", "tee", "jq", "sed", "awk", "curl"):
        yield "written", run.log, ""
    if name == "tee":
        for word in words:
            yield "written", word, ""
    elif name == "sed":
        in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", w) for w in run.args())
        targets = words[1:] if "-e" not in run.args() else words
        for word in targets[-3:]:
            if "/" in word or "." in word:
                yield ("edited" if in_place else "read"), word, ""
    elif name in _READERS and not run.heredoc:
        for word in words[:4]:
            if "/" in word or "." in word:
                yield "read", word, ""
    elif name == "rm":
        for word in words[:8]:
            yield "deleted", word, ""
    elif name == "mv" and len(words) == 2:
        target = words[1]
        if target.endswith("/"):
            target = posixpath.join(target, posixpath.basename(words[0]))
        yield "renamed", target, words[0]
    elif name == "cp" and len(words) == 2 and not words[1].endswith("/"):
        yield "written", words[1], ""
    elif name == "touch":
        for word in words[:4]:
            yield "created", word, ""
    elif name == "git" and run.sub == "mv" and len(words) == 3:
        yield "renamed", words[2], words[1]
    elif name == "git" and run.sub == "rm":
        for word in words[1:6]:
            yield "deleted", word, ""
