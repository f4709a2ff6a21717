"""The claims that several parsers make, in one form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from checkpoint.extractors._quantity import decimal
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim

FAILING = 20
"""So many failing tests are named."""


def measured(
    quote: str,
    subject: str,
    metric: str,
    value: str,
    unit: str = "",
    *,
    configuration: str = "",
    spread: str = "",
    text: str = "",
) -> Claim:
    """Make a measurement of what a tool printed; `value` and `unit` as they were printed."""
    joined = value + unit if unit in ("%", "x") else f"{value} {unit}".strip()
    return Claim("measurement", quote.strip(), {
        "subject": subject, "metric": metric, "value": value, "unit": unit,
        "text": text or joined, "configuration": configuration, "source": "output",
        "spread": spread})  # fmt: skip


def outcome(
    run: Run,
    quote: str,
    runner: str,
    *,
    passed: int,
    failed: int,
    errors: int = 0,
    skipped: int = 0,
    duration: str = "",
    failing: Iterable[str] = (),
    ok: bool | None = None,
) -> Claim:
    """Make a claim of a run of tests; `ok` unless something failed, if not said otherwise."""
    return Claim("tests", quote.strip(), {
        "command": command(run), "passed": passed, "failed": failed, "errors": errors,
        "skipped": skipped, "duration": duration,
        "failing": list(dict.fromkeys(failing))[:FAILING],
        "ok": not failed and not errors if ok is None else ok, "runner": runner})  # fmt: skip


def checked(run: Run, quote: str, *, ok: bool, errors: int = 0, text: str = "") -> Claim:
    """Make a claim of a compiler's, a linter's or a type checker's verdict."""
    return Claim("check", quote.strip(), {
        "command": command(run), "ok": ok, "errors": errors, "text": text or quote.strip()})  # fmt: skip


_REDIRECTED = re.compile(r"\s+(?:\d?>|&>|<)")


def command(run: Run) -> str:
    """Return a command without where its output goes, at most 160 characters."""
    return _REDIRECTED.split(run.command, maxsplit=1)[0].strip()[:160]


def counts(text: str) -> dict[str, int]:
    """Return the counts of "2 failed, 118 passed": word -> number."""
    return {
        word.casefold(): int(n.replace(",", ""))
        for n, word in re.findall(r"(?<!\d)(\d[\d,]{0,11}) (\w+)", text)
    }


def line_of(text: str, match: re.Match[str]) -> str:
    """Return the whole line in which a match begins."""
    start = text.rfind("\n", 0, match.start() + 1) + 1
    end = text.find("\n", match.start())
    return text[start : end if end >= 0 else len(text)].strip()


def repeated(values: Sequence[str]) -> tuple[str, str]:
    """Return (mean, spread in words) of the same figure measured several times.

    The mean has one digit more than the figures at most: it is ours, and the spread says so.
    """
    numbers = [n for n in map(decimal, values) if n is not None]
    if len(numbers) < 2:
        return values[0] if values else "", ""
    places = max((len(v.partition(".")[2]) for v in values), default=0)
    mean = (sum(numbers, Decimal(0)) / len(numbers)).quantize(Decimal(1).scaleb(-places - 1))
    shown = f"{mean:f}"
    shown = shown[:-1] if shown[-1] == "0" and "." in shown else shown
    low, high = min(numbers), max(numbers)
    return shown.rstrip("."), f"mean of {len(numbers)} runs, {low:f} to {high:f}"
