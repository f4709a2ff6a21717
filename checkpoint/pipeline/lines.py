"""One thing of the state as one line of plain words: for `diff`, `why` and commit messages."""

from __future__ import annotations

from collections.abc import Iterator

from checkpoint.state import (
    Decision,
    Failure,
    File,
    HostFact,
    Instruction,
    Item,
    Measurement,
    Process,
    Question,
    RootCause,
    RuledOut,
    Setting,
    State,
    Table,
    Task,
)

LONGEST = 400
"""Longer lines are cut, in characters."""

SECTIONS = {
    "goals": "goal",
    "instructions": "instruction",
    "hardware": "hardware",
    "software": "software",
    "settings": "setting",
    "measurements": "measurement",
    "tables": "table",
    "root_causes": "root cause",
    "ruled_out": "ruled out",
    "decisions": "decision",
    "findings": "finding",
    "questions": "question",
    "accomplished": "task",
    "in_progress": "task",
    "next_steps": "task",
    "dropped": "task",
    "processes": "process",
    "files": "file",
    "commands": "command",
    "failures": "failure",
    "notes": "note",
}
"""The lists of the state that hold items -> what one of them is called. A task keeps its name while
it moves from list to list."""


def standing(state: State) -> Iterator[tuple[str, Item]]:
    """Yield all that a state holds with what each is called, in the order of the document."""
    for section, kind in SECTIONS.items():
        for item in getattr(state, section):
            yield kind, item


def line(item: Item) -> str:
    """Return what `item` says, on one line."""
    text = " ".join(_words(item).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def value(item: Item) -> str:
    """Return the part of an item that a later message can replace; "" if there is none."""
    if isinstance(item, HostFact | Setting):
        return item.value
    if isinstance(item, Measurement):
        return item.text or f"{item.value} {item.unit}".strip()
    if isinstance(item, Table):
        return "\n".join("\t".join([row.label, *row.cells]) for row in item.rows)
    if isinstance(item, File):
        return item.status
    if isinstance(item, RootCause):
        return f"{item.text} fix: {item.fix}" if item.fix else item.text
    text = getattr(item, "text", "")
    return text if isinstance(text, str) else ""


def _words(item: Item) -> str:
    match item:
        case HostFact():
            return f"{_at(item.host)}{item.subject} {item.attribute}: {item.value}"
        case Setting():
            return f"{_at(item.host)}{item.name}={item.value}"
        case Measurement():
            given = f" ({item.configuration})" if item.configuration else ""
            return f"{_at(item.host)}{item.subject} {item.metric}: {value(item)}{given}"
        case Table():
            rows = "; ".join(" | ".join([row.label, *row.cells]) for row in item.rows)
            return f"{item.caption or 'table'} [{' | '.join(item.columns)}] {rows}"
        case Process():
            port = f" on port {item.port}" if item.port else ""
            return f"{_at(item.host)}{item.command}{port}"
        case File():
            return f"{_at(item.host)}{item.path}"
        case Failure():
            return f"{_at(item.host)}{item.command}: {item.error}"
        case RuledOut() | Decision():
            because = f" ({item.reason})" if item.reason else ""
            return f"{item.text}{because}"
        case RootCause():
            return f"{item.text}; fix: {item.fix}" if item.fix else item.text
        case Question():
            return f"{item.text} -> {item.answer}" if item.answer else item.text
        case Instruction():
            return f"{item.text} ({item.status}: {item.changed})" if item.changed else item.text
        case Task():
            return f"{item.text} ({item.sha})" if item.sha else item.text
    text = getattr(item, "text", None) or getattr(item, "command", None)
    return str(text or item.key)


def _at(host: str) -> str:
    return "" if host == "local" else f"{host}: "
