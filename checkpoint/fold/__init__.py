"""Facts into the state: key, supersede, retract, refute, complete, cap.

The fold sees `(State, Fact)` only, one message after the other, and all that it remembers is in the
state. So folding a session in pieces gives the same bytes as folding it whole:
`fold(A + B) == fold(fold(A), B)`. Caps and evictions are functions of the state alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cached_property

from checkpoint.fold import _causes, _figures, _people, _shown, _tasks, _words, _world
from checkpoint.fold._book import Book
from checkpoint.fold._caps import trim
from checkpoint.model import Compaction, Message
from checkpoint.settings import Settings
from checkpoint.state import (
    Command,
    Decision,
    Fact,
    Failure,
    File,
    Finding,
    Goal,
    HostFact,
    Instruction,
    Measurement,
    Pivot,
    Process,
    Question,
    RootCause,
    RuledOut,
    Setting,
    State,
    Table,
    Task,
)

__all__ = ["Fold"]


class Fold:
    """The state in the making. Add messages in order; `state` is right after each."""

    def __init__(self, settings: Settings, state: State | None = None) -> None:
        self.settings = settings
        self.state = state if state is not None else State()

    @cached_property
    def goals(self) -> Book[Goal]:
        """The goals."""
        return Book("goal", self.state.goals)

    @cached_property
    def instructions(self) -> Book[Instruction]:
        """The instructions."""
        return Book("instruction", self.state.instructions)

    @cached_property
    def hardware(self) -> Book[HostFact]:
        """Properties of machines."""
        return Book("hardware", self.state.hardware)

    @cached_property
    def software(self) -> Book[HostFact]:
        """What is installed."""
        return Book("software", self.state.software)

    @cached_property
    def set_values(self) -> Book[Setting]:
        """Environment variables, flags, configuration."""
        return Book("setting", self.state.settings)

    @cached_property
    def measurements(self) -> Book[Measurement]:
        """Figures that tools printed."""
        return Book("measurement", self.state.measurements)

    @cached_property
    def tables(self) -> Book[Table]:
        """Tables of figures."""
        return Book("table", self.state.tables)

    @cached_property
    def root_causes(self) -> Book[RootCause]:
        """Causes."""
        return Book("cause", self.state.root_causes)

    @cached_property
    def ruled_out(self) -> Book[RuledOut]:
        """What is not the cause, or did not help."""
        return Book("ruled_out", self.state.ruled_out)

    @cached_property
    def decisions(self) -> Book[Decision]:
        """Decisions."""
        return Book("decision", self.state.decisions)

    @cached_property
    def findings(self) -> Book[Finding]:
        """Findings and figures in words."""
        return Book("finding", self.state.findings)

    @cached_property
    def questions(self) -> Book[Question]:
        """Questions."""
        return Book("question", self.state.questions)

    @cached_property
    def accomplished(self) -> Book[Task]:
        """Work that is done."""
        return Book("task", self.state.accomplished)

    @cached_property
    def in_progress(self) -> Book[Task]:
        """Work that was begun."""
        return Book("task", self.state.in_progress)

    @cached_property
    def next_steps(self) -> Book[Task]:
        """Work that is still to do."""
        return Book("task", self.state.next_steps)

    @cached_property
    def dropped(self) -> Book[Task]:
        """Work that was given up."""
        return Book("task", self.state.dropped)

    @cached_property
    def processes(self) -> Book[Process]:
        """Programs that were started."""
        return Book("process", self.state.processes)

    @cached_property
    def files(self) -> Book[File]:
        """Files."""
        return Book("file", self.state.files)

    @cached_property
    def commands(self) -> Book[Command]:
        """Commands worth running again."""
        return Book("command", self.state.commands)

    @cached_property
    def failures(self) -> Book[Failure]:
        """Commands that failed."""
        return Book("failure", self.state.failures)

    def add(self, message: Message, facts: Iterable[Fact]) -> None:
        """Fold one message and its facts; messages come in order of number."""
        self._message(message)
        # What the message's own tools printed comes first: it verifies the words around it.
        ordered = sorted(facts, key=lambda fact: fact.kind != "printed")
        for fact in ordered:
            act = ACTS.get(fact.kind)
            if act is not None:
                act(self, fact)
        _people.after(self, message)
        if ordered and trim(self.state, self.settings):
            for book in [k for k, v in self.__dict__.items() if isinstance(v, Book)]:
                del self.__dict__[book]  # made anew from the list when it is next asked for

    def _message(self, message: Message) -> None:
        session, working = self.state.session, self.state.working
        session.messages = message.number + 1
        if message.origin == "person" and message.said().strip():
            session.by_person += 1
        if message.model:
            session.model = message.model
        if message.branch:
            session.branch = message.branch
        if message.at is not None:
            session.started = session.started or message.at
            gap = timedelta(hours=self.settings.gap_hours)
            if working.last_at is not None and message.at - working.last_at > gap:
                self.pivot(message.number, "gap", message)
            working.last_at = session.ended = message.at
        working.last_message = message.number
        for part in message.parts:
            if type(part) is Compaction:
                self.pivot(message.number, "compaction", message, part.trigger)
        if message.role == "user" and message.origin == "person" and not message.parts:
            self.pivot(message.number, "empty", message)

    def pivot(self, number: int, kind: str, message: Message, trigger: str = "") -> None:
        """Record a place where the session was, or should be, summed up."""
        self.state.pivots.append(
            Pivot.model_validate(
                {"message": number, "kind": kind, "at": message.at, "trigger": trigger}
            )
        )


Act = Callable[[Fold, Fact], None]

ACTS: dict[str, Act] = {
    **_people.ACTS,
    **_world.ACTS,
    **_figures.ACTS,
    **_causes.ACTS,
    **_words.ACTS,
    **_tasks.ACTS,
    **_shown.ACTS,
}
