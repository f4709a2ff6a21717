"""A session into a state: read, extract, redact, fold; whole, or from where the last one stopped.

Two states come of a reading. The *settled* one holds what can no longer change, with the cursor
from which the next reading goes on; the other also holds the tail: messages to which the agent may
still add. They are the same object where there is no tail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from checkpoint import __version__
from checkpoint.errors import CheckpointError, ReadError
from checkpoint.extractors import extract
from checkpoint.fold import Fold
from checkpoint.model import Cursor, Message, Problem, SessionHead
from checkpoint.readers import Reading, identify
from checkpoint.redact import Redactor
from checkpoint.settings import Settings, read_yaml
from checkpoint.state import (
    SCHEMA_VERSION,
    CursorInfo,
    Fact,
    ProblemCount,
    SessionInfo,
    State,
)

Progress = Callable[[int], None]
"""Called with the number of each message, from the reading loop: it must be quick."""

Former = Callable[[str, str], State | None]
"""Finds the settled state of an agent's session, by the agent's name and the session's id."""

_HEAD_FIELDS = ("agent", "id", "title", "branch", "version", "model", "parent")


@dataclass(frozen=True)
class Summary:
    """What came of reading a session."""

    state: State
    settled: State
    """What can no longer change; the same object as `state` if there is no tail."""
    read: int
    """How many messages this reading folded; with a continued one, only the new."""
    continued: bool = False
    """It went on from an earlier state."""
    fell_back: str = ""
    """Why it could not go on from the earlier state, so that the whole session was read."""

    @property
    def has_tail(self) -> bool:
        """Whether the session ended in messages that may still change."""
        return self.settled is not self.state


def summarise(
    path: Path,
    *,
    settings: Settings,
    agent: str | None = None,
    session: str = "",
    until: int | None = None,
    since: State | Former | None = None,
    source: str = "",
    progress: Progress | None = None,
) -> Summary:
    """Return the state of the session in `path`.

    Args:
        path: a session file or a store of sessions.
        settings: what to extract, and how much of it to keep.
        agent: read it as this agent's; None looks at the content.
        session: which one, in a store of many; "" is the newest.
        until: stop after the message of this number, which is included; None reads to the end.
        since: the settled state of an earlier reading, or what finds it; it is changed in place.
            What it knows is not read again, unless the session changed before its cursor (see
            `Summary.fell_back`).
        source: what to call the file in the state; "" is its path.
        progress: told of each message.

    Raises:
        ReadError: the file cannot be opened, nobody or more than one claims it, or it holds no such
            session.
    """
    opened = _open(path, agent, session, until, since)
    return list(_states(opened, settings, until, source or str(path), progress, pivots=False))[-1]


def pivots(
    path: Path,
    *,
    settings: Settings,
    agent: str | None = None,
    session: str = "",
    until: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Summary]:
    """Yield the state at each pivot message of a session, and at its end, in one reading.

    The state of a pivot includes the pivot message. It is alive: use it before the next one is
    asked for. Silences are pivots of the state too, but no message marks them, so they yield
    nothing here.
    Arguments and errors are those of `summarise`.
    """
    opened = _open(path, agent, session, until, None)
    return _states(opened, settings, until, str(path), progress, pivots=True)


@dataclass(frozen=True)
class _Opened:
    """A reading that is about to begin, and the state that it goes on from."""

    reading: Reading
    since: State | None = None
    fell_back: str = ""


def _open(
    path: Path,
    agent: str | None,
    session: str,
    until: int | None,
    since: State | Former | None,
) -> _Opened:
    reader = identify(path, agent)
    reading = None
    if callable(since):
        if session:
            since = since(reader.name, session)
        else:
            reading = reader.read(path, None, session)
            since = since(reader.name, reading.head.id or nameless(str(path)))
    past = since is not None and until is not None and since.cursor.number > until + 1
    if since is None or past or not since.cursor.kind:
        return _Opened(reading or reader.read(path, None, session))
    reading = reader.read(path, _cursor(since), session)
    if reading.fell_back:
        return _Opened(reading, None, reading.fell_back)
    return _Opened(reading, since)


def _states(
    opened: _Opened,
    settings: Settings,
    until: int | None,
    source: str,
    progress: Progress | None,
    *,
    pivots: bool,
) -> Iterator[Summary]:
    run = _Run(opened, settings, source)
    for message in opened.reading:
        if until is not None and message.number > until:
            run.stopped = True
            break
        run.add(message)
        if progress is not None:
            progress(message.number)
        if pivots and run.at_pivot(message):
            yield run.summary(final=False)
    yield run.summary(final=True)


