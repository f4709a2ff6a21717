"""The state: what a session knows, typed, with the evidence of each line.

The `State` is what stands after folding them: pydantic models, and a public contract (`checkpoint
schema` prints its JSON Schema). All lists are in the order in which their things first came up.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkpoint.facts import QUOTE as QUOTE
from checkpoint.facts import Authority as Authority
from checkpoint.facts import Fact as Fact
from checkpoint.facts import Modality as Modality
from checkpoint.facts import fact as fact

SCHEMA_VERSION = 1


class Model(BaseModel):
    """Base of everything in the state."""

    model_config = ConfigDict(extra="forbid", validate_assignment=False)


class Evidence(Model):
    """Where a line of the document comes from."""

    message: int = Field(description="Number of the message, from 0.")
    id: str = Field("", description="The agent's own id of the message.")
    role: str = Field(description="user, assistant or system.")
    at: datetime | None = Field(None, description="When it was said, UTC.")
    quote: str = Field(description="Verbatim words of the message, at most 300 characters.")


class Past(Model):
    """A value that no longer stands."""

    value: str
    message: int = Field(description="The message that gave it.")
    why: Literal["superseded", "retracted"] = "superseded"


class Item(Model):
    """What all lines of the state have in common."""

    id: str = Field(description="Stable short name: `checkpoint why ID`.")
    key: str = Field(description="What identifies it among its kind.")
    evidence: list[Evidence] = Field(description="The first and the latest, at most four.")
    authority: int = Field(description="1 a summary .. 6 a person; see Authority.")
    seen: int = Field(1, description="How many messages said so.")

    @property
    def first(self) -> int:
        """The number of the first message that said so."""
        return self.evidence[0].message

    @property
    def last(self) -> int:
        """The number of the latest message that said so."""
        return self.evidence[-1].message


class Goal(Item):
    """What a person wants."""

    text: str
    status: Literal["overall", "current", "earlier", "replaced"] = "current"
    changed: str = Field("", description="What a person later put in its place, within it.")


class Instruction(Item):
    """A rule, constraint or correction by a person."""

    text: str
    status: Literal["active", "changed", "lifted"] = "active"
    changed: str = Field("", description="How a person changed or lifted it, verbatim.")
    standing: bool = Field(False, description="Meant for the whole session: always, never, only.")


class HostFact(Item):
    """A property of a machine or of something installed on it."""

    host: str = Field(description='"local", "user@host" of ssh, "container:NAME", "pod:NAME".')
    subject: str
    attribute: str
    value: str
    history: list[Past] = []


class Setting(Item):
    """An environment variable, flag or configuration value that was set."""

    name: str
    value: str
    host: str = "local"
    form: Literal["environment", "flag", "config"] = "environment"
    history: list[Past] = []


class Measurement(Item):
    """A figure that was measured."""

    subject: str
    metric: str
    value: str = Field(description="The number as it was printed, without unit.")
    unit: str = ""
    text: str = Field(description='As one reads it: "94.0 tok/s".')
    configuration: str = ""
    host: str = "local"
    status: Literal["current", "retracted"] = "current"
    verified: bool = Field(False, description="A tool's output shows it.")
    partial: bool = Field(False, description="From an output that was truncated.")
    spread: str = Field("", description="Of repeated runs: count, mean, range.")
    history: list[Past] = []


class Row(Model):
    """One row of a table."""

    label: str
    cells: list[str]
    message: int
    history: list[Past] = []


class Table(Item):
    """A table of figures as it stands after all its prints."""

    caption: str
    columns: list[str]
    rows: list[Row]
    host: str = "local"
    verified: bool = False
    status: Literal["current", "retracted"] = "current"


class RootCause(Item):
    """Why something was wrong."""

    text: str
    fix: str = ""
    status: Literal["suspected", "confirmed", "fixed", "reopened"] = "confirmed"
    results: list[Evidence] = Field([], description="What came of the fix, in order.")
    group: str = Field("", description="The heading or lead line of the list it came from.")


class RuledOut(Item):
    """What is not the cause, or was tried and did not help."""

    text: str
    reason: str = ""
    tried: bool = Field(False, description="It was done, and did not help.")


class Decision(Item):
    """What was chosen, and why."""

    text: str
    reason: str = ""
    status: Literal["current", "superseded"] = "current"
    history: list[Past] = []


class Finding(Item):
    """Something learned that is no cause: a statement, often with figures, in the agent's words."""

    text: str
    verified: bool = Field(False, description="Tools printed each of its figures.")
    figures: list[str] = Field([], description='Its quantities: "94.0 tok/s".')
    figure: bool = Field(False, description="It states a measurement; else it states a fact.")
    weight: int = Field(0, description="How much it says that cannot be guessed.")
    quoted: bool = Field(False, description="Somebody else's words or figures.")
    status: Literal["current", "superseded", "retracted"] = "current"


class Question(Item):
    """What the agent asked or left open."""

    text: str
    status: Literal["open", "answered"] = "open"
    answer: str = ""


