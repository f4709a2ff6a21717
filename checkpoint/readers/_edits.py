"""What edits say: SEARCH/REPLACE blocks, `*** Begin Patch` patches, unified diffs.

Several agents write them into tool arguments or into the assistant's words.
"""

from __future__ import annotations

import re

from checkpoint.model import Change

_SEARCH = re.compile(r"^[ \t]*(?:<{5,9}|-{5,9}) ?SEARCH>?[^\n]*\n", re.MULTILINE)
_DIVIDER = re.compile(r"^[ \t]*={5,9}[ \t]*$\n?", re.MULTILINE)
_REPLACE = re.compile(
    r"^[ \t]*(?:>{5,9}|\+{5,9}) ?(?:REPLACE|UPDATED)\b[^\n]*(?:\n|\Z)", re.MULTILINE
)
_START_LINE = re.compile(r"\A(?::(?:start|end)_line:[^\n]*\n)*(?:-{5,9}\n)?")


def search_replace(text: str, path: str) -> list[Change]:
    """Return the changes of the SEARCH/REPLACE blocks in `text`, all of the file `path`.

    An empty SEARCH side makes a new file. A block that is not closed is left out.
    """
    return [change for change, _start, _end in blocks(text, path)]


def blocks(text: str, path: str) -> list[tuple[Change, int, int]]:
    """Return the changes of the blocks in `text`, each with where its block begins and ends."""
    found: list[tuple[Change, int, int]] = []
    at = 0
    while opened := _SEARCH.search(text, at):
        divider = _DIVIDER.search(text, opened.end())
        closed = _REPLACE.search(text, divider.end()) if divider else None
        if divider is None or closed is None:
            break
        old = _START_LINE.sub("", text[opened.end() : divider.start()])
        new = text[divider.end() : closed.start()]
        if not _SEARCH.search(old):
            change = Change(path, "edited" if old.strip() else "created")
            change.old, change.new = old.removesuffix("\n"), new.removesuffix("\n")
            found.append((change, opened.start(), closed.end()))
        at = closed.end()
    return found


_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+)$")


def patch(text: str) -> list[Change]:
    """Return the changes of a `*** Begin Patch` patch, a change a file."""
    changes: list[Change] = []
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if changes:
            changes[-1].old = "\n".join(old)
            changes[-1].new = "\n".join(new)
        old.clear()
        new.clear()

    for line in text.split("\n"):
        if not line.startswith(("***", "@@")):
            if changes:
                _side(line, old, new)
        elif match := _FILE.match(line):
            close()
            kind, path = match.groups()
            action = {"Add": "created", "Update": "edited", "Delete": "deleted"}[kind]
            changes.append(Change(path.strip(), action))  # type: ignore[arg-type]
        elif (match := _MOVE.match(line)) and changes:
            changes[-1].source, changes[-1].path = changes[-1].path, match.group(1).strip()
            changes[-1].action = "renamed"
    close()
    return changes


def unified(text: str, path: str = "") -> list[Change]:
    """Return the changes of a unified diff, a change a file; `path` where the diff names none."""
    changes: list[Change] = []
    sides: list[tuple[list[str], list[str]]] = []
    before = ""
    for line in text.split("\n"):
        if line.startswith("--- "):
            before = _path(line[4:])
        elif line.startswith("+++ "):
            changes.append(_file(before, _path(line[4:]), path))
            sides.append(([], []))
        elif line.startswith("@@"):
            if not changes and path:
                changes.append(Change(path, "edited"))
                sides.append(([], []))
        elif sides and not line.startswith(("diff ", "index ", "Index: ", "===", "\\")):
            _side(line, *sides[-1])
    for change, (old, new) in zip(changes, sides, strict=True):
        change.old, change.new = "\n".join(old).rstrip("\n"), "\n".join(new).rstrip("\n")
    return changes


def _file(before: str, after: str, path: str) -> Change:
    if after == "/dev/null":
        return Change(before or path, "deleted")
    if before == "/dev/null":
        return Change(after or path, "created")
    return Change(path or after, "edited")


def _path(text: str) -> str:
    text = text.split("\t")[0].strip()
    return text[2:] if text[:2] in ("a/", "b/") else text


def _side(line: str, old: list[str], new: list[str]) -> None:
    mark, rest = line[:1], line[1:]
    if mark != "+":
        old.append(rest)
    if mark != "-":
        new.append(rest)
