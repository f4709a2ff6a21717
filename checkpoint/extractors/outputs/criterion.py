"""Criterion (Rust): the estimate of each benchmark with its bounds, change and verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output

_TIME = re.compile(
    r"^(?P<name>\S[^\n]*?)?\s+time:\s+\[(?P<low>[\d.]+ \S+) (?P<value>[\d.]+) (?P<unit>\S+) (?P<high>[\d.]+ \S+)\]",
    re.MULTILINE,
)
_CHANGE = re.compile(r"^\s+(?:change:|time:)\s+\[\S+ (\S+%) \S+\] \(p = ", re.MULTILINE)


@output(commands=("cargo bench", "cargo criterion"), signatures=("time:   [",))
def criterion(run: Run, text: str) -> Iterator[Claim]:
    """Read a line a benchmark; long names stand on the line before their figures."""
    found = list(_TIME.finditer(text))
    for at, match in enumerate(found):
        name = (match["name"] or "").strip()
        if not name:
            before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1].strip()
            name = before if before and not before.startswith("Benchmarking") else ""
        if not name or name.startswith("Benchmarking") or name == "time:":
            continue
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        change = _CHANGE.search(text, match.end(), end)
        spread = f"{match['low']} to {match['high']}" + (f", change {change[1]}" if change else "")
        yield Claim("measurement", match.group(0).strip(), {
            "subject": name, "metric": "time", "value": match["value"], "unit": match["unit"],
            "text": f"{match['value']} {match['unit']}", "configuration": "", "source": "output",
            "spread": spread})  # fmt: skip
