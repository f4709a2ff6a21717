"""Tables of figures in the agent's prose: Markdown pipes, grids and box drawings.

A table counts if most of its body columns hold figures; a table of words (options, plans, reviews)
is no measurement. What is announced as a target, an estimate or somebody else's is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._cues import find
from checkpoint.extractors._prose import plain
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_SEPARATOR = re.compile(r"^\s*[|+├┣╠]?[\s:|+\-=─━═┼╋╬]*[-─━═]{2,}[\s:|+\-=─━═┼╋╬]*[|+┤┫╣]?\s*$")
_BORDER = re.compile(r"^\s*[┌╔┏└╚┗+╭╰][\-=─━═┬┴╦╩┳┻+]*[┐╗┓┘╝┛+╮╯]\s*$")
_PIPE = re.compile(r"(?<!\\)[|│┃║]")
_FIGURE = re.compile(
    r"^\W{0,4}[~≈<>±+-]?\s*[$€£]?\d[\d.,:]*\s*(?:[%×xX]|[a-zA-Zµμ/²³°]{1,12})?(?:\s|$|\W)"
)
_EMPTY = re.compile(
    r"^(?:[-–—−.]+|n/?a|none|nan|null|oom|timeout|failed|error|tbd|\?)?$", re.IGNORECASE
)
ROWS = 60
"""Rows of longer tables are left out from the middle."""


def cells(line: str) -> list[str]:
    """Return the cells of a table's line, bare of emphasis and escapes."""
    inner = line.strip()
    parts = [p.replace("\\|", "|") for p in _PIPE.split(inner)]
    if parts and not parts[0].strip():
        parts = parts[1:]
    if parts and not parts[-1].strip():
        parts = parts[:-1]
    return [plain(p).strip() for p in parts]


def tables(text: str) -> Iterator[tuple[int, list[str], list[list[str]], str]]:
    """Yield (line of the header, columns, rows, verbatim header) of each table of a text."""
    lines = text.split("\n")
    at, fence = 0, False
    while at < len(lines):
        if lines[at].lstrip().startswith(("```", "~~~")):
            fence = not fence
        if at + 1 < len(lines) and _PIPE.search(lines[at]) and _SEPARATOR.match(lines[at + 1]):
            columns = cells(lines[at])
            rows: list[list[str]] = []
            end = at + 2
            while end < len(lines):
                line = lines[end]
                if _SEPARATOR.match(line) or _BORDER.match(line):
                    end += 1
                    continue
                if not _PIPE.search(line):
                    break
                row = cells(line)
                if len(row) > 1:
                    rows.append(row[: len(columns)] + [""] * (len(columns) - len(row)))
                end += 1
            if len(columns) >= 2 and rows:
                yield at, columns, rows, lines[at]
            at = end
            continue
        at += 1


def measures(columns: list[str], rows: list[list[str]]) -> bool:
    """Whether at least half of the filled cells behind the first column are figures."""
    body = [c for row in rows for c in row[1:] if not _EMPTY.match(c)]
    figures = sum(1 for c in body if len(c) <= 40 and _FIGURE.match(c))
    return bool(body) and figures * 2 >= len(body) and len(columns) <= 14


def _caption(lines: list[str], header: int) -> str:
    for back in range(header - 1, max(header - 5, -1), -1):
        line = lines[back].strip()
        if not line:
            continue
        if _BORDER.match(line) or line.startswith(("```", "~~~")):
            continue
        if line.startswith("#"):
            return plain(line.lstrip("# "))
        if line.startswith("**") or line.endswith((":", "：", ":**")) or len(line) < 120:
            return plain(line)
        return ""
    return ""


@extractor
def word_tables(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield a `table` for each table of figures that the agent wrote."""
    if message.role != "assistant" or message.subagent:
        return
    text = message.said()
    if "|" not in text and "│" not in text and "┃" not in text:
        return
    lines = text.split("\n")
    authority = Authority.SUMMARY if message.origin == "summary" else Authority.TEXT
    for header, columns, rows, quote in tables(text):
        if not measures(columns, rows):
            continue
        caption = _caption(lines, header)
        cues = find(settings, " ".join([caption, *columns]))
        if "others" in cues or ("planned" in cues and "best" not in cues):
            continue
        if len(rows) > ROWS:
            rows = [*rows[: ROWS // 2], *rows[-ROWS // 2 :]]
        yield fact(
            message,
            "table",
            "",
            quote.strip(),
            authority,
            caption=caption,
            columns=columns,
            rows=rows,
            host="",
            source="words",
        )