class _Run:
    """One reading under way."""

    def __init__(self, opened: _Opened, settings: Settings, source: str) -> None:
        since = opened.since
        self.reading = opened.reading
        self.stopped = False
        """It was stopped before the end of the session: there is no cursor to go on from."""
        self._opened = opened
        self._redactor = redactor(settings)
        self._settings = settings
        self._source = source
        self._fold = Fold(settings, since)
        # A form that is decoded as a whole finds all its problems each time.
        goes_on = since is not None and since.cursor.kind != "messages"
        self._earlier = list(since.problems) if since is not None and goes_on else []
        self._settled: State | None = None
        self._read = 0

    def add(self, message: Message) -> None:
        """Fold one more message; the first that may still change parts the two states."""
        if not message.settled and self._settled is None:
            self._settled = self._fold.state.model_copy(deep=True)

        def failed(extractor: str, error: Exception) -> None:
            what = f"extractor '{extractor}' failed: {type(error).__name__}"
            self.reading.problems.add(what, f"message {message.number}", "error")

        found = extract(message, self._settings, failed)
        facts = [_masked(fact, self._redactor) for fact in found]
        self._fold.add(message, facts)
        self._read += 1

    def at_pivot(self, message: Message) -> bool:
        """Whether this very message is a pivot."""
        found = self._fold.state.pivots
        return bool(found) and found[-1].message == message.number and found[-1].kind != "gap"

    def summary(self, *, final: bool) -> Summary:
        """Return what stands; the cursor is given only at the end of the session."""
        whole = final and not self.stopped
        state = self._fold.state
        settled = self._settled if self._settled is not None else state
        found = list(self.reading.problems)
        before = self.reading.problems.settled
        self._finish(state, CursorInfo(), found)
        if whole:
            self._finish(settled, self._cursor_info(), before)
        continued = self._opened.since is not None
        return Summary(state, settled, self._read, continued, self._opened.fell_back)

    def _cursor_info(self) -> CursorInfo:
        cursor = self.reading.cursor
        return CursorInfo(
            kind=cursor.kind,
            offset=cursor.offset,
            number=cursor.number,
            check=cursor.check,
            carry=msgspec.to_builtins(cursor.carry),
        )

    def _finish(self, state: State, cursor: CursorInfo, found: list[Problem]) -> None:
        """Put into a state what no message says: the head, the problems, the cursor."""
        state.tool_version = __version__
        goes_on = self._opened.since is not None
        _describe(state.session, self.reading.head, self._source, self._redactor, goes_on)
        state.problems = _joined(self._earlier, found, self._redactor)
        state.cursor = cursor


def _cursor(state: State) -> Cursor:
    given = state.cursor
    return Cursor(given.kind, given.offset, given.number, given.check, given.carry)


def _masked(fact: Fact, redactor: Redactor) -> Fact:
    """Return the fact without secrets, and without what UTF-8 cannot hold."""
    fact.key = _clean(redactor.text(fact.key))
    fact.quote = _clean(redactor.text(fact.quote))
    fact.fields = _cleaned(redactor.tree(fact.fields))
    return fact


def _clean(text: str) -> str:
    """Replace lone surrogates, which real logs hold and UTF-8 cannot."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {_clean(str(key)): _cleaned(one) for key, one in value.items()}
    return value


def _describe(
    info: SessionInfo, head: SessionHead, source: str, redactor: Redactor, goes_on: bool
) -> None:
    """Fill in what the reader knows of the session as a whole; what it does not know stays.

    A reading that goes on may not have seen the beginning, so it does not move it.
    """
    for name in _HEAD_FIELDS:
        value = _clean(redactor.text(getattr(head, name)))
        if value:
            setattr(info, name, value)
    if info.started is None or not goes_on:
        info.started = head.started or info.started
    if head.cwd:
        info.directory = _clean(redactor.text(head.cwd))
    info.source = _clean(redactor.text(source))
    if not info.id:
        info.id = nameless(source)


def redactor(settings: Settings) -> Redactor:
    """Return the redactor with the shipped rules and the user's own, from `redact.yaml`.

    Raises:
        SettingsError: the user's file is not valid.
    """
    own = settings.user_folder / "redact.yaml" if settings.user_folder else None
    return Redactor.shipped(read_yaml(own) if own is not None and own.is_file() else None)


def nameless(source: str) -> str:
    """Return an id for a session whose format has none: by the place where it lies."""
    place = str(Path(source).resolve()) if source != "-" else source
    stem = Path(source).stem.strip("-. ") or "session"
    return f"{stem}-{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _joined(
    earlier: list[ProblemCount], found: list[Problem], redactor: Redactor
) -> list[ProblemCount]:
    """Add the counts of this reading to those of what was read before, kind by kind."""
    counts = {count.what: count.model_copy() for count in earlier}
    for problem in found:
        what = _clean(redactor.text(problem.what))
        if what in counts:
            counts[what].count += problem.count
        else:
            where = _clean(redactor.text(problem.where))
            counts[what] = ProblemCount(
                what=what, where=where, severity=problem.severity, count=problem.count
            )
    return list(counts.values())


def dump(state: State) -> str:
    """Return the state as JSON: the same text for the same state, one value a line."""
    return state.model_dump_json(indent=1) + "\n"


def load_state(text: str, where: str) -> State:
    """Return the state that `dump` wrote.

    Args:
        text: the JSON.
        where: what to call it in an error.

    Raises:
        CheckpointError: it was written by a newer version, or is damaged.
    """
    try:
        version = msgspec.json.decode(text.encode("utf-8", "replace")).get("schema_version")
    except (msgspec.DecodeError, AttributeError) as error:
        raise CheckpointError(f"{where}: not the state of a session ({error})") from error
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise CheckpointError(
            f"{where}: written by a newer version (state schema {version}, this one knows "
            f"{SCHEMA_VERSION}); upgrade with `pip install --upgrade session-checkpoint`"
        )
    try:
        return State.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ReadError(f"{where}: damaged at {place} ({first['msg']})") from error
