"""Tables of figures that a program of the project printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._quantity import dimension, find
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._grid import Grid, grids
from checkpoint.extractors.outputs._names import shown_file, subject
from checkpoint.extractors.outputs._own import inline, measures, runs_own, shows_log

LONGEST = 40_000
"""Longer outputs are listings (characters)."""
MOST = 6
"""So many tables of one output are kept."""
_LISTED = frozenset(
    {"pid", "user", "perms", "permissions", "owner", "inode", "line", "port", "uid"}
)


@output(commands=("*",))
def printed_tables(run: Run, text: str) -> Iterator[Claim]:
    """Yield a table for each grid of figures; listings of other things are left out."""
    known = measures(run)
    if len(text) > LONGEST or not (known or (runs_own(run) and not inline(run)) or shows_log(run)):
        return
    name = shown_file(run) or subject(run)
    for grid in grids(text)[:MOST]:
        if _LISTED & {c.casefold() for c in grid.columns} or not (known or _measured(grid)):
            continue
        yield Claim("table", grid.header, {
            "caption": _caption(name, grid), "columns": grid.columns, "rows": grid.rows,
            "source": "output"})  # fmt: skip


_UNIT = re.compile(r"\(([^()]+)\)$|[_ ](\S+)$|^(\S+)$")


def _measured(grid: Grid) -> bool:
    """Whether a column's head names a unit, or a cell bears one: counts and prices are listings."""
    heads = (m for m in map(_UNIT.search, grid.columns) if m)
    if any(dimension(m[1] or m[2] or m[3]) not in ("", "count", "money") for m in heads):
        return True
    cells = (q for row in grid.rows for cell in row[1:] for q in find(cell))
    return any(q.dimension not in ("", "count", "money", "bytes") for q in cells)


def _caption(name: str, grid: Grid) -> str:
    return f"{name}: {grid.caption}" if grid.caption else f"{name}: {grid.columns[0]}"
