"""Work that tools show: commits, pushes, pull requests, releases, test runs, CI."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checkpoint.fold._book import affirm
from checkpoint.fold._tasks import complete, move, put
from checkpoint.state import Fact, Task

if TYPE_CHECKING:
    from checkpoint.fold import Fold


def commit(fold: Fold, fact: Fact) -> None:
    """A commit that was made; a commit that was merely seen in a log is not ours."""
    fields = fact.fields
    if fields.get("source") != "made":
        return
    sha = fields.get("sha", "")
    for task in fold.accomplished:
        if task.source == "commit" and (
            (sha and (task.sha.startswith(sha) or sha.startswith(task.sha)) and task.sha)
            or (fields.get("amended") and task is _last_commit(fold))
        ):
            task.sha, task.text = sha or task.sha, fields["subject"] or task.text
            affirm(task, fact)
            return
    complete(fold, fact, fields["subject"], loose=False)
    put(fold, fact, fields["subject"], "done", "commit", sha=sha)


def _last_commit(fold: Fold) -> Task | None:
    return next((t for t in reversed(fold.accomplished.items) if t.source == "commit"), None)


def commit_undone(fold: Fold, fact: Fact) -> None:
    """A commit that a reset or revert took back."""
    sha = fact.fields.get("sha", "")
    task = _last_commit(fold)
    if sha:
        task = next(
            (t for t in fold.accomplished if t.source == "commit" and t.sha.startswith(sha)), None
        )
    if task is not None:
        affirm(task, fact)
        task.changed = fact.fields.get("how", "undone")
        move(fold, task, "dropped")


def push(fold: Fold, fact: Fact) -> None:
    """A push: one line for each branch, the latest."""
    fields = fact.fields
    target = "/".join(p for p in (fields.get("remote", ""), fields.get("branch", "")) if p)
    text = f"Pushed {target}" if target else "Pushed"
    known = next((t for t in fold.accomplished if t.source == "push" and t.text == text), None)
    head = fields.get("range", "").rpartition("..")[2].strip(".")
    if known is None:
        known = put(fold, fact, text, "done", "push", sha=head)
    else:
        affirm(known, fact)
        known.sha = head or known.sha


def pull_request(fold: Fold, fact: Fact) -> None:
    """A pull request that was opened, merged or closed."""
    fields = fact.fields
    number, url = str(fields.get("number", "")), fields.get("url", "")
    known = next(
        (
            t
            for t in fold.accomplished
            if t.source == "pull-request" and (t.sha == (number or url) and t.sha)
        ),
        None,
    )
    parts = [f"Pull request #{number}" if number else "Pull request"]
    if fields.get("title"):
        parts.append(f": {fields['title']}")
    if fields.get("state"):
        parts.append(f" ({fields['state']})")
    if url:
        parts.append(f" {url}")
    text = "".join(parts)
    if known is None:
        if fields.get("state"):  # one that was merely looked at is not ours
            put(fold, fact, text, "done", "pull-request", sha=number or url)
        return
    affirm(known, fact)
    if len(text) >= len(known.text) or fields.get("state") in ("merged", "closed"):
        known.text = text


def release(fold: Fold, fact: Fact) -> None:
    """A tag or a published version."""
    fields = fact.fields
    what = fields.get("tag") or fields.get("version", "")
    text = " ".join(p for p in ("Released", what, fields.get("url", "")) if p)
    if not any(t.source == "release" and t.sha == what for t in fold.accomplished):
        put(fold, fact, text, "done", "release", sha=what)


def tests(fold: Fold, fact: Fact) -> None:
    """A test run: the latest of each command counts; green is accomplished, red is a failure."""
    fields = fact.fields
    command = fields.get("command") or fields.get("runner", "tests")
    of = f" {fields['of']}" if fields.get("of") else ""
    counts = [
        f"{fields[k]}{of} {k}" for k in ("passed", "failed", "errors", "skipped") if fields.get(k)
    ]
    text = f"`{command}`: {', '.join(counts) or ('passed' if fields.get('ok') else 'failed')}"
    if fields.get("duration"):
        text += f" in {fields['duration']}"
    key = f"test:{command}"
    known = next((t for t in fold.accomplished if t.source == "test" and t.sha == key), None)
    if fields.get("ok"):
        fold.state.working.last_success = fact.message
        if known is None:
            put(fold, fact, text, "done", "test", sha=key)
        else:
            affirm(known, fact)
            known.text = text
    elif known is not None:
        fold.accomplished.remove(known)


def ci(fold: Fold, fact: Fact) -> None:
    """A run of the continuous integration: the latest state of each."""
    fields = fact.fields
    what = fields.get("name") or "CI"
    detail = fields.get("counts") or fields.get("status", "")
    text = f"{what}: {detail}"
    known = next((t for t in fold.accomplished if t.source == "ci" and t.sha == what), None)
    if fields.get("status") == "pass":
        if known is None:
            put(fold, fact, text, "done", "ci", sha=what)
        else:
            affirm(known, fact)
            known.text = text
    elif known is not None:
        fold.accomplished.remove(known)


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "commit": commit,
    "commit_undone": commit_undone,
    "push": push,
    "pull_request": pull_request,
    "release": release,
    "tests": tests,
    "ci": ci,
}
