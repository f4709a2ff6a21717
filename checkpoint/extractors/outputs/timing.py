"""How long commands took: bash's, zsh's and GNU's `time`, hyperfine, timeit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import command, measured

_REAL = re.compile(
    r"^real[ \t]+((?:\d+h ?)?(?:\d+m ?)?\d+(?:[.,]\d+)?s?)\n(?:^user[ \t].*\n^sys[ \t].*$)?",
    re.MULTILINE,
)
_ZSH = re.compile(
    r"^(?P<what>.{0,300}?)[ \t]*(?<![\d.,])(?P<user>[\d.,]{1,12})s user (?P<sys>[\d.,]+)s system \d+% cpu (?P<total>[\d:.,]+) total$",
    re.MULTILINE,
)
_GNU = re.compile(
    r"^[\d.]+user [\d.]+system (?P<total>[\d:.]+)elapsed .*?\(\d+avgtext\+\d+avgdata (?P<memory>\d+)maxresident\)k$",
    re.MULTILINE,
)
_FILTER = re.compile(r"(?:tail|head|grep|tee|cat|less|wc|sed|awk|sort|uniq|cut|tr|jq)\b")
_TIMED = re.compile(r"^(?:\S*/)?(?:time|gtime)\s+(?:-\S+\s+)*")


def _what(run: Run) -> str:
    return _TIMED.sub("", command(run))[:80]


def _clock(value: str) -> tuple[str, str]:
    """Return (value, unit): "2m1.5s" and "1:02.3" are whole, "0.102" is in seconds."""
    return (value, "") if ":" in value or value[-1].isalpha() else (value, "s")


@output(commands=("time", "gtime"), signatures=("real\t", "\nreal ", "real "), beside=True)
def bash_time(run: Run, text: str) -> Iterator[Claim]:
    """Read the wall time of bash's and of POSIX' `time`."""
    found = list(_REAL.finditer(text))
    if not found or len(found) > 1 or "user" not in text:
        return  # of several commands none is known to be whose
    value, unit = _clock(found[0][1])
    yield measured(found[0].group(0).split("\n")[0], _what(run), "wall time", value, unit)


@output(signatures=("% cpu ", "maxresident)k", "\tMaximum resident set size"), beside=True)
def other_time(run: Run, text: str) -> Iterator[Claim]:
    """Read zsh's `time`, GNU time's line and its `-v`: wall time, most memory."""
    lines = (x for x in text.split("\n") if "% cpu " in x and len(x) < 400)
    for match in [m for m in map(_ZSH.match, lines) if m][:4]:
        if _FILTER.match(match["what"]):
            continue  # the end of a pipe
        value, unit = _clock(match["total"])
        what = " ".join(match["what"].split())[:80]
        yield measured(match.group(0), what or _what(run), "wall time", value, unit)
    for match in list(_GNU.finditer(text))[:1]:
        value, unit = _clock(match["total"])
        yield measured(match.group(0), _what(run), "wall time", value, unit)
        yield measured(match.group(0), _what(run), "maximum memory", match["memory"], "KB")
    told = re.search(r'^\tCommand being timed: "(.*)"$', text, re.MULTILINE)
    what = told[1][:80] if told else _what(run)
    for pattern, metric, unit in (
        (r"^\tElapsed \(wall clock\) time \(.*?\): ([\d:.]+)$", "wall time", ""),
        (r"^\tMaximum resident set size \(kbytes\): (\d+)$", "maximum memory", "KB"),
    ):
        one = re.search(pattern, text, re.MULTILINE)
        if one:
            yield measured(one.group(0), what, metric, one[1], unit)


_MEAN = re.compile(r"Time \((?:mean ± σ|abs ≡)\):\s+([\d.]+) (\S+)(?: ±\s+([\d.]+) (\S+))?")
_RANGE = re.compile(r"Range \(min … max\):\s+([\d.]+ \S+) …\s+([\d.]+ \S+)\s+(\d+) runs")
_FASTER = re.compile(r"^[ \t]+([\d.]+)(?: ± ([\d.]+))? times faster than (.+)$")


@output(commands=("hyperfine",), signatures=("Time (mean ± σ):", "Time (abs ≡):"))
def hyperfine(run: Run, text: str) -> Iterator[Claim]:
    """Read mean, spread and range of each command, and how they compare."""
    name = winner = ""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if len(line) > 400:
            continue
        head = re.match(r"Benchmark (?:#?\d+): (.+)", line.strip())
        if head:
            name = head[1].strip()
        mean = _MEAN.search(line)
        if mean:
            span = _RANGE.search("\n".join(lines[at + 1 : at + 3]))
            spread = f"± {mean[3]} {mean[4]}" if mean[3] else ""
            if span:
                spread += f", {span[1]} to {span[2]}, {span[3]} runs"
            yield measured(line, name, "mean", mean[1], mean[2], spread=spread.strip(", "))
        ran = re.match(r"^[ \t]+(.+?) ran$", line)
        if ran:
            winner = ran[1].strip("'")
        faster = _FASTER.match(line)
        if faster and winner:
            yield measured(line, winner, f"times faster than {faster[3].strip().strip(chr(39))}",
                           faster[1], "x", spread=f"± {faster[2]}" if faster[2] else "")  # fmt: skip


@output(commands=("timeit",), signatures=(" per loop",))
def timeit(run: Run, text: str) -> Iterator[Claim]:
    """Read `10000 loops, best of 5: 27.4 usec per loop` and IPython's `27 µs ± 1 µs per loop`."""
    setup = [w for w in run.args() if not w.startswith("-")]
    what = (setup[-1] if run.name == "timeit" and setup else run.name)[:80]
    for pattern in (
        r"^\d+ loops?, best of (?P<n>\d+): (?P<v>[\d.]+) (?P<u>\S+) per loop$",
        r"^(?P<v>[\d.]+) (?P<u>\S+) ± (?P<pm>[\d.]+ \S+) per loop \(.*?$",
    ):
        found = list(re.finditer(pattern, text, re.MULTILINE))
        for at, match in enumerate(found[:10]):
            told = match.groupdict()
            spread = f"± {told['pm']}" if told.get("pm") else f"best of {told['n']}"
            yield measured(match.group(0), what if len(found) == 1 else f"{what} #{at + 1}",
                           "time per loop", told["v"], told["u"], spread=spread)  # fmt: skip
