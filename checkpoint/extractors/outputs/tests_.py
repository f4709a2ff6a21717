"""Test runners: how many passed and failed, and which."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output

_PYTEST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+)"
    r" in ([\d.]+ ?s)(?: \([\d:]+\))?(?: =+)?\s*$",
    re.MULTILINE,
)


def _command(run: Run) -> str:
    return run.command.split(" 2>")[0].strip()[:160]


@output(
    commands=("pytest", "py.test", "tox", "nox"),
    signatures=(" passed in ", " failed in ", " error in ", " errors in ", " passed, "),
)
def pytest(run: Run, text: str) -> Iterator[Claim]:
    """Read pytest's last line."""
    found = list(_PYTEST.finditer(text))
    if not found:
        return
    last = found[-1]
    counts = {
        m[1].rstrip("s") if m[1] != "passed" else "passed": int(m[0])
        for m in re.findall(r"(\d+) (\w+)", last[1])
    }
    failing = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    failed, errors = counts.get("failed", 0), counts.get("error", 0)
    yield Claim("tests", last.group(0).strip(), {
        "command": _command(run), "passed": counts.get("passed", 0), "failed": failed,
        "errors": errors, "skipped": counts.get("skipped", 0), "duration": last[2],
        "failing": failing[:20], "ok": not failed and not errors, "runner": "pytest"})  # fmt: skip


@output(commands=("cargo test", "cargo nextest"), signatures=("test result: ",))
def cargo_test(run: Run, text: str) -> Iterator[Claim]:
    """Sum cargo's results over all its binaries."""
    found = re.findall(
        r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored", text, re.MULTILINE
    )
    if not found:
        return
    passed, failed, ignored = (sum(int(row[i]) for row in found) for i in (1, 2, 3))
    quote = re.search(r"^test result: .*$", text, re.MULTILINE)
    yield Claim("tests", quote.group(0) if quote else "", {
        "command": _command(run), "passed": passed, "failed": failed, "errors": 0, "skipped": ignored,
        "duration": "", "failing": re.findall(r"^test (\S+) \.\.\. FAILED$", text, re.MULTILINE)[:20],
        "ok": not failed and all(row[0] == "ok" for row in found), "runner": "cargo"})  # fmt: skip


@output(commands=("go test",))
def go_test(run: Run, text: str) -> Iterator[Claim]:
    """Read go's packages and failed tests."""
    ok = re.findall(r"^ok\s+\S+", text, re.MULTILINE)
    bad = re.findall(r"^FAIL\s+\S+", text, re.MULTILINE)
    failing = re.findall(r"^\s*--- FAIL: (\S+)", text, re.MULTILINE)
    if not ok and not bad and not failing:
        return
    quote = (bad or ok or failing)[0]
    yield Claim("tests", quote, {
        "command": _command(run), "passed": len(ok), "failed": len(failing) or len(bad), "errors": 0,
        "skipped": 0, "duration": "", "failing": failing[:20], "ok": not bad and not failing,
        "runner": "go"})  # fmt: skip


@output(commands=("jest", "vitest", "npm test", "npm run", "pnpm test", "yarn test", "bun test"),
        signatures=("Test Suites:", "Test Files "))  # fmt: skip
def javascript(run: Run, text: str) -> Iterator[Claim]:
    """Read the count line of jest and vitest."""
    match = re.search(r"^\s*Tests:?\s+(.*\d+ (?:passed|failed).*)$", text, re.MULTILINE)
    if not match:
        return
    counts = {
        name: int(n) for n, name in re.findall(r"(\d+) (passed|failed|skipped|todo)", match[1])
    }
    yield Claim("tests", match.group(0).strip(), {
        "command": _command(run), "passed": counts.get("passed", 0), "failed": counts.get("failed", 0),
        "errors": 0, "skipped": counts.get("skipped", 0), "duration": "", "failing": [],
        "ok": not counts.get("failed"), "runner": "javascript"})  # fmt: skip
