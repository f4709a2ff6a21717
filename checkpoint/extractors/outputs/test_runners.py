"""Test runners of one line: RSpec, minitest, PHPUnit, Maven, Gradle, CTest, GoogleTest, and more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import outcome


@dataclass(frozen=True, slots=True)
class Form:
    """How a runner says how many; the last such line counts, or the sum of all."""

    runner: str
    line: str
    """Groups `passed` or `total`, `failed`, `errors`, `skipped`, `took`."""
    failing: str = ""
    """Lines that name what failed; group 1."""
    summed: bool = False


FORMS = (
    Form("rspec", r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"
         r"(?:, (?P<errors>\d+) errors? occurred outside of examples)?$",
         r"^rspec (\S+:\d+|'[^']+') #"),
    Form("minitest", r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, "
         r"(?P<errors>\d+) errors(?:, (?P<skipped>\d+) (?:skips|pendings|skipped))?.*$",
         r"^(?:Failure|Error): ?\n?(\S+#\S+)"),
    Form("phpunit", r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
         r"(?:, Failures: (?P<failed>\d+))?(?:, \w+: \d+)*?(?:, Skipped: (?P<skipped>\d+))?(?:, \w+: \d+)*\.$",
         r"^\d+\) (\S+::\S+)"),
    Form("phpunit", r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)$"),
    Form("maven", r"^(?:\[\w+\] +)?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), "
         r"Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+)$",
         r"^\[ERROR\] +(\w+(?:\.\w+)+:\d+) "),
    Form("gradle", r"^(?P<total>\d+) tests completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$",
         r"^(\S+ > \S.*) FAILED$"),
    Form("ctest", r"^\d+% tests passed, (?P<failed>\d+) tests failed out of (?P<total>\d+)$",
         r"^[ \t]*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|ILLEGAL|Child aborted)[^)]*\)"),
    Form("dotnet", r"^[ \t]*(?:Passed|Failed)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+), "
         r"Skipped:\s+(?P<skipped>\d+), Total:\s+\d+, Duration: (?P<took>[^-\n]+?)(?: - .*)?$",
         r"^[ \t]*Failed (\S+) \[", summed=True),
    Form("exunit", r"^(?:\d+ doctests?, )?(?P<total>\d+) tests, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) (?:skipped|excluded))?$",
         r"^[ \t]+\d+\) test (.+ \(\S+\))$"),
    Form("xctest", r"^[ \t]*Executed (?P<total>\d+) tests?, with (?:\d+ tests? skipped and )?(?P<failed>\d+) failures? "
         r"\(\d+ unexpected\) in (?P<took>[\d.]+) .*$", r"error: -\[(\S+ \S+)\]"),
    Form("gotestsum", r"^DONE (?P<total>\d+) tests(?:, (?P<skipped>\d+) skipped)?(?:, (?P<failed>\d+) failures?)?"
         r"(?:, (?P<errors>\d+) errors?)? in (?P<took>[\d.]+s)$"),
    Form("prove", r"^Files=\d+, Tests=(?P<total>\d+), +(?P<took>[\d.]+) wallclock.*$"),
)  # fmt: skip
_COMPILED = tuple((form, re.compile(form.line, re.MULTILINE)) for form in FORMS)


@output(signatures=(
    " examples, ", " example, ", " assertions, ", "Assertions: ", "OK (", "Tests run: ",
    " tests completed", "% tests passed", "Failed!  - ", "Passed!  - ", " tests, ", "Executed ",
    "DONE ", "Files="))  # fmt: skip
def test_line(run: Run, text: str) -> Iterator[Claim]:
    """Read the line in which a runner says how many tests passed."""
    for form, pattern in _COMPILED:
        found = list(pattern.finditer(text))
        if not found:
            continue
        yield _claim(run, text, form, found if form.summed else found[-1:])
        return


def _claim(run: Run, text: str, form: Form, found: list[re.Match[str]]) -> Claim:
    def total(name: str) -> int:
        return sum(int(one.groupdict().get(name) or 0) for one in found)

    failed, errors, skipped = total("failed"), total("errors"), total("skipped")
    passed = total("passed") or max(total("total") - failed - errors - skipped, 0)
    failing = re.findall(form.failing, text, re.MULTILINE) if form.failing else []
    took = found[-1].groupdict().get("took") or ""
    ok = not failed and not errors
    if form.runner == "prove":
        ok = "Result: PASS" in text
        failing = re.findall(r"^(\S+\.t) .*(?:Failed|Wstat)", text, re.MULTILINE)
        failed = 0 if ok else max(len(failing), 1)
    worst = next((one for one in found if int(one.groupdict().get("failed") or 0)), found[-1])
    return outcome(run, worst.group(0), form.runner, passed=passed, failed=failed, errors=errors,
                  skipped=skipped, duration=took.strip() if len(found) == 1 else "",
                  failing=failing, ok=ok)  # fmt: skip


@output(signatures=("[  PASSED  ]",))
def googletest(run: Run, text: str) -> Iterator[Claim]:
    """Read GoogleTest's last lines; several binaries in one output are added up."""
    passed = re.findall(r"^\[  PASSED  \] (\d+) tests?\.$", text, re.MULTILINE)
    failed = re.findall(r"^\[  FAILED  \] (\d+) tests?, listed below:$", text, re.MULTILINE)
    took = re.findall(r"^\[=+\] \d+ tests? .*ran\. \((\d+ ms) total\)$", text, re.MULTILINE)
    names = re.findall(r"^\[  FAILED  \] (\w\S*\.\w\S*?)(?:,.*)?$", text, re.MULTILINE)
    skipped = re.findall(r"^\[  SKIPPED \] (\d+) tests?, listed below:$", text, re.MULTILINE)
    if passed:
        mark = "[  FAILED  ]" if failed else "[  PASSED  ]"
        quote = next(x for x in text.splitlines() if x.startswith(mark) and x[13:14].isdigit())
        yield outcome(run, quote, "googletest", passed=sum(map(int, passed)),
                     failed=sum(map(int, failed)), skipped=sum(map(int, skipped)),
                     duration=took[0] if len(took) == 1 else "", failing=names)  # fmt: skip
