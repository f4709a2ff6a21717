"""Continuous integration: checks of a pull request, runs of a workflow, pipelines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output

_CHECK = re.compile(
    r"^(?P<name>[^\t\n]+)\t(?P<status>pass|fail|pending|skipping|cancel(?:led)?)\t(?P<took>\S*)\t(?P<url>https?://\S+)?.*$",
    re.MULTILINE,
)
_SYMBOL = {"✓": "pass", "X": "fail", "✗": "fail", "*": "pending", "-": "skipped"}
_RUN_HEAD = re.compile(
    r"^(?P<mark>[✓X✗*-]) (?P<branch>\S+) (?P<workflow>.+?)(?: (?P<pr>\S+#\d+))? · (?P<id>\d+)$",
    re.MULTILINE,
)
_JOB = re.compile(r"^(?P<mark>[✓X✗*-]) (?P<name>.+?)(?: in (?P<took>[\dhms]+))? \(ID", re.MULTILINE)
_LISTED = re.compile(
    r"^(?P<state>completed|in_progress|queued|pending)\t(?P<end>\w*)\t(?P<title>[^\t\n]*)\t(?P<workflow>[^\t\n]+)\t"
    r"(?P<branch>[^\t\n]+)\t\w+\t(?P<id>\d+)\t.*$",
    re.MULTILINE,
)
_SAID = re.compile(
    r"^(\d+) cancelled, (\d+) failing, (\d+) successful, (\d+) skipped, and (\d+) pending checks?$",
    re.MULTILINE,
)


def _claim(quote: str, name: str, status: str, counts: str = "", url: str = "") -> Claim:
    return Claim(
        "ci", quote.strip(), {"name": name, "status": status, "counts": counts, "url": url}
    )


def _overall(states: list[str]) -> tuple[str, str]:
    """Return (pass, fail or pending; how many of each) of several states."""
    tally = Counter(states)
    told = ", ".join(f"{n} {word}" for word, n in sorted(tally.items(), key=lambda kv: -kv[1]))
    status = "fail" if tally["fail"] else "pending" if tally["pending"] else "pass"
    return status, told


@output(commands=("gh pr", "gh run"))
def gh_checks(run: Run, text: str) -> Iterator[Claim]:
    """Read `gh pr checks`: one claim for all, naming what failed and where."""
    args = [w for w in run.args()[1:] if not w.startswith("-")]
    if run.sub != "pr" or args[:1] != ["checks"]:
        return
    number = next((f" of #{w.lstrip('#')}" for w in args[1:2] if w.lstrip("#").isdigit()), "")
    rows = {m["name"]: m for m in _CHECK.finditer(text)}
    said = _SAID.search(text)
    if rows:
        words = {"skipping": "skipped", "cancel": "fail", "cancelled": "fail"}
        status, told = _overall([words.get(m["status"], m["status"]) for m in rows.values()])
        bad = [m for m in rows.values() if m["status"].startswith(("fail", "cancel"))]
        told += f" ({', '.join(m['name'].strip() for m in bad[:4])})" if bad else ""
        first = (bad or list(rows.values()))[0]
        yield _claim(first.group(0), f"checks{number}", status, told, first["url"] or "")
    elif said:
        states = ["fail"] * (int(said[1]) + int(said[2])) + ["pass"] * int(said[3])
        status, told = _overall([*states, *["skipped"] * int(said[4]), *["pending"] * int(said[5])])
        yield _claim(said.group(0), f"checks{number}", status, told)


@output(commands=("gh run",))
def gh_run(run: Run, text: str) -> Iterator[Claim]:
    """Read `gh run watch` and `gh run view`: of a screen that was redrawn the last state."""
    heads = list(_RUN_HEAD.finditer(text))
    if not heads:
        return
    head = heads[-1]
    jobs = {m["name"]: m["mark"] for m in _JOB.finditer(text, head.end())}
    _, told = _overall([_SYMBOL[mark] for mark in jobs.values()])
    bad = [name for name, mark in jobs.items() if _SYMBOL[mark] == "fail"]
    told += f" ({', '.join(bad[:4])})" if bad else ""
    yield _claim(
        head.group(0), f"{head['workflow']} on {head['branch']}", _SYMBOL[head["mark"]], told
    )


@output(commands=("gh run",))
def gh_run_list(run: Run, text: str) -> Iterator[Claim]:
    """Read `gh run list`: the newest run of each workflow and branch, four at most."""
    seen: set[str] = set()
    for match in _LISTED.finditer(text):
        name = f"{match['workflow']} on {match['branch']}"
        if name in seen or len(seen) >= 4:
            continue
        seen.add(name)
        ended = {"success": "pass", "failure": "fail", "cancelled": "fail", "timed_out": "fail"}
        status = ended.get(match["end"], "skipped") if match["state"] == "completed" else "pending"
        if status != "skipped":
            yield _claim(match.group(0), name, status)


_PIPELINE = re.compile(r"^Pipeline [Ss]tate: (\w+)$", re.MULTILINE)


@output(commands=("glab ci", "glab pipeline"))
def glab_ci(run: Run, text: str) -> Iterator[Claim]:
    """Read the state of a GitLab pipeline."""
    found = list(_PIPELINE.finditer(text))
    if found:
        states = {"success": "pass", "failed": "fail", "canceled": "fail"}
        yield _claim(found[-1].group(0), "pipeline", states.get(found[-1][1], "pending"))
