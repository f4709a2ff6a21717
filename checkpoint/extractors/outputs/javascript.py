"""JavaScript's test runners: jest, vitest, node's own, mocha, Playwright, bun, deno."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import counts, measured, outcome

_TESTS = re.compile(
    r"^[ \t]*Tests:?[ \t]+(.*\d+ (?:passed|failed|skipped|todo|total).*)$", re.MULTILINE
)
_FILES = re.compile(r"^[ \t]*(?:Test Suites:|Test Files)[ \t]+(?:.*?(\d+) failed)?", re.MULTILINE)
_TOOK = re.compile(r"^[ \t]*(?:Time:|Duration)[ \t]+([\d.]+ ?m?s)\b", re.MULTILINE)
_JEST = re.compile(r"^[ \t]+● (.+?)[ \t]*$", re.MULTILINE)
_VITEST = re.compile(
    r"^[ \t]*FAIL[ \t]+(?:\|[\w-]+\| )?(\S.* > .+?)(?: \d+ms)?[ \t]*$", re.MULTILINE
)
_NOTES = ("Test suite failed to run", "Cannot log after", "Console")


@output(signatures=("Test Suites:", "Test Files "))
def jest_vitest(run: Run, text: str) -> Iterator[Claim]:
    """Read the count line of jest and vitest; suites that did not even start are errors."""
    files = _FILES.search(text)
    if files is None:
        return
    found = list(_TESTS.finditer(text))
    told = counts(found[-1][1].replace("|", ",")) if found else {}
    took = _TOOK.search(text)
    vitest = "Test Files" in text
    failing = [f for f in (_VITEST if vitest else _JEST).findall(text) if not f.startswith(_NOTES)]
    broken = len(re.findall(r"Test suite failed to run", text)) if not vitest else 0
    if vitest and not told.get("failed") and files[1]:
        broken = int(files[1])
    quote = found[-1].group(0) if found else files.group(0)
    yield outcome(run, quote, "vitest" if vitest else "jest", passed=told.get("passed", 0),
                 failed=told.get("failed", 0), errors=broken,
                 skipped=told.get("skipped", 0) + told.get("todo", 0),
                 duration=took[1] if took else "", failing=failing)  # fmt: skip


_COVERED = re.compile(r"^All files\s*\|\s*(\d[\d.]*)\s*\|", re.MULTILINE)


@output(signatures=("All files",))
def javascript_coverage(run: Run, text: str) -> Iterator[Claim]:
    """Read the share of statements from Istanbul's table."""
    match = _COVERED.search(text)
    if match and "% Stmts" in text:
        quote = next(x for x in text.splitlines() if x.startswith("All files"))
        yield measured(quote, "tests", "coverage", match[1], "%")


_NODE = re.compile(
    r"^[#ℹ] (tests|pass|fail|cancelled|skipped|todo|duration_ms(?= [\d.]+$)) (\d{1,9}(?:\.\d+)?)$",
    re.MULTILINE,
)
_NOT_OK = re.compile(
    r"^[ \t]*not ok \d+ - (.+?)(?: # .*)?$|^[ \t]*✖ (.+?) \([\d.]+m?s\)$", re.MULTILINE
)


@output(signatures=("# pass ", "ℹ pass "))
def node_test(run: Run, text: str) -> Iterator[Claim]:
    """Read the totals of `node --test`, as TAP or as its own report."""
    told = dict(_NODE.findall(text))
    if not {"pass", "fail"} <= {k for k, v in told.items() if v.isdigit()}:
        return
    failing = [one or other for one, other in _NOT_OK.findall(text)]
    quote = next(x for x in text.splitlines() if re.match(r"[#ℹ] pass ", x))
    yield outcome(run, quote, "node", passed=int(told["pass"]), failed=int(told["fail"]),
                 errors=_count(told, "cancelled"), skipped=_count(told, "skipped"),
                 duration=f"{told['duration_ms']} ms" if "duration_ms" in told else "",
                 failing=[f for f in failing if "failing tests" not in f])  # fmt: skip


