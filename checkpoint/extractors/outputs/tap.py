"""The Test Anything Protocol: bats and others that print `ok 1 name`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import outcome

_ONE = re.compile(
    r"^(?:\[[\w:.-]+\] )*(?P<bad>not )?ok (?P<n>\d+)(?: -)? (?P<name>.+)$", re.MULTILINE
)
_PLAN = re.compile(r"^(?:\[[\w:.-]+\] )*1\.\.(\d+)$", re.MULTILINE)


@output(
    commands=("bats", "prove", "tape", "tap"),
    signatures=("\nok 1 ", "] ok 1 ", "\nnot ok 1 ", "1..1\n"),
)
def tap(run: Run, text: str) -> Iterator[Claim]:
    """Count what is ok and what is not; the plan says whether all were seen."""
    if "# pass " in text or _PLAN.search(text) is None:
        return
    found = list(_ONE.finditer(text))
    if not found:
        return
    skipped = [m for m in found if re.search(r"# (?:skip|todo)", m["name"], re.IGNORECASE)]
    bad = [m for m in found if m["bad"] and m not in skipped]
    planned = sum(int(n) for n in _PLAN.findall(text))
    quote = bad[0].group(0) if bad else found[-1].group(0)
    yield outcome(run, quote, "tap", passed=len(found) - len(bad) - len(skipped), failed=len(bad),
                  errors=max(planned - len(found), 0) if bad else 0, skipped=len(skipped),
                  failing=[m["name"].strip() for m in bad],
                  ok=not bad and len(found) >= planned)  # fmt: skip
