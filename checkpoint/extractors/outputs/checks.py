"""Compilers, linters and type checkers: whether they were content, and how many errors they found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import checked

VERDICTS: tuple[tuple[str, bool], ...] = (
    (r"^Success: no issues found in \d+ source files?$", True),  # mypy
    (r"^Found (?P<n>\d+) errors? in \d+ files? \(checked \d+ source files?\)$", False),
    (r"^All checks passed!$", True),  # ruff
    (r"^Found (?P<n>\d+) errors?(?: \(\d+ fixed, \d+ remaining\))?\.$", False),
    (r"^0 errors, \d+ warnings?, \d+ (?:informations|notes)\s*$", True),  # pyright
    (r"^(?P<n>[1-9]\d*) errors?, \d+ warnings?, \d+ (?:informations|notes)\s*$", False),
    (r"^✖ \d+ problems? \((?P<n>[1-9]\d*) errors?, \d+ warnings?\)$", False),  # eslint
    (r"^✖ \d+ problems? \(0 errors, \d+ warnings?\)$", True),
    (r"^Found (?P<n>\d+) errors? in (?:\d+ files|the same file|\S+:\d+)", False),  # tsc
    (r"^Checked \d+ files? in [\d.]+m?s\. (?:No fixes applied|Fixed \d+ files?)\.$", True),  # biome
    (r"^Found (?P<n>\d+) errors?\.?$", False),
    (r"^0 issues\.$", True),  # golangci-lint
    (r"^(?P<n>[1-9]\d*) issues:$", False),
    (
        r"^error: could not compile `\S+`(?: \(.*?\))?(?: due to (?P<n>\d+) previous errors?)?.*$",
        False,
    ),  # cargo
    (r"^[ \t]*Finished `?\w+`? .*target\(s\) in [\d.ms ]+$", True),
    (r"^make(?:\[\d+\])?: \*\*\* .* Error \d+$", False),
    (r"^BUILD SUCCESS(?:FUL)?\b.*$", True),  # Gradle
    (r"^BUILD FAILED\b.*$", False),
    (r"^\[INFO\] BUILD SUCCESS$", True),  # Maven
    (r"^\[(?:INFO|ERROR)\] BUILD FAILURE$", False),
    (r"^Build succeeded\.$", True),  # dotnet
    (r"^Build FAILED\.$", False),
    (r"^webpack [\d.]+ compiled successfully.*$", True),
    (r"^✓ built in [\d.]+m?s$", True),  # Vite
    (r"^ ?[✓✔] Compiled successfully.*$|^Compiled successfully.*$", True),
    (r"^Failed to compile\.?$", False),
    (r"^All matched files use Prettier code style!$", True),
    (r"^All done! .*$", True),  # black
)
_HINT = re.compile(
    r"Success|Found|passed!|errors?,|problem|Checked|issues|not compile|Finished|\*\*\*|BUILD|Build|ompile|built in|"
    r"matched|All done"
)
"""What each verdict holds: cheaper to look for than all of them."""
_ERRS = re.compile(r"error|:\d+:\d+")
TAIL = 12_000
"""A verdict stands at the end (characters)."""
_COMPILED = tuple((re.compile(pattern, re.MULTILINE), ok) for pattern, ok in VERDICTS)
_ERROR = re.compile(
    r"^(?:error(?:\[E\d+\])?: .*|\S{1,200}?[:(]\d+[:,]\d+\)?:? (?:fatal )?error:? .*|\S{1,200}\.go:\d+:\d+: .*)$",
    re.MULTILINE,
)


@output(
    commands=("mypy", "ruff", "pyright", "basedpyright", "eslint", "tsc", "biome", "golangci-lint",
              "gcc", "g++", "clang", "make", "cmake", "ninja", "go build", "go vet", "gradle", "gradlew", "mvn",
              "dotnet", "webpack", "vite", "next", "prettier", "black", "oxlint"),
    signatures=("Success: no issues", "All checks passed!", " source file", "error: could not compile", "error[E",
                "target(s) in ", "BUILD SUCCESS", "BUILD FAIL", "✖ ", "Checked ", "compiled successfully",
                "✓ built in ", "Compiled successfully", "Failed to compile", " issues"),
    beside=True,
)  # fmt: skip
def verdict(run: Run, text: str) -> Iterator[Claim]:
    """Read the last verdict of a checker or a build, and the first error's line."""
    lines = text[-TAIL:].split("\n")
    last = _last(lines)
    if last is not None and last[1]:
        yield checked(run, last[0].group(0), ok=True)
        return
    errors = [line.strip() for line in lines if _ERRS.search(line) and _ERROR.match(line)]
    if last is None:
        if errors:
            yield checked(run, errors[0], ok=False, errors=len(errors))
        return
    match = last[0]
    count = int(match.groupdict().get("n") or len(errors))
    shown = f"{match.group(0).strip()}: {errors[0]}" if errors else match.group(0)
    yield checked(run, match.group(0), ok=False, errors=count, text=shown[:300])


def _last(lines: list[str]) -> tuple[re.Match[str], bool] | None:
    """Return the last line that is a verdict, and whether it is a good one."""
    for line in reversed(lines):
        if len(line) < 300 and _HINT.search(line):
            for pattern, ok in _COMPILED:
                match = pattern.match(line)
                if match:
                    return match, ok
    return None
