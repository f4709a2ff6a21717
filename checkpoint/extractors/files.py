"""Files: read, made, changed, moved, removed, by the agent's file tools and by commands."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

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


Act = tuple[str, str, str]
"""(What was done, path, former path)."""


def _acts(run: Run) -> Iterator[Act]:
    """Yield what a simple command did to files, as far as its words tell."""
    words = [w for w in run.args() if not w.startswith("-")]
    if run.log and run.name in _WRITERS:
        yield "written", run.log, ""
    of_program = _PROGRAMS.get(run.name)
    if of_program is not None:
        yield from of_program(run, words)


def _named(words: list[str]) -> list[str]:
    """The words that have a folder or an ending: others are as likely no files."""
    return [word for word in words if "/" in word or "." in word]


def _teed(run: Run, words: list[str]) -> Iterator[Act]:
    return (("written", word, "") for word in words)


def _edited(run: Run, words: list[str]) -> Iterator[Act]:
    in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", w) for w in run.args())
    targets = words[1:] if "-e" not in run.args() else words
    return (("edited" if in_place else "read", word, "") for word in _named(targets[-3:]))


def _read(run: Run, words: list[str]) -> Iterator[Act]:
    return (("read", word, "") for word in _named(words[:4]) if not run.heredoc)


def _removed(run: Run, words: list[str]) -> Iterator[Act]:
    return (("deleted", word, "") for word in words[:8])


def _moved(run: Run, words: list[str]) -> Iterator[Act]:
    if len(words) == 2:
        source, target = words
        if target.endswith("/"):
            target = posixpath.join(target, posixpath.basename(source))
        yield "renamed", target, source


def _copied(run: Run, words: list[str]) -> Iterator[Act]:
    if len(words) == 2 and not words[1].endswith("/"):
        yield "written", words[1], ""


def _touched(run: Run, words: list[str]) -> Iterator[Act]:
    return (("created", word, "") for word in words[:4])


def _by_git(run: Run, words: list[str]) -> Iterator[Act]:
    if run.sub == "mv" and len(words) == 3:
        yield "renamed", words[2], words[1]
    elif run.sub == "rm":
        for word in words[1:6]:
            yield "deleted", word, ""


_WRITERS = frozenset({"cat", "echo", "printf", "tee", "jq", "sed", "awk", "curl"})
"""Programs whose redirected output is a file that was meant, not a log."""
_PROGRAMS: dict[str, Callable[[Run, list[str]], Iterator[Act]]] = {
    **dict.fromkeys(("cat", "head", "tail", "less", "nl", "bat", "more"), _read),
    "tee": _teed,
    "sed": _edited,
    "rm": _removed,
    "mv": _moved,
    "cp": _copied,
    "touch": _touched,
    "git": _by_git,
}
