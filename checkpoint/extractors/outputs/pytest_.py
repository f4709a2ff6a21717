"""pytest: its last line, what failed, the share of lines that the tests reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import counts, measured, outcome

_LAST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+)"
    r" in ([\d.]+ ?s)(?: \([\d:]+\))?(?: =+)?[ \t]*$",
    re.MULTILINE,
)
_FAILING = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:\[[^\]\n]*\])?)(?= - |$)", re.MULTILINE)
_COVERED = re.compile(
    r"^TOTAL\s+\d+\s+\d+(?:\s+\d+\s+\d+)?\s+(\d+(?:\.\d+)?)%[ \t]*$", re.MULTILINE
)


@output(
    commands=("pytest", "py.test", "tox", "nox"),
    signatures=(" passed in ", " failed in ", " error in ", " errors in ", " passed, ", " skipped in ",
                " warning in ", " warnings in ", " xfailed in "),
)  # fmt: skip
def pytest(run: Run, text: str) -> Iterator[Claim]:
    """Read pytest's last line; the lines of several runs in one call are added up."""
    found = list(_LAST.finditer(text))
    if not found:
        return
    total: dict[str, int] = {}
    for one in found:
        for word, n in counts(one[1]).items():
            name = {"errors": "error"}.get(word, word)
            total[name] = total.get(name, 0) + n
    if not total.keys() & {"passed", "failed", "error", "skipped", "xfailed", "xpassed"}:
        return  # "3 deselected in 0.01s": nothing was tested
    failing = _FAILING.findall(text)
    yield outcome(run, found[-1].group(0), "pytest", passed=total.get("passed", 0),
                 failed=total.get("failed", 0), errors=total.get("error", 0),
                 skipped=total.get("skipped", 0), duration=found[-1][2] if len(found) == 1 else "",
                 failing=failing)  # fmt: skip


@output(commands=("pytest", "py.test", "coverage", "coverage report"), signatures=("\nTOTAL ",))
def coverage(run: Run, text: str) -> Iterator[Claim]:
    """Read the total of coverage.py's table."""
    found = list(_COVERED.finditer(text))
    if found and "Stmts" in text:
        yield measured(found[-1].group(0), "tests", "coverage", found[-1][1], "%")
