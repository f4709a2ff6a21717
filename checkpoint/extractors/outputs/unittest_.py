"""unittest and Django's `manage.py test`: the count line and the verdict behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import outcome

_RAN = re.compile(
    r"^Ran (\d+) tests? in ([\d.]+s)\s*\n+(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", re.MULTILINE
)
_FAILING = re.compile(r"^(?:FAIL|ERROR): (\S+)(?: \(([\w.]+)\))?", re.MULTILINE)


@output(commands=("unittest",), signatures=("\nRan ",))
def unittest_run(run: Run, text: str) -> Iterator[Claim]:
    """Read `Ran 12 tests in 0.003s` and `FAILED (failures=1, errors=2)` behind it."""
    found = list(_RAN.finditer(text))
    if not found or found[-1][3] == "NO TESTS RAN":
        return
    last = found[-1]
    told = {k.strip(): int(v) for k, v in re.findall(r"([\w ]+)=(\d+)", last[4] or "")}
    failed, errors = told.get("failures", 0), told.get("errors", 0)
    skipped = told.get("skipped", 0)
    rest = int(last[1]) - failed - errors - skipped - told.get("expected failures", 0)
    failing = [f"{path}.{name}" if path and not path.endswith(name) else path or name
               for name, path in _FAILING.findall(text)]  # fmt: skip
    yield outcome(run, last.group(0).split("\n")[0], "unittest", passed=max(rest, 0), failed=failed,
                 errors=errors, skipped=skipped, duration=last[2], failing=failing,
                 ok=last[3] == "OK")  # fmt: skip
