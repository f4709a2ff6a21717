"""Work as it is told: to-do lists, plans in words; what is done, begun, next, dropped.

A task's status comes from the agent's own to-do tool first, then from what tools show (commits,
files, test results), then from words. An item that is gone from its list without being done is
dropped, and said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from checkpoint.fold._book import Book, affirm, evidence, name
from checkpoint.fold._similar import coverage, negated, numbers, same, told, words
from checkpoint.state import Fact, Task

if TYPE_CHECKING:
    from checkpoint.fold import Fold

LEFT = 100
"""Added to the place of each step of a list in words once another list follows."""
UNLISTED = "no longer listed"
Status = Literal["pending", "in_progress", "blocked", "done", "dropped"]
Source = Literal[
    "todo", "commit", "pull-request", "release", "push", "test", "ci", "words", "request", "note"
]

_STATUS: dict[str, Status] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "done",
    "cancelled": "dropped",
    "blocked": "blocked",
}


def _shelf(fold: Fold, status: Status) -> Book[Task]:
    if status == "done":
        return fold.accomplished
    if status == "dropped":
        return fold.dropped
    return fold.in_progress if status == "in_progress" else fold.next_steps


def _shelves(fold: Fold) -> tuple[Book[Task], ...]:
    return fold.next_steps, fold.in_progress, fold.accomplished, fold.dropped


def find(fold: Fold, key: str) -> Task | None:
    """Return the task of this key, wherever it stands."""
    for shelf in _shelves(fold):
        task = shelf.get(key)
        if task is not None:
            return task
    return None


def move(fold: Fold, task: Task, status: Status) -> None:
    """Give a task another status, and its place in the state."""
    if task.status == status:
        return
    _shelf(fold, task.status).remove(task)
    task.status = status
    _shelf(fold, status).add(task)


def put(
    fold: Fold,
    fact: Fact,
    text: str,
    status: Status,
    source: Source,
    *,
    order: int = 0,
    sha: str = "",
) -> Task:
    """Add a new task."""
    base = f"{source}:{sha or ' '.join(words(text)) or text}"
    key, number = base, 2
    while find(fold, key) is not None:
        key, number = f"{base}#{number}", number + 1
    task = Task(
        id=name("task", key),
        key=key,
        evidence=[evidence(fact)],
        authority=fact.authority,
        text=text,
        status=status,
        source=source,
        order=order,
        sha=sha,
        verified=source not in ("words", "todo", "request"),
    )
    _shelf(fold, status).add(task)
    return task


def _open(fold: Fold) -> Iterable[Task]:
    return (*fold.in_progress, *fold.next_steps)


def todos(fold: Fold, fact: Fact) -> None:
    """The agent's to-do tool: the whole list, or changes of single items."""
    working = fold.state.working
    keys: list[str] = []
    for order, (status_, text, id_) in enumerate(fact.fields["items"], 1):
        status = _STATUS.get(status_, "pending")
        task = _of_list(fold, text, id_, fact.fields["whole"])
        if task is None:
            if not text:
                continue
            task = put(fold, fact, text, status, "todo", order=order)
        else:
            if task.status != status or (text and task.text != text):
                affirm(task, fact)
            if text:
                task.text = text
            task.order = order if fact.fields["whole"] else task.order
            task.authority = fact.authority
            move(fold, task, status)
        if status == "done" and working.last_edit >= 0:
            task.verified = task.verified or working.last_success > working.last_edit
        if id_:
            working.todo_ids[id_] = task.key
        keys.append(task.key)
    for step in list(fold.next_steps):  # a plan in words of the same request: the list took over
        if step.source == "words" and working.last_person <= step.first < fact.message:
            affirm(step, fact)
            step.changed = UNLISTED
            move(fold, step, "dropped")
    if not fact.fields["whole"]:
        working.todo_list += [k for k in keys if k not in working.todo_list]
        return
    for key in working.todo_list:
        left = find(fold, key)
        if key not in keys and left is not None and left.status not in ("done", "dropped"):
            affirm(left, fact)
            move(fold, left, "dropped")
    working.todo_list = keys


def _of_list(fold: Fold, text: str, id_: str, whole: bool) -> Task | None:
    working = fold.state.working
    if id_ and not whole and id_ in working.todo_ids:
        return find(fold, working.todo_ids[id_])
    exact = find(fold, f"todo:{' '.join(words(text)) or text}")
    if exact is not None and text:
        return exact
    for key in working.todo_list:
        task = find(fold, key)
        if task is not None and text and same(task.text, text, 85.0):
            return task
    return None


