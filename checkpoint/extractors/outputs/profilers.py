"""Profilers: the top of pprof's and of cProfile's tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._names import subject

TOP = 12
"""So many rows are kept."""
_PPROF = re.compile(
    r"^\s*(\d[\d.]*\w*)\s+([\d.]+%)\s+([\d.]+%)\s+(\d[\d.]*\w*)\s+([\d.]+%)\s+(\S.*)$", re.MULTILINE
)
_CPROFILE = re.compile(
    r"^\s*(\d+(?:/\d+)?)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\S.*)$",
    re.MULTILINE,
)


def _table(
    run: Run, text: str, head: str, pattern: re.Pattern[str], columns: list[str]
) -> Iterator[Claim]:
    start = text.find(head)
    rows = [[m[6].strip(), *m.groups()[:5]] for m in pattern.finditer(text, max(start, 0))][:TOP]
    if start >= 0 and len(rows) >= 2:
        line = text[start : text.find("\n", start)]
        yield Claim("table", line.strip(), {
            "caption": f"{subject(run)}: profile", "columns": columns, "rows": rows,
            "source": "output"})  # fmt: skip


@output(signatures=("flat  flat%   sum%",))
def pprof(run: Run, text: str) -> Iterator[Claim]:
    """Read `go tool pprof -top`."""
    yield from _table(run, text, "flat  flat%", _PPROF,
                      ["function", "flat", "flat%", "sum%", "cum", "cum%"])  # fmt: skip


@output(signatures=("ncalls  tottime  percall  cumtime",))
def cprofile(run: Run, text: str) -> Iterator[Claim]:
    """Read the listing of Python's cProfile and pstats."""
    yield from _table(run, text, "ncalls  tottime", _CPROFILE,
                      ["function", "ncalls", "tottime", "percall", "cumtime", "percall"])  # fmt: skip
