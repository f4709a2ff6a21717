"""Rust: `cargo test`, nextest, Criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import counts, measured, outcome

_RESULT = re.compile(
    r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;.*$", re.MULTILINE
)


@output(commands=("cargo test",), signatures=("test result: ",))
def cargo_test(run: Run, text: str) -> Iterator[Claim]:
    """Sum cargo's results over all its binaries."""
    found = list(_RESULT.finditer(text))
    if not found:
        return
    passed, failed, ignored = (sum(int(one[i]) for one in found) for i in (2, 3, 4))
    if not passed + failed + ignored:
        return  # "0 passed": the documentation tests at the end of a log
    if {"tail", "head"} & set(run.piped_to) and len(found) == 1 and not failed:
        passed = ignored = 0  # one of several binaries: how many there are was cut off
    telling = next((one for one in found if one[1] != "ok"), max(found, key=lambda m: int(m[2])))
    took = re.search(r"finished in ([\d.]+s)", telling.group(0)) if len(found) == 1 else None
    yield outcome(run, telling.group(0), "cargo", passed=passed, failed=failed, skipped=ignored,
                 duration=took[1] if took else "",
                 failing=re.findall(r"^test (\S+)(?: - [^\n]*)? \.\.\. FAILED$", text, re.MULTILINE),
                 ok=all(one[1] == "ok" for one in found))  # fmt: skip


_NEXTEST = re.compile(
    r"^[ \t]*Summary \[\s*([\d.]+s)\] \d+(?:/\d+)? tests? run: (.*)$", re.MULTILINE
)


@output(commands=("cargo nextest",), signatures=(" tests run: ", " test run: "))
def nextest(run: Run, text: str) -> Iterator[Claim]:
    """Read nextest's summary."""
    match = _NEXTEST.search(text)
    if not match:
        return
    told = counts(match[2])
    failing = re.findall(
        r"^[ \t]*(?:FAIL|TIMEOUT|SIGABRT) \[\s*[\d.]+s\] (?:\(\S+\) )?(.+)$", text, re.MULTILINE
    )
    yield outcome(run, match.group(0), "nextest", passed=told.get("passed", 0),
                 failed=told.get("failed", 0) + told.get("timed", 0), skipped=told.get("skipped", 0),
                 duration=match[1], failing=[f.strip() for f in failing])  # fmt: skip


_TIME = re.compile(
    r"^(?P<name>\S[^\n]{0,200}?)?[ \t]+(?P<what>time|thrpt):[ \t]+\[(?P<low>[\d.]+ \S+) (?P<value>[\d.]+) (?P<unit>\S+) (?P<high>[\d.]+ \S+)\]",
    re.MULTILINE,
)
_CHANGE = re.compile(r"^[ \t]+(?:change:|time:)\s+\[\S+ (\S+%) \S+\] \(p = ", re.MULTILINE)
_VERDICT = re.compile(r"^[ \t]+Performance has (improved|regressed)\.", re.MULTILINE)


@output(commands=("cargo bench", "cargo criterion"), signatures=("time:   [",))
def criterion(run: Run, text: str) -> Iterator[Claim]:
    """Read a line a benchmark; long names stand on the line before their figures."""
    found = list(_TIME.finditer(text))
    name = ""
    for at, match in enumerate(found):
        if match["what"] == "time":
            name = _name(text, match)
        if not name:
            continue
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        change = _CHANGE.search(text, match.end(), end)
        verdict = _VERDICT.search(text, match.end(), end)
        spread = f"{match['low']} to {match['high']}" + (f", change {change[1]}" if change else "")
        spread += f", {verdict[1]}" if verdict else ""
        metric = "time" if match["what"] == "time" else "throughput"
        yield measured(match.group(0), name, metric, match["value"], match["unit"], spread=spread)


def _name(text: str, match: re.Match[str]) -> str:
    name = (match["name"] or "").strip()
    if not name:
        before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1].strip()
        name = before if len(before) < 120 else ""
    return "" if name.startswith(("Benchmarking", "time:", "change:", "Performance")) else name


_LIBTEST = re.compile(
    r"^test (\S+)\s+\.\.\. bench:\s+([\d,.]+) (ns/iter) \(\+/- ([\d,.]+)\)", re.MULTILINE
)


@output(commands=("cargo bench",), signatures=(" ns/iter (",))
def cargo_bench(run: Run, text: str) -> Iterator[Claim]:
    """Read the lines of the built-in benchmarks."""
    for match in _LIBTEST.finditer(text):
        yield measured(match.group(0), match[1], "time", match[2], match[3], spread=f"± {match[4]}")
