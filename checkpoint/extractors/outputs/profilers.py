"""Profilers: the functions on top of pprof's and of cProfile's listings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured
from checkpoint.extractors.outputs._names import subject

TOP = 3
"""So many functions are kept: what takes the time, not where the rest is spread."""
_PPROF = re.compile(
    r"^[ \t]*(\d[\d.]*\w*)\s+([\d.]+%)\s+([\d.]+%)\s+(\d[\d.]*\w*)\s+([\d.]+%)\s+(\S.*)$",
    re.MULTILINE,
)
_CPROFILE = re.compile(
    r"^[ \t]*(\d+(?:/\d+)?)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\S.*)$",
    re.MULTILINE,
)


def _top(
    run: Run, text: str, head: str, pattern: re.Pattern[str], own: int, shown: Callable[..., str]
) -> Iterator[Claim]:
    start = text.find(head)
    if start < 0:
        return
    for match in list(pattern.finditer(text, start))[:TOP]:
        figure = re.match(r"[\d.]+", match[own])
        if figure:
            yield measured(match.group(0), f"{subject(run)} profile", match[6].strip(),
                           figure.group(0), match[own][figure.end() :] or "s", text=shown(match))  # fmt: skip


@output(signatures=("flat  flat%   sum%",))
def pprof(run: Run, text: str) -> Iterator[Claim]:
    """Read the top of `go tool pprof -top`: own time, its share, cumulative time."""
    yield from _top(run, text, "flat  flat%", _PPROF, 1, lambda m: f"{m[1]} ({m[2]}), cum {m[4]}")


@output(signatures=("ncalls  tottime  percall  cumtime",))
def cprofile(run: Run, text: str) -> Iterator[Claim]:
    """Read the top of the listing of Python's cProfile and pstats: cumulative and own time."""
    yield from _top(
        run, text, "ncalls  tottime", _CPROFILE, 4, lambda m: f"{m[4]} s (own {m[2]} s)"
    )