def plan(fold: Fold, fact: Fact) -> None:
    """A step that the agent's words name as next; a new list replaces the last one."""
    working, fields = fold.state.working, fact.fields
    text: str = fields["text"]
    if fields["single"]:
        working.intention = f"{fact.message}"
        intended = _matching(fold, text, 0.6)
        if intended is not None:
            affirm(intended, fact)
            intended.order = 0  # said to be next: before the rest of its list
        return
    if working.plan_message != fact.message:
        for key in working.plan:
            left = find(fold, key)
            if left is not None and left.source == "words" and left.status == "pending":
                left.order += LEFT
        working.plan, working.plan_message = [], fact.message
    known = _known(fold, text)
    if known is not None and known.order > LEFT and fact.fields["order"] <= LEFT:
        _unlist(fold, known, fact)
    if known is None:
        known = put(
            fold,
            fact,
            text,
            "done" if fields["done"] else "pending",
            "words",
            order=fields["order"],
        )
    else:
        affirm(known, fact)
        if known.source == "words":
            move(fold, known, "done" if fields["done"] else "pending")
            known.order = fields["order"]
            known.changed = "" if known.changed == UNLISTED else known.changed
    working.plan.append(known.key)


def _unlist(fold: Fold, said_again: Task, fact: Fact) -> None:
    """A list is given again without some of its steps: those are no longer next."""
    for left in list(fold.next_steps):
        of_list = left.source == "words" and left.last == said_again.last
        if of_list and left is not said_again and left.order > LEFT:
            affirm(left, fact)
            left.changed = UNLISTED
            move(fold, left, "dropped")


def _known(fold: Fold, text: str) -> Task | None:
    unlisted = [t for t in fold.dropped if t.changed == UNLISTED]
    tasks: list[Task] = [*_open(fold), *fold.accomplished, *unlisted]
    for task in tasks:
        if task.source in ("todo", "words", "request") and same(task.text, text):
            return task
    return None


def _matching(fold: Fold, text: str, least: float) -> Task | None:
    """Return the open task that a sentence speaks of, if it is clear which."""
    best: Task | None = None
    score = 0.0
    for task in _open(fold):
        part = coverage(task.text, text)
        if part > score and part >= least and len(set(words(task.text)) & set(words(text))) >= 2:
            best, score = task, part
    return best


def claimed(fold: Fold, fact: Fact) -> None:
    """Words that something is done: they complete an open task, or stand as a claim."""
    text: str = fact.fields["text"]
    working = fold.state.working
    complete(fold, fact, text, loose=not fact.fields.get("weak"))
    if fact.fields.get("weak"):
        return  # it may tell of a state, not of work: worth a line only if work is named so
    for task in fold.accomplished:
        if same(task.text, text, 90.0) or (task.source == "commit" and _names(text, task.sha)):
            affirm(task, fact)
            return
    task = put(fold, fact, text, "done", "words")
    task.verified = working.last_edit >= 0 and fact.message - working.last_edit <= 12


def _names(text: str, sha: str) -> bool:
    """Whether a short text names a commit, and so tells of it again."""
    return len(sha) >= 7 and sha[:7] in text and len(text) < 140


def complete(fold: Fold, fact: Fact, text: str, *, loose: bool) -> None:
    """Move the open tasks that `text` says are done; `loose`: a part of a task's words may do."""
    working = fold.state.working
    for task in list(_open(fold)):
        if task.source == "todo" and task.key in working.todo_list:
            continue  # the agent's to-do tool will tell
        if task.first < fact.message and _completes(text, task.text, loose=loose):
            affirm(task, fact)
            move(fold, task, "done")
            task.verified = task.verified or working.last_edit > task.first


def _completes(claim: str, task: str, *, loose: bool) -> bool:
    if negated(claim) != negated(task):
        return False
    wanted = set(numbers(task)) - set(numbers(claim))
    if wanted and any(len(n) > 1 for n in wanted):
        return False
    return (loose and coverage(claim, task) >= 0.6) or told(task, claim) >= 0.75


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "todos": todos,
    "plan": plan,
    "claimed": claimed,
}
