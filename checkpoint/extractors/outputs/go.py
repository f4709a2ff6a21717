"""Go: packages, tests and benchmarks of `go test`, gotestsum."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured, outcome, repeated

_OK = re.compile(r"^ok[ \t]+(\S+)[ \t]+(?:[\d.]+s|\(cached\)).*$", re.MULTILINE)
_BAD = re.compile(r"^FAIL[ \t]+(\S+).*$", re.MULTILINE)
_ONE = re.compile(r"^[ \t]*--- (PASS|FAIL|SKIP): (\S+) \(", re.MULTILINE)
_ENDED = re.compile(r"^(?:PASS|FAIL|panic: .*)$", re.MULTILINE)


@output(
    commands=("go test", "gotestsum"), signatures=("--- FAIL: ", "--- PASS: ", "ok  \t", "FAIL\t")
)
def go_test(run: Run, text: str) -> Iterator[Claim]:
    """Count tests with `-v`, packages without; name what failed."""
    ok = [m for m in _OK.finditer(text) if "[no tests to run]" not in m.group(0)]
    bad = list(_BAD.finditer(text))
    single = _ONE.findall(text)
    failing = [name for verdict, name in single if verdict == "FAIL"]
    if not ok and not bad and not single:
        return
    verbose = [verdict for verdict, _ in single].count("PASS") > 0
    passed = sum(v == "PASS" for v, _ in single) if verbose else len(ok)
    skipped = sum(v == "SKIP" for v, _ in single)
    first = bad[0] if bad else ok[0] if ok else _ONE.search(text)
    quote = first.group(0) if first else ""
    took = re.search(r"\s([\d.]+s)\b", quote) if len(ok) + len(bad) == 1 else None
    if {"tail", "head"} & set(run.piped_to) and not bad and not failing:
        passed = skipped = 0  # how many there were was cut off
    claim = outcome(run, quote, "go", passed=passed, failed=len(failing) or len(bad), skipped=skipped,
                 duration=took[1] if took else "",
                 failing=failing or [one[1] for one in bad],
                 ok=not bad and not failing and not _failed(text))  # fmt: skip
    if passed and not verbose and not failing:
        claim.fields["of"] = "packages"
    yield claim


def _failed(text: str) -> bool:
    return any(m.group(0) != "PASS" for m in _ENDED.finditer(text))


@output(commands=("go test",), signatures=("coverage: ",))
def go_coverage(run: Run, text: str) -> Iterator[Claim]:
    """Read the share of statements, of a single package or in total."""
    found = re.findall(
        r"^(?:ok\s+(\S+)\s.*?|total:\s+)?(?:coverage: |\(statements\)\s+)(\d[\d.]*)%",
        text,
        re.MULTILINE,
    )
    rows = [(name, value) for name, value in found if value]
    if 0 < len(rows) <= 4:
        for name, value in rows:
            quote = next((x for x in text.splitlines() if f"{value}%" in x), "")
            yield measured(quote, name or "tests", "coverage", value, "%")


_BENCH = re.compile(r"^(Benchmark\S+?)(?:-(\d+))?\s+\d+\s+(\d[\d.]* ns/op.*)$", re.MULTILINE)


@output(commands=("go test",), signatures=(" ns/op",))
def go_bench(run: Run, text: str) -> Iterator[Claim]:
    """Read go's benchmark lines with all their units; `-count N` gives mean and spread."""
    series: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for match in _BENCH.finditer(text):
        for value, unit in re.findall(r"(\d[\d.]*) (\S+)", match[3]):
            series.setdefault((match[1], unit), []).append((value, match.group(0)))
    for (name, unit), points in series.items():
        value, spread = repeated([v for v, _ in points])
        yield measured(points[-1][1], name, unit, value, unit, spread=spread)
