"""The edits in aider's words: SEARCH/REPLACE blocks under a path, whole files in fences."""

from __future__ import annotations

import re

from checkpoint.model import Change, ToolCall
from checkpoint.readers._edits import blocks, unified


def same(one: str, other: str) -> bool:
    """Whether two paths are the same file, one of them perhaps shortened."""
    one, other = one.replace("\\", "/"), other.replace("\\", "/")
    return one == other or one.endswith("/" + other) or other.endswith("/" + one)


_FENCE = re.compile(r"^(`{3,}|~{3,}|<source>)[^\n`]*\n?", re.MULTILINE)


def cut_edits(text: str) -> tuple[str, list[ToolCall]]:
    """Return the words without their SEARCH/REPLACE blocks, and the blocks as calls."""
    calls: list[ToolCall] = []
    kept: list[str] = []
    at = 0
    for change, start, end in blocks(text, ""):
        before = text[at:start]
        path, cut = _named(before)
        change.path = path or (calls[-1].target if calls else "")
        if not change.path:
            continue
        kept.append(before[:cut])
        call = ToolCall("edit", "edit", change.path, finished=False)
        call.input = {"path": change.path, "search": change.old, "replace": change.new}
        call.changes = (change,)
        calls.append(call)
        at = end + _closing(text[end:])
    kept.append(text[at:])
    return "".join(kept), calls


def _named(before: str) -> tuple[str, int]:
    """Return the path that stands above a block, and where path line and fence begin."""
    cut = len(before)
    for line in reversed(before.split("\n")[-5:]):
        start = cut - len(line)
        bare = line.strip().strip("*`#:").strip()
        if bare and not _FENCE.match(line.strip() + "\n"):
            if " " in bare and not re.search(r"[/\\]|\.\w{1,8}$", bare):
                return "", len(before)
            return bare, _opened(before, max(start, 0))
        cut = start - 1
    return "", len(before)


def _opened(before: str, at: int) -> int:
    """Return where the fence begins whose first line begins at `at`; `at` if there is none."""
    above = before[:at].rstrip("\n").rpartition("\n")[2]
    if _FENCE.match(above + "\n"):
        return at - len(before[:at]) + before[:at].rindex(above)
    return at


def _closing(after: str) -> int:
    """Return the length of the fence's end right after a block."""
    match = re.match(r"\s*(?:`{3,}|~{3,}|</source>)[ \t]*\n?", after)
    return match.end() if match else 0


def whole_file(text: str, path: str) -> str:
    """Return the content that a fence under the line `path` gives, "" if there is none."""
    name = re.escape(path.replace("\\", "/")).replace("/", r"[/\\]")
    match = re.search(
        rf"^[*`#\s]*{name}[*`:]*\s*\n(`{{3,}})[^\n]*\n(.*?)\n\1[ \t]*$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    return match.group(2) if match else ""


_DIFF = re.compile(r"^(`{3,})diff[^\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def diff_changes(text: str, path: str) -> tuple[Change, ...]:
    """Return what the unified diffs in fences change of the file `path`."""
    found = [change for fence in _DIFF.finditer(text) for change in unified(fence.group(2))]
    return tuple(change for change in found if same(change.path, path))