def _count(told: dict[str, str], word: str) -> int:
    value = told.get(word, "")
    return int(value) if value.isdigit() else 0


_MOCHA = re.compile(r"^[ \t]+(\d+) (passing|failing|pending)(?: \(([\d.]+m?s)\))?$", re.MULTILINE)
_MOCHA_FAIL = re.compile(r"^[ \t]+\d+\) (\S.*(?:\n\s{6,}\S.*?)??:)$", re.MULTILINE)


@output(signatures=(" passing (", " passing\n"))
def mocha(run: Run, text: str) -> Iterator[Claim]:
    """Read mocha's three count lines."""
    found = list(_MOCHA.finditer(text))
    told = {m[2]: int(m[1]) for m in found}
    if "passing" not in told:
        return
    took = next((m[3] for m in found if m[3]), "")
    listed = text[text.find(" failing") :] if "failing" in told else ""
    yield outcome(run, found[0].group(0), "mocha", passed=told["passing"],
                 failed=told.get("failing", 0), skipped=told.get("pending", 0), duration=took,
                 failing=[" ".join(f.rstrip(":").split()) for f in _MOCHA_FAIL.findall(listed)])  # fmt: skip


_PLAYWRIGHT = re.compile(
    r"^\s{2,}(\d+) (passed|failed|flaky|skipped|did not run|interrupted)(?: \(([\d.]+m?s?)\))?$",
    re.MULTILINE,
)


@output(commands=("playwright",), signatures=("[chromium]", "Running "))
def playwright(run: Run, text: str) -> Iterator[Claim]:
    """Read the counts that Playwright prints last, a line each."""
    if not re.search(r"^Running \d+ tests? using \d+ worker", text, re.MULTILINE):
        return
    told = {m[2]: (int(m[1]), m[3] or "", m.group(0)) for m in _PLAYWRIGHT.finditer(text)}
    if not told:
        return
    n = {word: row[0] for word, row in told.items()}
    quote = told.get("failed", told.get("passed", next(iter(told.values()))))[2]
    failing = re.findall(r"^\s{4}(\[\w+\] › .+?)\s*─*$", text, re.MULTILINE)
    yield outcome(run, quote, "playwright", passed=n.get("passed", 0), failed=n.get("failed", 0),
                 errors=n.get("interrupted", 0), skipped=n.get("skipped", 0) + n.get("did not run", 0),
                 duration=next((row[1] for row in told.values() if row[1]), ""),
                 failing=failing)  # fmt: skip


@output(commands=("bun test",), signatures=(" expect() calls",))
def bun_test(run: Run, text: str) -> Iterator[Claim]:
    """Read ` 12 pass`, ` 1 fail` and `Ran 13 tests across 2 files. [45.00ms]`."""
    told = {
        word: int(n)
        for n, word in re.findall(r"^ +(\d+) (pass|fail|skip|todo)$", text, re.MULTILINE)
    }
    match = re.search(
        r"^Ran \d+ tests? across \d+ files?\.(?: \[([\d.]+m?s)\])?.*$", text, re.MULTILINE
    )
    if match and told:
        failing = re.findall(r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$", text, re.MULTILINE)
        yield outcome(run, match.group(0), "bun", passed=told.get("pass", 0),
                     failed=told.get("fail", 0), skipped=told.get("skip", 0) + told.get("todo", 0),
                     duration=match[1] or "", failing=failing)  # fmt: skip


@output(commands=("deno",), signatures=(" passed (", " passed | "))
def deno_test(run: Run, text: str) -> Iterator[Claim]:
    """Read `ok | 12 passed | 0 failed | 1 ignored (34ms)`."""
    match = re.search(
        r"^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \| (\d+) ignored)?.*?(?:\((\d+m?s)\))?$",
        text, re.MULTILINE)  # fmt: skip
    if match:
        yield outcome(run, match.group(0), "deno", passed=int(match[1]), failed=int(match[2]),
                     skipped=int(match[3] or 0), duration=match[4] or "",
                     failing=re.findall(r"^(\S.*?) => \./", text, re.MULTILINE))  # fmt: skip
