"""Tables that programs print: pipes, boxes, aligned columns, comma-separated values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

ROWS = 60
"""Rows of longer tables are left out from the middle."""
MOST_COLUMNS = 14

_RULE = re.compile(
    r"^[ \t]*[|+:├┣╠┡┢┝╞╟]?[\s:|+\-=─━═╌┄┼╋╬╪╫┿╇╈]*[-─━═=]{3,}[\s:|+\-=─━═╌┄┼╋╬╪╫┿╇╈┴┬]*[|+┤┫╣┩┪┥╡╢]?\s*$"
)
_BORDER = re.compile(r"^[ \t]*[┌╔┏└╚┗+╭╰╒╘][\-=─━═┬┴╦╩┳┻+╤╧┯┷]*[┐╗┓┘╝┛+╮╯╕╛]\s*$")
_BARS = re.compile(r"(?<!\\)[|│┃║]")
_GAP = re.compile(r"\s{2,}|\t")
_NUMBER = re.compile(
    r"^[~≈<>±+-]?[$€£]?\d[\d.,:]*(?:e[+-]?\d+)?(?:\s*±\s*[\d.,]+)?\s*(?:[%×xX]|[a-zA-Zµμ/²³°]{1,12})?(?:\s*\([^)]*\))?$"
)
_EMPTY = re.compile(
    r"^(?:[-–—−.]+|n/?a|none|nan|null|oom|timeout|failed|error|tbd|\?|)$", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class Grid:
    """One table of an output."""

    first: int
    """Line of its header, from 0."""
    last: int
    """Line of its last row."""
    header: str
    columns: list[str]
    rows: list[list[str]]
    caption: str = ""


@lru_cache(maxsize=2)  # two parsers look at each output, one after the other
def grids(text: str) -> list[Grid]:
    """Return the tables of figures of a text, in order."""
    lines = text.split("\n")
    found: list[Grid] = []
    at = 0
    while at < len(lines) - 1:
        grid = _bars(lines, at) or _aligned(lines, at) or _commas(lines, at)
        if grid is not None and numeric(grid.columns, grid.rows):
            grid.caption = _caption(lines, grid.first)
            if len(grid.rows) > ROWS:
                grid.rows = [*grid.rows[: ROWS // 2], *grid.rows[-ROWS // 2 :]]
            found.append(grid)
            at = grid.last + 1
        else:
            at += 1
    return found


def figure(cell: str) -> bool:
    """Whether a cell holds a figure, with its unit or without."""
    return _NUMBER.match(cell.strip("*`✅❌✓✗ ")) is not None


def numeric(columns: list[str], rows: list[list[str]]) -> bool:
    """Whether a table has words on top and at least half figures behind its first column."""
    if not 2 <= len(columns) <= MOST_COLUMNS or not rows:
        return False
    if sum(1 for c in columns if figure(c)) * 2 >= len(columns):
        return False
    body = [c for row in rows for c in row[1:] if not _EMPTY.match(c)]
    return bool(body) and sum(map(figure, body)) * 2 >= len(body)


def _cells(line: str) -> list[str]:
    parts = [p.replace("\\|", "|").strip() for p in _BARS.split(line.strip())]
    if parts and not parts[0]:
        parts = parts[1:]
    return parts[:-1] if parts and not parts[-1] else parts


def _bars(lines: list[str], at: int) -> Grid | None:
    if not _BARS.search(lines[at]) or not _RULE.match(lines[at + 1]) or _RULE.match(lines[at]):
        return None
    columns, rows, end = _cells(lines[at]), [], at + 2
    while end < len(lines):
        line = lines[end]
        if _BORDER.match(line) or _RULE.match(line):
            end += 1
            continue
        if not _BARS.search(line):
            break
        row = _cells(line)
        if len(row) < 2:
            break
        rows.append(row[: len(columns)] + [""] * (len(columns) - len(row)))
        end += 1
    return Grid(at, end - 1, lines[at].strip(), columns, rows) if rows else None


def _aligned(lines: list[str], at: int) -> Grid | None:
    """Read a header and rows whose cells stand two blanks apart, or that have as many words."""
    head = lines[at]
    if (
        not _WORD.search(head)
        or len(head) > 240
        or (":" in head.rstrip(":")[:-1] and "::" not in head)
    ):
        return None
    start = at + 2 if _RULE.match(lines[at + 1]) else at + 1
    for split in (_GAP.split, str.split):
        columns = split(head.strip())
        if len(columns) < 2 or (split is str.split and len(columns) < 3):
            continue
        rows, end = [], start
        while end < len(lines) and (lines[end].strip() and not _RULE.match(lines[end])):
            row = split(lines[end].strip())
            if len(row) != len(columns) or (not figure(row[-1]) and not _EMPTY.match(row[-1])):
                break
            rows.append(row)
            end += 1
        if len(rows) >= (2 if len(columns) == 2 or split is not str.split else 3):
            return Grid(at, end - 1, head.strip(), list(columns), rows)
    return None


def _commas(lines: list[str], at: int) -> Grid | None:
    for mark in (",", ";"):
        columns = [c.strip() for c in lines[at].split(mark)]
        if not 2 <= len(columns) <= MOST_COLUMNS or any(
            not re.fullmatch(r"[A-Za-z][\w /().%-]{0,30}", c) for c in columns
        ):
            continue
        rows, end = [], at + 1
        while end < len(lines) and lines[end].count(mark) == len(columns) - 1:
            rows.append([c.strip() for c in lines[end].split(mark)])
            end += 1
        if len(rows) >= 2:
            return Grid(at, end - 1, lines[at].strip(), columns, rows)
    return None


def _caption(lines: list[str], header: int) -> str:
    for back in range(header - 1, max(header - 4, -1), -1):
        line = lines[back].strip().strip("=-#* ")
        if not line or _BORDER.match(lines[back]):
            continue
        return (
            line.rstrip(":") if len(line) < 100 and _WORD.search(line) and "|" not in line else ""
        )
    return ""


def spans(found: list[Grid]) -> Iterator[int]:
    """Yield the lines that stand in tables."""
    for grid in found:
        yield from range(grid.first, grid.last + 1)