class Task(Item):
    """A piece of work."""

    text: str
    status: Literal["pending", "in_progress", "blocked", "done", "dropped"] = "pending"
    source: Literal[
        "todo",
        "commit",
        "pull-request",
        "release",
        "push",
        "test",
        "ci",
        "words",
        "request",
        "note",
    ]
    verified: bool = Field(False, description="A tool's result shows it, not words alone.")
    sha: str = ""
    order: int = Field(0, description="Place in the list it came from.")
    changed: str = Field("", description="What a person later put in place of a part of it.")


class Process(Item):
    """A program that was started and left running."""

    host: str
    command: str
    name: str = ""
    port: str = ""
    pid: str = ""
    log: str = ""
    status: Literal["running", "stopped", "replaced", "failed", "finished"] = "running"
    ended: str = Field("", description="What ended it.")


class File(Item):
    """A file that was worked on."""

    host: str = "local"
    path: str
    status: Literal["created", "edited", "deleted", "renamed", "read", "mentioned"]
    reads: int = 0
    edits: int = 0
    source: str = Field("", description="The former path of a renamed file.")


class Command(Item):
    """A command worth running again."""

    command: str
    host: str = "local"
    failed: bool = False
    purpose: str = Field("", description="test, build, run, benchmark, install, ...")


class Failure(Item):
    """A command that failed and has not succeeded since."""

    command: str
    host: str = "local"
    error: str
    status: Literal["open", "resolved"] = "open"


class Note(Item):
    """What a person or the running agent added by `checkpoint note`."""

    text: str
    topic: str = ""


class Pivot(Model):
    """A place where the session was, or should be, summed up."""

    message: int
    kind: Literal["compaction", "empty", "gap", "end"]
    at: datetime | None = None
    trigger: str = ""


class ProblemCount(Model):
    """What a reader could not understand."""

    what: str
    where: str
    severity: Literal["note", "warning", "error"]
    count: int


class SessionInfo(Model):
    """The session as a whole."""

    agent: str = ""
    id: str = ""
    title: str = ""
    directory: str = ""
    branch: str = ""
    version: str = ""
    model: str = ""
    parent: str = ""
    source: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    messages: int = Field(0, description="How many messages were folded.")
    by_person: int = Field(0, description="How many of them a person wrote.")


class CursorInfo(Model):
    """Where the next reading goes on."""

    kind: str = ""
    offset: int = 0
    number: int = 0
    check: str = ""
    carry: dict[str, Any] = {}


class Working(Model):
    """What the fold must remember between messages; nothing here is shown as such."""

    request: Evidence | None = None
    """The person's last request, while nothing has answered it."""
    request_text: str = ""
    asks_why: bool = False
    """The request asks for a cause: the first statement of the answer is one."""
    last_person: int = -1
    last_message: int = -1
    last_at: datetime | None = None
    last_cause: str = ""
    """Key of the cause that "it" refers to."""
    last_edit: int = -1
    last_success: int = -1
    questions: list[str] = []
    """Keys of the questions of the last message that asked a person."""
    todo_ids: dict[str, str] = {}
    """The agent's id of a to-do item -> its key."""
    todo_list: list[str] = []
    """Keys of the current to-do list, in order."""
    plan: list[str] = []
    """Keys of the last next-step list in words."""
    plan_message: int = -1
    intention: str = ""
    """Key of the one step that the agent said it would do next."""
    stale: dict[str, list[str]] = {}
    """A figure or version that no longer holds -> [since which message, what holds now]."""
    affirmed: dict[str, int] = {}
    """A figure -> the last message that gave it as holding."""
    replaced: list[list[str]] = []
    """[old, new, message] of a person's "new instead of old"."""
    printed: dict[str, int] = {}
    """Numbers that tools printed lately -> message: what makes a figure in words verified."""


class State(Model):
    """What a session knows, as of its last message."""

    schema_version: int = SCHEMA_VERSION
    tool_version: str = ""
    session: SessionInfo = Field(default_factory=SessionInfo)
    goals: list[Goal] = []
    instructions: list[Instruction] = []
    hardware: list[HostFact] = []
    software: list[HostFact] = []
    settings: list[Setting] = []
    measurements: list[Measurement] = []
    tables: list[Table] = []
    root_causes: list[RootCause] = []
    ruled_out: list[RuledOut] = []
    decisions: list[Decision] = []
    findings: list[Finding] = []
    questions: list[Question] = []
    accomplished: list[Task] = []
    in_progress: list[Task] = []
    next_steps: list[Task] = []
    dropped: list[Task] = []
    processes: list[Process] = []
    files: list[File] = []
    commands: list[Command] = []
    failures: list[Failure] = []
    notes: list[Note] = []
    pivots: list[Pivot] = []
    problems: list[ProblemCount] = []
    evicted: dict[str, int] = Field({}, description="How many of a kind were let go by its cap.")
    last_words: Evidence | None = Field(None, description="Where the agent stood, in its words.")
    cursor: CursorInfo = Field(default_factory=CursorInfo)
    working: Working = Field(default_factory=Working)
