"""Sizes that were looked up: `ls -lh`, `du -sh`, `wc -l` of a few named files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output


@output(commands=("ls",))
def sizes(run: Run, text: str) -> Iterator[Claim]:
    """Read the sizes of a few named files from `ls -lh`."""
    if not re.search(r"-\w*h", " ".join(run.args())) or not re.search(
        r"\.\w{1,5}\b|\*", run.command
    ):
        return
    rows = re.findall(
        r"^-\S+\s+\d+\s+\S+\s+\S+\s+(\d[\d.]*[KMGTB]?)\s+\S+\s+\S+\s+\S+\s+(\S+)$",
        text,
        re.MULTILINE,
    )
    if 0 < len(rows) <= 8:
        for size, path in rows:
            quote = next(line for line in text.splitlines() if line.endswith(path) and size in line)
            yield Claim("measurement", quote, {"subject": path, "metric": "size", "value": size.rstrip("KMGTB"),
                        "unit": size[-1] if size[-1].isalpha() else "B", "text": size,
                        "configuration": "", "source": "output"})  # fmt: skip


@output(commands=("du",))
def disk_usage(run: Run, text: str) -> Iterator[Claim]:
    """Read the sizes of named paths from `du -sh`."""
    if "s" not in "".join(w for w in run.args() if w.startswith("-")):
        return
    for match in list(re.finditer(r"^(\d[\d.]*)([KMGTP])\t(\S+)$", text, re.MULTILINE))[:8]:
        yield Claim("measurement", match.group(0), {"subject": match[3], "metric": "size", "value": match[1],
                    "unit": match[2], "text": f"{match[1]}{match[2]}", "configuration": "",
                    "source": "output"})  # fmt: skip


@output(commands=("wc",))
def count(run: Run, text: str) -> Iterator[Claim]:
    """Read the lines of a named data file from `wc -l`."""
    for match in list(
        re.finditer(
            r"^[ \t]*(\d+) (/?\S+\.(?:jsonl?|csv|tsv|txt|parquet|log))$", text, re.MULTILINE
        )
    )[:4]:
        yield Claim("measurement", match.group(0).strip(), {"subject": match[2], "metric": "lines",
                    "value": match[1], "unit": "lines", "text": f"{int(match[1]):,} lines",
                    "configuration": "", "source": "output"})  # fmt: skip
