"""The session in our own words: messages and their parts, as every reader yields them.

These cross the wall between readers and extractors and are made by the hundred thousand, so they
are slotted structs, not pydantic models. Times are aware UTC.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

Role = Literal["user", "assistant", "system"]

Origin = Literal["person", "agent", "injected", "summary"]
"""Who really wrote a message. Only a person has goals and gives instructions; `injected` is what a
program put into a user's mouth (reminders, environment blocks, command echoes, skill bodies, task
notifications, "continue" after a compaction); `summary` is a compaction's own text."""

Category = Literal[
    "shell", "read", "edit", "write", "search", "fetch", "todo", "subagent", "question", "other"
]

TodoStatus = Literal["pending", "in_progress", "completed", "cancelled", "blocked"]


class Text(msgspec.Struct, tag="text"):
    """Visible words."""

    text: str
    injected: bool = False
    """A program's words inside a person's message: a reminder, an attached file."""


class Reasoning(msgspec.Struct, tag="reasoning"):
    """The model's thinking, where the agent stores it readably."""

    text: str


class Change(msgspec.Struct):
    """What one call did to one file."""

    path: str
    action: Literal["created", "edited", "deleted", "renamed", "written"]
    """`written`: the whole content was given and the reader cannot tell whether it existed."""
    old: str = ""
    new: str = ""
    source: str = ""
    """The former path of a renamed file."""


class Todo(msgspec.Struct):
    """One item of the agent's own to-do list."""

    text: str
    status: TodoStatus = "pending"
    id: str = ""


class ToolCall(msgspec.Struct, tag="tool"):
    """A tool call and its result, wherever the agent stored the two."""

    tool: str
    """The agent's own name of the tool."""
    category: Category = "other"
    target: str = ""
    """What it acts on: the command line, the path, the address, the pattern, the question."""
    id: str = ""
    input: dict[str, Any] = {}
    output: str = ""
    failed: bool = False
    finished: bool = True
    """False: no result was stored (interrupted, crashed, or still running)."""
    exit_code: int | None = None
    cwd: str = ""
    background: bool = False
    """The agent itself ran it in the background."""
    truncated: bool = False
    """The stored output is known to lack a part."""
    changes: tuple[Change, ...] = ()
    todos: tuple[Todo, ...] = ()
    todos_whole: bool = True
    """True: `todos` is the whole list. False: it changes or adds single items, told apart by id."""
    person: str = ""
    """A person's words inside the result: an answer, or the reason for refusing the call."""
    refused: bool = False
    """A person did not let it run."""


class Compaction(msgspec.Struct, tag="compaction"):
    """From here on the agent saw but a summary of what came before."""

    trigger: Literal["auto", "manual", "unknown"] = "unknown"
    tokens_before: int | None = None


class Attachment(msgspec.Struct, tag="attachment"):
    """A file or picture that was handed over; its content is not kept."""

    name: str
    media: str = ""


Part = Text | Reasoning | ToolCall | Compaction | Attachment


class Message(msgspec.Struct):
    """One utterance, in the order in which it was said."""

    number: int
    """0-based position in the session; the same for every read of the same file."""
    role: Role
    parts: list[Part]
    origin: Origin
    id: str = ""
    """The agent's own."""
    at: datetime | None = None
    model: str = ""
    cwd: str = ""
    branch: str = ""
    subagent: str = ""
    """Not empty: said inside the subagent of this name or id."""
    settled: bool = True
    """False: the file ended before it was certain that nothing will be added to this message."""

    def said(self) -> str:
        """Return the visible words of whoever the message is from, parts joined by blank lines."""
        return "\n\n".join(p.text for p in self.parts if type(p) is Text and not p.injected)

    def calls(self) -> list[ToolCall]:
        """Return the tool calls, in order."""
        return [p for p in self.parts if type(p) is ToolCall]


Severity = Literal["note", "warning", "error"]


class Problem(msgspec.Struct):
    """Something a reader could not understand: counted and shown, never raised, never silent."""

    what: str
    """The kind, without values, so that the same kind counts up: "unknown record type 'x'"."""
    where: str
    """The first place: file name and line, byte, row or key."""
    severity: Severity = "warning"
    count: int = 1


class SessionHead(msgspec.Struct):
    """What is known of a session as a whole."""

    agent: str
    id: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""
    """The agent's version that wrote the last record which names one."""
    model: str = ""
    parent: str = ""
    """The session that this one was forked or continued from."""
    started: datetime | None = None
    source: str = ""
    """The file it was read from."""


class Cursor(msgspec.Struct):
    """Where reading stopped: everything before it is settled and need not be read again."""

    kind: str = ""
    """What `offset` counts: "bytes" of a line file, "messages" of a whole-file form, "rows"."""
    offset: int = 0
    number: int = 0
    """The number of the next message."""
    check: str = ""
    """Proves that what lies before the offset is still the same."""
    carry: dict[str, Any] = {}
    """What the reader knew at that place (directory, model, open calls); plain JSON values."""
