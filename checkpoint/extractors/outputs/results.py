"""Result lines of programs that no other parser knows: `name: figure unit`, `name=value: figure`.

Only of commands that run a program of the project or that say that they measure, and of logs that
they wrote. Progress, limits that somebody set, targets, listings, code and JSON are left out. Runs
that are numbered ("run 3: ...") are not single facts: their mean stands, with its spread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from checkpoint.extractors._quantity import Quantity, dimension, find
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured, repeated
from checkpoint.extractors.outputs._grid import grids, spans
from checkpoint.extractors.outputs._names import configuration, shown_file, subject
from checkpoint.extractors.outputs._own import inline, measures, runs_own, shows_log

MOST = 60
"""An output with more such lines is a log, not a result."""
LONGEST = 40_000

_LINE = re.compile(
    r"^[ \t>*-]*(?:\[[\w .-]{1,24}\][ \t]+)?(?P<label>[^\W\d_][^:=\n|{}\"<>]{0,60}?(?:=\S{1,24})?(?:, ?\w+=\S{1,16})*)[ \t]*"
    r"(?::|=|\.{3,}:?|→|->)[ \t]*(?P<rest>[~≈]?[-+]?[$]?\d.{0,160})$"
)
_NAMED = re.compile(
    r"^[ \t>*-]*(?P<label>[^\W\d_][\w ./()+-]{0,40}?):[ \t]+(?P<rest>[A-Za-z][\w /%()-]{0,24}[ =:]+[~≈]?\d.{0,160})$"
)
_SPACED = re.compile(
    r"^[ \t]*(?P<label>[^\W\d_][\w ./%()-]{0,40}?)[ \t]{2,}(?P<rest>[~≈]?\d.{0,60})$"
)
_DONE = re.compile(
    r"^(?P<verb>(?!need|speed|seed|feed|embed|indeed|shed|red)[A-Za-z]+ed|wrote|read|done|ran|built)[:]? (?P<n>\d[\d,]*) (?P<what>[a-z][\w-]*(?: [a-z][\w-]*)?)(?P<rest>(?: in | from | to | \(|,).{0,80}|\.)?$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"(?:^|[,;|/(] ?|\s{2,}| and )(?P<metric>[^\W\d_][\w .%()/-]{0,30}?)[ =:]+(?=[~≈]?[-+]?\d)"
)
_RUN = re.compile(
    r"^(?:run|iteration|trial|iter|round|attempt|rep(?:etition)?|sample|pass|try)\s*[#:]?\s*\d+(?:\s*(?:/|of)\s*\d+)?$",
    re.IGNORECASE,
)
_MEAN = re.compile(r"^(?:mean|average|avg|median)\b", re.IGNORECASE)
_DULL = re.compile(
    r"^(?:https?|line|warning|error|note|info|debug|pid|port|id|date|time|size|version|created|seed|"
    r"modified|uid|gid|inode|links|access|change|eta|elapsed|downloading|compiling|real|user|sys|"
    r"exit|status|step|uptime|epoch|batch|page|file|started|finished|at|host|address|memory usage)s?$|"
    r"\btime-?outs?\b|\binterval\b|\blimits?\b|\bttl\b|\bdeadline\b|\bbudget\b|\bthresholds?\b|"
    r"\btargets?\b|\bgoals?\b|\bexpected\b|\bestimated?\b|\bprojected\b|\brequired?\b|\bmemory\.used\b|"
    r"\bport\b|\bpid\b|\bversion\b|\bexit code\b|\berrno\b|\bslo\b|\bsla\b|"
    r"\d\d:\d\d|%$|/\S+/|^\w+\(|^(?:def|class|if|for|return|import|const|let|var|elif|else|case)\b|\.\w{1,4}$",
    re.IGNORECASE,
)
_TIME_OF_DAY = re.compile(r"\b\d\d:\d\d:\d\d\b|^\[?\d{4}-\d\d-\d\d")
_PROGRESS = re.compile(
    r"\d+/\d+ \[|% cpu |maxresident|^(?:real|user|sys)\s|\beta\b|it/s\]|s/it\]|\d+%\||\bremaining\b|\d+% Completed|[Dd]ownload(?:ed|ing)|━|█|MiB / |"
    r"^[ \t]*\d+[:|-]\s|\bloading\b",
    re.IGNORECASE,
)
_UNMEASURED = re.compile(
    r"\bline \d+|^[ \t]*[{}\]]|^[ \t]*\[(?![\w .-]{1,24}\] )|[;{}]\s*$|^[ \t]*(?:#|//|/\*)"
)
_TELLING = re.compile(
    r"ratio|score|loss|\bacc(?:uracy)?\b|\bf1\b|recall|precision|speed-?up|perplexity|\bppl\b|bleu|rouge|\bwer\b|"
    r"\bauc\b|\bmse\b|\bmae\b|rmse|\br2\b|\bm?iou\b|\bmap\b|\bmrr\b|ndcg|params|parameters|accept\w* length|"
    r"throughput|latency|\bp\d\d|error rate",
    re.IGNORECASE,
)
"""Names of figures that bear no unit."""
_COUNTED = re.compile(
    r"length|rank|count|total|rows|records|tokens|peak|hits?|misses|size|memory|mean|average|median|rate|samples|"
    r"passes|requests|vocab|layers|cells|failures|allocs",
    re.IGNORECASE,
)
"""Names that count only in the output of a command that says that it measures."""
_KINDS = frozenset({"time", "rate", "share", "ratio", "transfer", "compute"})
_SECTION = re.compile(
    r"^[ \t]*(?:[=#*~-]{2,}\s*(?P<ruled>[^\s=#*~-][^=\n]{0,60}?)\s*[=#*~-]*|\[(?P<boxed>[\w .=,/-]{2,40})\]|(?P<colon>[^\W\d_][^:\n]{0,50}):)\s*$"
)


_PLAIN_TITLE = re.compile(
    r"(?:the )?(?:results?|summary|output|timings?|benchmarks?|metrics?|stats|statistics|totals?|done|report|"
    r"benchmark results?|evaluation|performance)",
    re.IGNORECASE,
)
_STATUS = re.compile(r"^>|\.\.\.$|…$")
"""What a program does just now is no heading."""
_TAG = re.compile(
    r"^[ \t]*\[(?:timing|timer|time|perf|bench|benchmark|profile|profiler|metrics?|stats?)\] ",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST = re.compile(
    r"^[ \t]*(?:(?P<tag>[\w()-]{2,24}):\s+)?(?P<figures>\d[\d.,]* ?[A-Za-zµ]\S*(?:\s{2,}|\s)(?:\d\S*(?: ?[A-Za-zµ%/]+(?=\s|$))?\s*){1,4})(?P<rest>(?:\S+ ?){0,6})$"
)
_BARE = re.compile(
    r"^[ \t]*(?P<label>(?!.*\b(?:in|after|for|at|to|of|with|from|took|within|every|than|is|was|and|or)\b)[^\W\d_][\w/%()-]*(?: [\w/%()-]+){0,3}?) (?P<rest>\d[\d.,]* ?[A-Za-zµ%/]+)$"
)
_LOGGED = re.compile(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d[.,\dZ]*\]?:?\s+(?:\[?(?:INFO|DEBUG|info|debug)\]?:?\s+)?(?:\[[\w.-]+\]:?\s+)?"
)
_PAIR = re.compile(r"([A-Za-z]\w*)=(\S+)")
_PAIRS = re.compile(r"(?:[\w.-]+:? )?(?:[A-Za-z]\w*=[^\s=]+,?\s*){2,10}")
_FIGURE = re.compile(r"(-?\d[\d.,]*?)((?:[A-Za-zµ%]|/[A-Za-z])[\w/%]*)?,?")
_CHANGED = re.compile(r"(?P<old>[~≈]?\d[\d.,]* ?[\w%/µ]*?) ?(?P<arrow>->|→|=>) ?(?=[~≈]?\d)")
_WORDS = re.compile(r"[^\W_]*[^\W\d_][^\W_]*[ =:]+[~≈]?\d|->|→")
_PARTICIPLE = {"wrote": "written", "ran": "run"}
_MARKUP = re.compile(r"\s*(?:\{|<|\[\s*(?:[{\"\[\n]|-?\d[\d.]*\s*[,\]]))")
"""JSON, XML and HTML are written for programs."""
_WARM = re.compile(r"(?<![a-z])warm-?up", re.IGNORECASE)
_LOAD = re.compile(r"^(?:disk|cpu|gpu|ram|mem|memory|swap|load|battery)\b", re.IGNORECASE)
"""How full a machine is just now is no result."""
_DIGIT = re.compile(r"\d")


@dataclass(slots=True)
class _Found:
    """The figures of one output, by what they are of."""

    ruled: str = ""
    """The heading above, between rules or in brackets."""
    named: str = ""
    """The heading above that ends with ":"."""
    block: int = -1
    """Indent of a heading that ends with ":", which holds for the lines indented below it."""
    inside: bool = False
    known: bool = False
    """The command says of itself that it measures."""
    runs: dict[str, list[tuple[Quantity, str]]] = field(default_factory=dict)
    """Of numbered runs: metric -> figures and their lines."""
    values: dict[tuple[str, str], list[tuple[str, str, str, str]]] = field(default_factory=dict)
    """(section, metric) -> (value, unit, text, line)."""

    def add(self, metric: str, value: str, unit: str, text: str, line: str) -> None:
        section = ", ".join(x for x in (self.ruled, self.named) if x)
        if _WARM.search(section) or _WARM.search(metric):
            return
        self.values.setdefault((section, metric), []).append((value, unit, text, line))


@output(commands=("*",))
def results(run: Run, text: str) -> Iterator[Claim]:
    """Yield a measurement for each labelled figure, mean and spread of numbered runs."""
    own, log, known = runs_own(run), shows_log(run), measures(run)
    if len(text) > LONGEST or _MARKUP.match(text):
        return
    if not (own or known or log) and _TAG.search(text) is None:
        return
    found = _Found(known=known)
    in_tables = set(spans(grids(text)))
    strict = (inline(run) or log or not own) and not (known and own)
    for at, line in enumerate(text.split("\n")):
        if at in in_tables or _heads(found, line):
            continue
        if own or known or log or _TAG.match(line):
            _line(found, line, strict=strict)
    yield from _claims(run, found)


def _heads(found: _Found, line: str) -> bool:
    """Note under which heading the next lines stand; a heading with ":" holds for its block."""
    bare = line.strip()
    if not bare:
        return True
    indent = len(line) - len(line.lstrip())
    if found.block >= 0 and indent <= found.block and found.inside:
        found.named, found.block, found.inside = "", -1, False
    elif found.block >= 0 and indent > found.block:
        found.inside = True
    match = _SECTION.match(line)
    if match is None:
        return False
    title = (match["ruled"] or match["boxed"] or match["colon"] or "").strip()
    if _PLAIN_TITLE.fullmatch(title) or _TIME_OF_DAY.search(title) or _STATUS.search(title):
        title = ""
    if match["colon"]:
        found.named, found.block = title, indent
    else:
        found.ruled, found.named, found.block = title, "", -1
    found.inside = False
    return True


def _line(found: _Found, line: str, *, strict: bool) -> None:
    if found.known:
        line = _LOGGED.sub("", line)
    if len(line) > 260 or _DIGIT.search(line) is None or _TIME_OF_DAY.search(line):
        return
    if _PROGRESS.search(line) or _UNMEASURED.search(line):
        return
    done = _DONE.match(line.strip())
    if done and not strict and dimension(done["what"].split()[0]) in ("", "count"):
        _did(found, done, line)
        return
    if _leading(found, line) or (not strict and _pairs(found, line)):
        return
    match = _LINE.match(line) or _NAMED.match(line) or _SPACED.match(line)
    match = match or (_BARE.match(line) if found.known else None)
    if match:
        _labelled(found, match["label"].strip(), match["rest"], line, strict=strict)


def _leading(found: _Found, line: str) -> bool:
    """Note a line whose figures stand first: `10.1MB  1m48s  0.1 MB/s  name`; whether it is one."""
    tagged = _FIRST.match(line)
    if tagged is None:
        return False
    figures = find(tagged["figures"])
    if len(figures) < 2 or sum(q.dimension in _KINDS for q in figures) < 1:
        return False
    words = [w for w in tagged["rest"].split() if "=" not in w]
    name = " ".join([tagged["tag"] or "", *words]).strip()[:80]
    sizes = " ".join(q.text for q in figures if q.dimension in ("bytes", "count"))
    taken = [q for q in figures if q.dimension in _KINDS]
    first, shown = taken[0], ", ".join(q.text for q in taken)
    what = first.dimension if first.dimension in ("time", "share") else "rate"
    metric = f"{name} ({sizes}) {what}" if sizes else f"{name} {what}"
    found.add(metric.strip(), first.value, first.unit, shown, line)
    return True


def _pairs(found: _Found, line: str) -> bool:
    """Note `n=1000 time=0.12s rate=8130/s`: what bears a unit was measured, the rest was given."""
    if not _PAIRS.fullmatch(line.strip()):
        return False
    given, taken = [], []
    for name, value in _PAIR.findall(line):
        figure = _FIGURE.fullmatch(value)
        unit = (figure[2] or "") if figure else ""
        kind, per = dimension(unit), unit.startswith("/")
        if figure and (per or kind in _KINDS or kind.endswith("each") or _TELLING.search(name)):
            taken.append((name, figure[1], unit, value.rstrip(",")))
        else:
            given.append(f"{name}={value}")
    for name, value, unit, shown in taken:
        found.add(" ".join([*given, name]), value, unit, shown, line)
    return bool(taken)


def _did(found: _Found, done: re.Match[str], line: str) -> None:
    """Note "loaded 51200000 rows in 6 min"."""
    verb = done["verb"].lower()
    what, metric = done["what"], f"{done['what']} {_PARTICIPLE.get(verb, verb)}"
    found.add(metric, done["n"], what, f"{done['n']} {what}", line)
    for figure in find(done["rest"] or ""):
        if figure.dimension in ("time", "rate", "transfer"):
            found.add(f"{metric}, {figure.dimension}", figure.value, figure.unit, figure.text, line)


def _labelled(found: _Found, label: str, rest: str, line: str, *, strict: bool) -> None:
    if _DULL.search(label):
        return
    figures = find(rest)
    if not figures:
        return
    first = figures[0]
    numbered = _RUN.match(label)
    if rest.lstrip("~≈")[:1].isdigit() or rest[:1] in "~≈-+$":
        if first.start > 2:
            return
        changed = _CHANGED.match(rest)
        if changed:  # "6.21 -> 6.34": the second holds
            figures = [q for q in figures if q.start >= changed.end("old")] or figures
            rest, first = rest[changed.end("arrow") :], figures[0]
            figures = find(rest)
            first = figures[0] if figures else first
        unit = first.unit or _unit_in(label)
        if not _counts(first, unit, label, strict=strict) and not (
            found.known and _COUNTED.search(label)
        ):
            return
        if numbered:
            found.runs.setdefault("", []).append((first, line))
        else:
            shown = _shown(first, unit, rest, figures)
            also = [q.text for q in figures[1:] if q.dimension in _KINDS]
            if also and not _WORDS.search(rest[first.end :]):
                shown = ", ".join([shown, *also])
            found.add(
                label,
                first.value + (first.scale if len(first.scale) == 1 else ""),
                unit,
                shown,
                line,
            )
        rest = rest[first.end :]
    for metric, figure in _more(rest):
        if not _counts(figure, figure.unit, metric, strict=strict) and not (
            found.known and _COUNTED.search(metric)
        ):
            continue
        if numbered:
            found.runs.setdefault(metric, []).append((figure, line))
        elif not strict or figure.dimension in _KINDS:
            found.add(f"{label} {metric}", figure.value, figure.unit, figure.text, line)


def _counts(figure: Quantity, unit: str, label: str, *, strict: bool) -> bool:
    """Whether a labelled figure is one that was measured."""
    if figure.dimension in ("share", "bytes") and _LOAD.search(label):
        return False
    if figure.dimension in _KINDS or figure.dimension.endswith("each") or "/" in unit:
        return not strict or figure.dimension != "share" or _TELLING.search(label) is not None
    if unit and not figure.unit:
        return True  # "latency (ms): 12.3"
    return _TELLING.search(label) is not None and not (strict and figure.dimension == "bytes")


def _shown(figure: Quantity, unit: str, rest: str, figures: list[Quantity]) -> str:
    """Return the figure with the words behind it, if they are few: "1.8 / 6", "1.19B trainable"."""
    whole = rest.strip().rstrip(".")
    if re.match(r"\d[\d.]* ?/ ?\d[\d.]*$", whole) or (len(whole) < 24 and len(figures) == 1):
        return whole if unit in whole else f"{whole} {unit}"
    tail = re.match(r" ([a-z]{4,14})(?=[,;.]|$)", rest[figure.end :])
    if figure.dimension == "count" and tail:
        return f"{figure.text} {tail[1]}"
    return figure.text if figure.unit or not unit else f"{figure.text} {unit}"


def _more(rest: str) -> Iterator[tuple[str, Quantity]]:
    """Yield the figures behind the first, each with the name in front of it."""
    for match in _SEVERAL.finditer(rest):
        figures = find(rest[match.end() : match.end() + 40])
        if figures and figures[0].start <= 1:
            yield match["metric"].strip(" ,;("), figures[0]


def _unit_in(label: str) -> str:
    """Return the unit that a label names: "latency (ms)", "tok/s", "ttft_ms"."""
    if dimension(label) in ("rate", "compute") or dimension(label.lower()) in ("rate", "compute"):
        return label  # "RPS: 812"
    match = re.search(
        r"\(([^()\d]{1,12})\)$|(?:^|\s)(\S+/s(?:ec)?)$|_(ms|us|ns|secs?|s|pct|mb|gb|tps|qps)$",
        label,
    )
    unit = (match[1] or match[2] or match[3]) if match else ""
    return unit if match and (match[3] or dimension(unit)) else ""


def _claims(run: Run, found: _Found) -> Iterator[Claim]:
    if not 0 < len(found.values) + len(found.runs) <= MOST:
        return
    name = shown_file(run) if shows_log(run) else subject(run)
    flags = "" if shows_log(run) else configuration(run)
    means = False
    for (section, metric), points in found.values.items():
        config = ", ".join(x for x in (flags, section) if x)
        value, unit, text, line = points[-1]
        spread = ""
        if _MEAN.match(metric) and "" in found.runs:
            means = True
            _, spread = repeated([q.value for q, _ in found.runs[""]])
            spread = spread.removeprefix("mean of ")
        elif 2 < len(points) <= 10 and len({p[1] for p in points}) == 1:
            value, spread = repeated([p[0] for p in points])
            text = f"{value} {unit}".strip()
        elif len(points) > 10:
            spread = f"last of {len(points)}"
        yield measured(
            line, name, metric, value, unit, configuration=config, spread=spread, text=text
        )
    for metric, figures in found.runs.items():
        if len(figures) < 2 or (means and not metric):
            continue
        value, spread = repeated([q.value for q, _ in figures])
        yield measured(figures[-1][1], name, f"mean {metric}".strip(), value, figures[0][0].unit,
                       configuration=flags, spread=spread)  # fmt: skip
