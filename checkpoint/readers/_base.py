"""What a reader is, and what it is given: the head of a file, a place to put problems.

A reader only identifies and reads. It streams: a session of several gigabytes is never held
whole. What it cannot understand becomes a `Problem`, counted by kind; nothing raises but a file
that cannot be opened.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from checkpoint.errors import ReadError
from checkpoint.model import Cursor, Message, Problem, SessionHead, Severity
from checkpoint.readers._open import open_bytes

HEAD_BYTES = 262_144
"""How much of a file `identify` may look at."""

MAX_TEXT = 400_000
"""Longer texts of one part are cut in the middle (characters), and the cut is a problem."""


class Problems:
    """Counts what was not understood, by kind, with the first place of each."""

    def __init__(self) -> None:
        self._found: dict[str, Problem] = {}
        self._settled: dict[str, Problem] | None = None

    def add(self, what: str, where: str, severity: Severity = "warning") -> None:
        """Count one more of the kind `what`; at most 200 kinds are kept apart."""
        if what not in self._found and len(self._found) >= 200:
            what = "further kinds of problems"
        seen = self._found.get(what)
        now = (
            Problem(what, where, severity)
            if seen is None
            else Problem(what, seen.where, seen.severity, seen.count + 1)
        )
        # A new mapping each time: what `mark` gave out never changes.
        self._found = {**self._found, what: now}

    def mark(self) -> dict[str, Problem]:
        """Return what was found so far, for `settle`."""
        return self._found

    def settle(self, mark: dict[str, Problem]) -> None:
        """Say what had been found at the place of the cursor; what came later is found again."""
        self._settled = mark

    @property
    def settled(self) -> list[Problem]:
        """What was found before the place of the cursor; all, where a reader does not say."""
        return list((self._found if self._settled is None else self._settled).values())

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)


@dataclass
class Head:
    """The beginning of a file (or that it is a directory), read once and shown to all readers.

    Of a packed file it is the beginning of what is packed in it.
    """

    path: Path
    start: bytes = b""
    """The first `HEAD_BYTES`; a UTF-8 byte order mark is left out."""
    whole: bool = True
    """The file is not longer than `start`."""
    is_dir: bool = False

    @classmethod
    def of(cls, path: Path) -> Head:
        """Read the head of `path`.

        Raises:
            ReadError: there is no such file, or it cannot be opened.
        """
        try:
            if path.is_dir():
                return cls(path, is_dir=True)
            with open_bytes(path) as file:
                start = file.read(HEAD_BYTES + 1)
        except OSError as error:
            raise ReadError(f"{path}: cannot be read ({error.strerror})") from error
        whole = len(start) <= HEAD_BYTES
        return cls(path, start[:HEAD_BYTES].removeprefix(b"\xef\xbb\xbf"), whole)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The JSON objects of the first lines, as far as lines are whole; [] if it is none."""
        lines = self.start.split(b"\n")
        if not self.whole:
            lines = lines[:-1]
        found: list[dict[str, Any]] = []
        for line in lines[:400]:
            line = line.strip(b"\x00 \t\r")
            if line[:1] != b"{":
                continue
            try:
                record = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(record, dict):
                found.append(record)
        return found

    @cached_property
    def text(self) -> str:
        """The start as text, undecodable bytes replaced."""
        return self.start.decode("utf-8", "replace")

    def is_sqlite(self) -> bool:
        """Whether the file is a SQLite database."""
        return self.start.startswith(b"SQLite format 3\x00")

    def has_key(self, name: str) -> bool:
        """Whether a JSON key of this name stands in the start of the file, at any depth."""
        return re.search(rb'"' + re.escape(name.encode()) + rb'"\s*:', self.start) is not None


@dataclass
class Reading:
    """One run of a reader over one session: iterate it for the messages, then look at the rest."""

    head: SessionHead
    messages: Iterator[Message]
    problems: Problems
    cursor: Cursor = field(default_factory=Cursor)
    """After the iteration: where to go on. Before it: where it went on from."""
    fell_back: str = ""
    """Why a given cursor could not be used, so that the whole session was read; "" if it was."""

    def __iter__(self) -> Iterator[Message]:
        return self.messages


@dataclass(frozen=True)
class Found:
    """One session of a store, as `sessions` lists it: cheap to learn, without reading the whole."""

    agent: str
    path: Path
    """What `read` takes."""
    session: str
    """The session's id; with a store of many sessions it tells `read` which one."""
    directory: str = ""
    """The directory recorded in the session; "" if the format holds none."""
    title: str = ""
    started: float = 0.0
    updated: float = 0.0
    """Seconds since the epoch of the last message (not of the file, where the format tells)."""
    messages: int | None = None
    parent: str = ""
    subagent: bool = False
    empty: bool = False
    branch: str = ""
    project: str = ""
    """A commit of the repository that the session was recorded in, where the format has one."""


class Reader(ABC):
    """One agent's files. Stateless: one instance serves all files."""

    name: ClassVar[str]
    """As in refs and on the command line: "claude-code"."""
    title: ClassVar[str]
    """As people write it: "Claude Code"."""

    @abstractmethod
    def identify(self, head: Head) -> bool:
        """Whether the file is this agent's, by content; the file's name alone never decides."""

    @abstractmethod
    def read(self, path: Path, since: Cursor | None = None, session: str = "") -> Reading:
        """Start reading a session.

        Args:
            path: a session file or store that `identify` accepted.
            since: go on from here; ignored (and said in `Reading.fell_back`) if what lies before is
                no longer the same.
            session: which one, in a store of many; "" is the newest.

        Raises:
            ReadError: the file cannot be opened, or holds no such session.
        """

    def roots(self) -> list[Path]:
        """Where this agent keeps sessions on this machine, environment overrides first."""
        return []

    def find(self, directory: Path | None = None) -> Iterator[Found]:  # noqa: ARG002
        """Yield the sessions in `roots()`, in no order; those of `directory` only, if it is given.

        `directory` is only a hint to leave out what surely belongs elsewhere; the caller compares
        the recorded directories itself.
        """
        yield from ()
