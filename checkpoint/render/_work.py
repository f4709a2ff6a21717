"""Work: what is done, in progress, running, and next."""

from __future__ import annotations

from checkpoint.render._budget import Section
from checkpoint.render._stale import Stale
from checkpoint.render._text import code, line, marks
from checkpoint.state import Process, State, Task


def _age(task: Task, state: State) -> float:
    total = max(state.session.messages, 1)
    return 10.0 * (total - 1 - task.last) / total


_RANK = {"commit": 6.0, "pull-request": 10.0, "release": 10.0, "push": -4.0, "test": 8.0,
         "ci": 8.0, "todo": 5.0, "words": -12.0}  # fmt: skip


def accomplished(state: State, stale: Stale) -> Section:
    """Return what is done: verified first, then what is only claimed."""
    section = Section("Accomplished", weight=72, decay=0.965)
    for task in state.accomplished:
        text = line(stale.mark(task.text, task.last), 240)
        if task.source == "commit":
            text = f"Commit {code(task.sha[:12])} {text}" if task.sha else f"Commit: {text}"
        elif task.source == "push" and task.sha:
            text += f" (now at {code(task.sha)})"
        claimed = "" if task.verified or task.source == "todo" else " *(claimed)*"
        section.add(
            f"{text}{claimed} {marks(task.first, task.last)}",
            _RANK.get(task.source, 0.0) + 5.0 * task.verified - _age(task, state),
            task.last + (100_000_000 if claimed else 0),
        )
    return section


def _task(task: Task, stale: Stale) -> str:
    text = line(stale.mark(task.text, task.last), 260)
    if task.changed and "→" not in text:
        text += f" (changed: {line(task.changed, 120)})"
    return text


def in_progress(state: State, stale: Stale) -> Section:
    """Return what was begun, and the agent's last words."""
    section = Section("In progress", weight=94, decay=0.95)
    for task in state.in_progress:
        section.add(
            f"{_task(task, stale)} {marks(task.first, task.last)}",
            -2 * _age(task, state),
            task.order,
        )
    last = state.last_words
    if last is not None:
        section.add(f"Last said: {line(last.quote, 300)} {marks(last.message)}", -4.0, 1e9)
    return section


def next_steps(state: State, stale: Stale) -> Section:
    """Return what is to do: the person's unanswered request first; then what was dropped."""
    section = Section("Next steps", weight=90, decay=0.95, ordered=True)
    working = state.working
    if working.request is not None and working.request_text:
        section.add(
            f"Answer the last request: {line(working.request_text, 300)} "
            f"{marks(working.request.message)}",
            20.0,
            -1.0,
        )
    listed = set(working.todo_list)
    planned = set(working.plan)
    for task in state.next_steps:
        if task.source == "note":
            rank, place = 15.0, 0.0
        elif task.source == "words" and task.key not in planned:
            rank, place = -30.0, 3_000.0
        else:
            rank, place = 0.0, 1_000.0 if task.key in listed else 2_000.0
        blocked = " (blocked)" if task.status == "blocked" else ""
        section.add(
            f"{_task(task, stale)}{blocked} {marks(task.first, task.last)}",
            rank - 1.5 * _age(task, state),
            place + task.order,
        )
    for task in [t for t in state.dropped if t.source != "words"][-6:]:
        section.add(
            f"Dropped: ~~{line(task.text, 160)}~~ (left the list without being done) "
            f"{marks(task.first, task.last)}",
            -52.0 - _age(task, state),
            10_000.0 + task.last,
        )
    return section


def processes(state: State) -> tuple[Section, Section]:
    """Return the running processes, and those that ended lately."""
    running = Section("Running processes", 3, weight=92, decay=0.93)
    ended = Section("Ended processes", 3, weight=34, decay=0.8)
    total = max(state.session.messages, 1)
    for one in state.processes:
        if one.status == "running":
            running.add(f"{_process(one)} {marks(one.first, one.last)}",
                        -12.0 * (total - one.last) / total, one.first)  # fmt: skip
        else:
            ended.add(
                f"{one.status}, was: {_process(one)} {marks(one.first, one.last)}",
                -6.0 * (total - one.last) / total,
                one.first,
            )
    return running, ended


def _process(one: Process) -> str:
    parts = [code(one.command, 900)]
    if one.host != "local":
        parts.append(f"on {line(one.host)}")
    if one.port:
        parts.append(f"port {line(one.port)}")
    if one.pid:
        parts.append(f"pid {line(one.pid)}")
    if one.log:
        parts.append(f"log {code(one.log)}")
    return ", ".join(parts)
