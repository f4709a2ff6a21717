"""Result lines of programs that no other parser knows: `name: figure unit`, `name=value: figure`.

Only figures with a unit of time, rate or share, and labels that say what was measured. Progress,
listings, logs with times of day, code and JSON are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._quantity import Quantity, find
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._names import configuration, subject

MOST = 60
"""An output with more such lines is a log, not a result."""

_LINE = re.compile(
    r"^[ \t]*(?:\[[\w .-]{1,24}\][ \t]+)?(?P<label>[A-Za-z][^:=\n|{}\"]{0,60}?(?:=\S{1,24})?)[ \t]*(?::|=|\.{3,}:?)[ \t]+(?P<rest>[~≈]?\d.{0,120})$",
    re.MULTILINE,
)
_SEVERAL = re.compile(
    r"(?P<metric>[A-Za-z][\w ./%()-]{0,30}?)[ =:]+(?P<value>\d[\d.,]*)[ ]?(?P<unit>[A-Za-zµ%/]+(?: per second)?)?"
)
_RUN = re.compile(
    r"^(?:run|iteration|trial|iter|round|attempt|rep|sample|epoch|step)\s*#?\d+$", re.IGNORECASE
)
_DULL = re.compile(
    r"^(?:\d|https?|line|warning|error|note|info|debug|pid|port|id|date|time|size|version|created|"
    r"modified|uid|gid|inode|links|access|change|eta|elapsed|downloading|compiling|real|user|sys)\b|"
    r"\d\d:\d\d|%$|/\S+/",
    re.IGNORECASE,
)
_PROGRESS = re.compile(
    r"\d+/\d+ \[|\beta\b|it/s\]|\d+%\||remaining|Completed|downloaded", re.IGNORECASE
)
_OUTCOME = re.compile(
    r"^(?P<label>[A-Za-z][\w ]{2,40}?)(?: rate| length| count| score)?:[ \t]+(?P<value>\d[\d.,]*)(?P<rest> / \d+|%|\b.{0,40})$"
)
_KINDS = frozenset({"time", "rate", "share", "ratio", "transfer", "compute"})


def _without_script(run: Run, name: str) -> str:
    return " ".join(w for w in configuration(run).split() if not w.endswith(name))


@output(commands=("*",))
def results(run: Run, text: str) -> Iterator[Claim]:
    """Yield a measurement for each line that gives a labelled figure."""
    if len(text) > 40_000 or text.lstrip()[:1] in "{[<":
        return
    matches = [m for m in _LINE.finditer(text) if not _PROGRESS.search(m.group(0))]
    if not 0 < len(matches) <= MOST:
        return
    name = subject(run)
    config = _without_script(run, name)
    runs: list[Quantity] = []
    for match in matches:
        label, rest = match["label"].strip(), match["rest"]
        figures = find(rest)
        if _DULL.search(label) or not figures or figures[0].start > 2:
            continue
        if _RUN.match(label):
            runs.append(figures[0])
            continue
        in_label = _unit_in(label)
        figure = figures[0]
        unit = figure.unit or in_label
        if not unit and len(matches) > 8:
            continue
        if not unit and not re.search(
            r"/ ?\d|length|score|loss|acc|ratio|count|total|rows", match.group(0)
        ):
            continue
        if figure.unit and figure.dimension not in _KINDS and "/" not in figure.unit:
            continue
        spread = _spread(runs) if label.lower() in ("mean", "average", "avg", "median") else ""
        shown = rest.strip() if len(rest) < 24 and not find(rest)[1:] else figure.text
        if re.match(r"\d[\d.]* / \d", rest):
            shown = rest.strip()
        yield _claim(match.group(0), name, label, figure.value, unit, shown, config, spread)
        yield from _more(match.group(0), rest[figure.end :], name, label, config)


def _more(quote: str, rest: str, name: str, label: str, config: str) -> Iterator[Claim]:
    for match in _SEVERAL.finditer(rest):
        unit = match["unit"] or ""
        if find(match.group(0)) and unit:
            yield _claim(quote, name, f"{label} {match['metric'].strip()}", match["value"], unit,
                         f"{match['value']} {unit}", config, "")  # fmt: skip


def _unit_in(label: str) -> str:
    match = re.search(r"\(([^()]{1,12})\)$|(?:^|\s)(\S+/s(?:ec)?)$", label)
    return (match.group(1) or match.group(2)) if match else ""


def _spread(runs: list[Quantity]) -> str:
    if len(runs) < 2:
        return ""
    values = [q.value for q in runs]
    return f"{len(runs)} runs, {min(values, key=_number)} to {max(values, key=_number)}"


def _number(value: str) -> float:
    return float(value.replace(",", ""))


def _claim(
    quote: str, name: str, metric: str, value: str, unit: str, text: str, config: str, spread: str
) -> Claim:
    return Claim("measurement", quote.strip(), {
        "subject": name, "metric": metric, "value": value, "unit": unit,
        "text": text if unit in text else f"{text} {unit}".strip(),
        "configuration": config, "source": "output", "spread": spread})  # fmt: skip


_HEADER = re.compile(
    r"^[ \t]*[A-Za-z][\w /]{0,30}?[ \t]{2,}\S*(?:ms|us|µs|ns|s|%|/s|/step|/op)\S*[ \t]*$",
    re.MULTILINE,
)
_SPACED = re.compile(r"^[ \t]*(\S(?:[^\n]*?\S)?)[ \t]{2,}(-?\d[\d.,]*)[ \t]*$")


@output(commands=("*",))
def columns(run: Run, text: str) -> Iterator[Claim]:
    """Read a profile in two columns: a header whose last word is a unit, then label and figure."""
    if _HEADER.search(text) is None:
        return
    lines = text.splitlines()
    for at, line in enumerate(lines[:-2]):
        head = re.match(
            r"^\s*([A-Za-z][\w /]{0,30}?)[ \t]{2,}(\S*(?:ms|us|µs|ns|s|%|/s|/step|/op)\S*)[ \t]*$",
            line,
        )
        if head is None:
            continue
        rows = []
        for later in lines[at + 1 : at + 41]:
            row = _SPACED.match(later)
            if row is None:
                break
            rows.append([row[1], row[2]])
        if len(rows) >= 2:
            yield Claim("table", line.strip(), {
                "caption": f"{subject(run)}: {head[1]}", "columns": [head[1], head[2]],
                "rows": rows, "source": "output"})  # fmt: skip
            return


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
        re.finditer(r"^\s*(\d+) (/?\S+\.(?:jsonl?|csv|tsv|txt|parquet|log))$", text, re.MULTILINE)
    )[:4]:
        yield Claim("measurement", match.group(0).strip(), {"subject": match[2], "metric": "lines",
                    "value": match[1], "unit": "lines", "text": f"{int(match[1]):,} lines",
                    "configuration": "", "source": "output"})  # fmt: skip
