"""Benchmarks of code: pytest-benchmark, Google Benchmark, JMH, Benchmark.js, vitest bench."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured, repeated

_HEAD = re.compile(r"^Name \(time in (\w+)\)\s+(.*)$", re.MULTILINE)
_CELL = re.compile(r"(>?[\d,]+(?:\.\d+)?)(?: \(>?[\d.,]+\))?(?=\s|$)|([\d;]+)")


@output(commands=("pytest",), signatures=("Name (time in ",))
def pytest_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read mean, median and operations per second of each benchmark; the unit is in the header."""
    for head in _HEAD.finditer(text):
        names = re.findall(r"\S+(?: \([^)]*\))?", head[2])
        body = text[head.end() :].lstrip("\n").split("\n")
        for line in body[1:]:
            row = re.match(r"^(\S+)((?:\s+>?[\d,;.]+(?: \(>?[\d.,]+\))?)+)\s*$", line)
            if row is None:
                break
            cells = [a or b for a, b in _CELL.findall(row[2])]
            yield from _row(line, row[1], head[1], dict(zip(names, cells, strict=False)))


def _row(line: str, name: str, unit: str, cells: dict[str, str]) -> Iterator[Claim]:
    for label, value in cells.items():
        if label in ("Mean", "Median"):
            spread = f"min {cells['Min']}, max {cells['Max']}" if "Max" in cells else ""
            if label == "Mean" and "StdDev" in cells:
                spread += f", σ {cells['StdDev']}"
            yield measured(line, name, label.lower(), value, unit, spread=spread)
        elif label.startswith("OPS"):
            rate = re.search(r"\((\w+)/s\)", label)
            yield measured(line, name, "OPS", value, f"{rate[1]}/s" if rate else "ops/s")


_GOOGLE = re.compile(
    r"^(?P<name>\S+)[ \t]+(?P<real>[\d.]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[\d.]+) (?:ns|us|ms|s)\s+(?P<n>\d+)(?P<rest>.*)$",
    re.MULTILINE,
)


@output(signatures=("CPU   Iterations", "CPU Iterations"))
def google_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read a line a benchmark; of repetitions the mean."""
    rows = list(_GOOGLE.finditer(text))
    means = [m for m in rows if m["name"].endswith("_mean")]
    for match in (means or rows)[:40]:
        name = match["name"].removesuffix("_mean")
        rates = ", ".join(re.findall(r"(\w+=[\d.]+\w*/s)", match["rest"]))
        yield measured(match.group(0), name, "time", match["real"], match["unit"], spread=rates)


_JMH = re.compile(
    r"^(?P<name>[\w.]+)\s+(?:\(?(?P<params>[^\s()]*)\)?\s+)?(?P<mode>thrpt|avgt|sample|ss)\s+(?P<n>\d+)\s+(?P<score>[\d.,]+)\s+(?:±\s+(?P<error>[\d.,]+)\s+)?(?P<unit>\S+/\S+)\s*$",
    re.MULTILINE,
)


@output(signatures=(" thrpt ", " avgt "))
def jmh(run: Run, text: str) -> Iterator[Claim]:
    """Read JMH's result table."""
    if "Score" not in text:
        return
    for match in list(_JMH.finditer(text))[:40]:
        yield measured(match.group(0), match["name"], match["mode"], match["score"], match["unit"],
                       configuration=match["params"] or "",
                       spread=f"± {match['error']}" if match["error"] else "")  # fmt: skip


_BENCHMARK_JS = re.compile(
    r"^(?P<name>\S.{0,120}?) x (?P<value>[\d,.]+) ops/sec ±(?P<pm>[\d.]+%) \((?P<n>\d+) runs? sampled\)",
    re.MULTILINE,
)
_VITEST = re.compile(
    r"^[ \t]*·[ \t]+(?P<name>\S.{0,120}?)[ \t]{2,}(?P<hz>[\d,.]+)\s+[\d.]+\s+[\d.]+\s+(?P<mean>[\d.]+)\s.*?±(?P<pm>[\d.]+%)\s+\d+",
    re.MULTILINE,
)


@output(signatures=(" ops/sec ±", "  hz  ", " rme "))
def benchmark_js(run: Run, text: str) -> Iterator[Claim]:
    """Read Benchmark.js' lines and the rows of `vitest bench`."""
    series: dict[str, list[tuple[str, str, str]]] = {}
    for match in _BENCHMARK_JS.finditer(text):
        series.setdefault(match["name"].strip(), []).append(
            (match["value"], match["pm"], match.group(0))
        )
    for name, points in series.items():
        value, spread = repeated([p[0] for p in points])
        spread = f"± {points[0][1]}" if len(points) == 1 else spread
        yield measured(points[-1][2], name, "rate", value, "ops/sec", spread=spread)
    for match in _VITEST.finditer(text):
        yield measured(match.group(0), match["name"], "rate", match["hz"], "ops/s",
                       spread=f"mean {match['mean']} ms, ± {match['pm']}")  # fmt: skip
