"""Commits, pushes, pull requests, releases: from what git and its hosts printed, not from wishes.

A commit counts when git confirms it (`[branch sha] subject`), or when the log shown right after
`git commit` in the same call names it. A hook that refused leaves neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_MADE = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,120}?)(?: \((?:root-commit)\))? (?P<sha>[0-9a-f]{7,40})\] "
    r"(?P<subject>.+)$",
    re.MULTILINE,
)
_ONELINE = re.compile(
    r"^(?:\* )?(?P<sha>[0-9a-f]{7,40})(?: \([^)]*\))? (?P<subject>\S.*)$", re.MULTILINE
)
_PUSHED = re.compile(
    r"^\s*(?:[*+ ]\s)?\s*(?:\[new (?:branch|tag)\]|"
    r"(?P<range>[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}))\s+"
    r"(?P<source>\S+) -> (?P<target>\S+)",
    re.MULTILINE,
)
_PULL = re.compile(
    r"https?://[\w.-]+/[\w.-]+/[\w.-]+/(?:pull|merge_requests|-/merge_requests)/(\d+)"
)
_TAG = re.compile(r"^v?\d+(?:\.\d+)+[\w.-]*$")


@extractor
def commits(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield `commit`, `commit_undone`, `push`, `pull_request` and `release` facts."""
    for call in message.calls():
        if call.category != "shell" or not call.finished:
            continue
        if not re.search(r"\b(?:git|gh|glab|jj|npm|cargo|twine|poetry|uv)\b", call.target):
            continue
        found = runs(call.target)
        for run in found:
            if run.name == "git":
                yield from _git(message, call, run, found)
            elif run.name in ("gh", "glab") and not call.failed:
                yield from _host(message, call, run)
            elif run.sub == "publish" and not call.failed and "--dry-run" not in call.target:
                yield fact(
                    message,
                    "release",
                    "",
                    run.command,
                    Authority.OUTPUT,
                    tag="",
                    version=run.command,
                    url="",
                )


def _git(message: Message, call: ToolCall, run: Run, found: list[Run]) -> Iterator[Fact]:
    if run.sub in ("commit", "merge", "cherry-pick", "revert"):
        yield from _made(message, call, run, found)
    elif run.sub == "push" and not call.failed:
        match = _PUSHED.search(call.output)
        if match:
            words = [w for w in run.args() if not w.startswith("-")]
            remote = words[1] if len(words) > 1 else "origin"
            yield fact(
                message,
                "push",
                "",
                match.group(0).strip(),
                Authority.OUTPUT,
                remote=remote,
                branch=match["target"],
                range=match["range"] or "",
            )
    elif run.sub == "reset" and not call.failed:
        if re.search(r"\bHEAD(?:~1|\^)(?:\s|$)", run.command):
            yield fact(
                message,
                "commit_undone",
                "",
                run.command,
                Authority.INPUT,
                sha="",
                how=f"undone by {run.command}",
            )
    elif run.sub == "tag" and not call.failed:
        words = [w for w in run.args()[1:] if not w.startswith("-")]
        if words and _TAG.match(words[0]) and "-d" not in run.args() and "-l" not in run.args():
            yield fact(
                message,
                "release",
                "",
                run.command,
                Authority.OUTPUT,
                tag=words[0],
                version="",
                url="",
            )


def _made(message: Message, call: ToolCall, run: Run, found: list[Run]) -> Iterator[Fact]:
    amended = "--amend" in run.args()
    confirmed = False
    if run is next(r for r in found if r.name == "git" and r.sub == run.sub):
        for match in _MADE.finditer(call.output):
            confirmed = True
            yield _commit(
                message, match.group(0), match["sha"], match["subject"], match["branch"], amended
            )
    if confirmed or call.failed or _MADE.search(call.output) or run.sub != "commit":
        return
    logs = [
        r for r in found if r.name == "git" and r.sub in ("log", "show") and "--oneline" in r.args()
    ]
    if logs:
        shown = _ONELINE.search(call.output)
        if shown:
            yield _commit(message, shown.group(0), shown["sha"], shown["subject"], "", amended)


def _commit(
    message: Message, quote: str, sha: str, subject: str, branch: str, amended: bool
) -> Fact:
    return fact(
        message,
        "commit",
        "",
        quote,
        Authority.OUTPUT,
        sha=sha,
        subject=subject.strip(),
        branch=branch,
        amended=amended,
        source="made",
    )


def _host(message: Message, call: ToolCall, run: Run) -> Iterator[Fact]:
    words = [w for w in run.args() if not w.startswith("-")]
    if len(words) < 2:
        return
    noun, verb = words[0], words[1]
    if noun in ("pr", "mr") and verb in ("create", "merge", "close", "view", "ready", "edit"):
        match = _PULL.search(call.output)
        number = (
            match.group(1) if match else (words[2] if len(words) > 2 and words[2].isdigit() else "")
        )
        if not number:
            return
        if verb in ("view", "edit") and not match:
            return
        state = {"create": "open", "merge": "merged", "close": "closed"}.get(verb, "")
        quote = match.group(0) if match else run.command
        yield fact(
            message,
            "pull_request",
            "",
            quote,
            Authority.OUTPUT,
            number=number,
            url=match.group(0) if match else "",
            title=run.option("--title", "-t"),
            state=state,
        )
    elif noun == "release" and verb == "create" and len(words) > 2:
        yield fact(
            message, "release", "", run.command, Authority.OUTPUT, tag=words[2], version="", url=""
        )
