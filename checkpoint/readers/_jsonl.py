"""Session files with one JSON record a line: read by bytes, from any line on, in bounded memory.

Lines end at the line feed only: other line separators stand unescaped inside JSON texts.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from checkpoint.model import Cursor, Message, SessionHead, Severity
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import MAX_TEXT, Head, Problems, Reader, Reading
from checkpoint.readers._open import broken_off, open_bytes
from checkpoint.readers._squeeze import LONG_LINE, Squeezer, kept_text, middle_out
from checkpoint.readers._whole import at_of

Record = dict[str, Any]

KIND = "bytes"
_BLOCK = 1 << 20
_EDGE = 4096
_BEGINNING = 65_536
_STRIP = b"\x00 \t\r"
_decoder = msgspec.json.Decoder()


def names(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


class Lines:
    """The records of a line file, each with the offset at which its line begins.

    Empty lines and runs of NUL bytes are skipped. A broken line, or one that is no object, is a
    problem. A last line without its line feed that cannot be decoded belongs to a writer at work:
    it is left for the next reading.
    """

    def __init__(
        self,
        path: Path,
        problems: Problems,
        start: int = 0,
        skip: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._path = path
        self._problems = problems
        self._unread = skip
        self.end = start
        """After the last line that was read, or left out for good."""
        self.torn = False
        """What follows `end` is the beginning of a line that is not whole yet."""

    def raw(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line as it stands, with its offset; a long one shortened."""
        with open_bytes(self._path) as file:
            _skip(file, self.end)
            for offset, line, _whole in self._split(file):
                yield offset, line

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        with open_bytes(self._path) as file:
            _skip(file, self.end)
            for offset, line, whole in self._split(file):
                record = self._decode(offset, line, whole)
                if record is not None:
                    yield offset, record
            why = broken_off(file)
        if why:
            what = "the packed file breaks off; what came before was read"
            self._problems.add(what, f"{self._path.name} ({why})")

    def _split(self, file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
        """Yield each line with its offset, and whether it ends in a line feed."""
        rest = b""
        while block := file.read(_BLOCK):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            offset = self.end
            for line in lines:
                self.end = offset + len(line) + 1
                yield offset, line, True
                offset = self.end
            if len(rest) > LONG_LINE:
                rest = yield from self._long(file, rest)
        if rest:
            yield self.end, rest, False

    def _long(
        self, file: BinaryIO, start: bytes
    ) -> Generator[tuple[int, bytes, bool], None, bytes]:
        """Yield the long line that begins with `start`; return what was read beyond it."""
        squeezer = Squeezer()
        squeezer.feed(start)
        length = len(start)
        while block := file.read(_BLOCK):
            piece, feed, beyond = block.partition(b"\n")
            squeezer.feed(piece)
            length += len(piece)
            if feed:
                offset, self.end = self.end, self.end + length + 1
                yield offset, self._squeezed(squeezer, offset), True
                return beyond
        offset = self.end
        line = squeezer.result()
        if line is not None and self._value(line.strip(_STRIP)) is not None:
            self.end = offset + length
            yield offset, self._squeezed(squeezer, offset), False
        else:
            self.torn = True
        return b""

    def _squeezed(self, squeezer: Squeezer, offset: int) -> bytes:
        line = squeezer.result()
        if line is None:
            self._problems.add("a line is too long and was left out", self.where(offset))
            return b""
        if squeezer.dropped:
            what = "a text is too long; its middle was left out"
            self._problems.add(what, self.where(offset), "note")
        return line

    def _decode(self, offset: int, line: bytes, whole: bool) -> Record | None:
        line = line.strip(_STRIP)
        if offset == 0:
            line = line.removeprefix(b"\xef\xbb\xbf").strip(_STRIP)
        if not line or (self._unread and line[-1:] == b"}" and self._unread(line)):
            return None
        value = self._value(line)
        if not whole:
            if value is None:
                self.torn = True
                return None
            self.end = max(self.end, offset + len(line))
        if isinstance(value, dict):
            return value
        what = "a line is broken" if value is None else "a line is no JSON object"
        self._problems.add(what, self.where(offset))
        return None

    def where(self, offset: int) -> str:
        """Return the place of a record as a problem names it."""
        return f"{self._path.name}, byte {offset}"

    @staticmethod
    def _value(line: bytes) -> Any:
        try:
            return _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        try:
            return _scrub(json.loads(line.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return None


def _scrub(value: Any) -> Any:
    """Replace lone surrogates, which the standard library lets through and nobody can encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_scrub(one) for one in value]
    if isinstance(value, dict):
        return {str(_scrub(key)): _scrub(one) for key, one in value.items()}
    return value


def _skip(file: BinaryIO, count: int) -> None:
    if not count:
        return
    if file.seekable():
        file.seek(count)
        return
    while count > 0 and (piece := file.read(min(count, _BLOCK))):
        count -= len(piece)


def proof(path: Path, offset: int) -> str:
    """Return a digest of the bytes around the places that tell whether a file was rewritten.

    These are the first 4 KiB and the last 4 KiB before `offset`. Empty if the file is shorter.
    """
    if not offset:
        return ""
    first = min(offset, _EDGE)
    with open_bytes(path) as file:
        start = file.read(first)
        last_from = max(first, offset - _EDGE)
        _skip_on(file, first, last_from)
        last = file.read(offset - last_from)
    if len(start) + len(last) != first + offset - last_from:
        return ""
    return hashlib.blake2b(start + last, digest_size=12).hexdigest()


def _skip_on(file: BinaryIO, at: int, to: int) -> None:
    if file.seekable():
        file.seek(to)
    else:
        _skip(file, to - at)


@dataclass(frozen=True)
class Plan:
    """What must be known of a file before its records are taken one by one."""

    left_out: Set[int] = frozenset()
    """Offsets of the records that are not the session's course: taken back, or told twice."""
    stale: str = ""
    """Why what comes after the cursor changes what was read before it; "" if it does not."""


class JsonlReader(Reader):
    """A reader of a line file: what each record means is told by a `Session` of its own."""

    def read(self, path: Path, since: Cursor | None = None, session: str = "") -> Reading:  # noqa: ARG002
        """Read the session; see `Reader.read`."""
        problems = Problems()
        head = SessionHead(agent=self.name, source=str(path))
        start = _beginning(Head.of(path))
        reading = Reading(head, iter(()), problems, Cursor(KIND))
        plan: Plan | None = None
        if since is not None and since.offset:
            if since.kind == KIND and since.check and proof(path, since.offset) == since.check:
                plan = self.plan(path, since)
                reading.fell_back = plan.stale
            else:
                reading.fell_back = "the file before the cursor is no longer the same"
            if not reading.fell_back:
                reading.cursor = since
        going = reading.cursor
        into = Assembler(head, problems, going if going.offset else None, KIND)
        self.begin(start, into)
        reading.messages = self._messages(path, reading, into, plan if going.offset else None)
        return reading

    def plan(self, path: Path, since: Cursor) -> Plan:  # noqa: ARG002
        """Look through the file from the cursor on; only `since.offset` counts."""
        return Plan()

    def unread(self, line: bytes) -> bool:  # noqa: ARG002
        """Whether a line need not even be decoded: nothing in it is of use."""
        return False

    @abstractmethod
    def begin(self, start: Head, into: Assembler) -> None:
        """Tell the session's head what the beginning of the file says of it."""

    @abstractmethod
    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        """Return what takes the records from the cursor on."""

    def _messages(
        self, path: Path, reading: Reading, into: Assembler, plan: Plan | None
    ) -> Iterator[Message]:
        left_out = (plan or self.plan(path, Cursor(KIND))).left_out
        lines = Lines(path, reading.problems, reading.cursor.offset, self.unread)
        session = self.session(path, into, reading.cursor)
        for offset, record in lines:
            if offset in left_out:
                continue
            into.place(offset)
            session.offset = offset
            session.record(record)
            if into.ready:
                yield from into.settled()
        into.place(lines.end)
        session.offset = lines.end
        session.finish()
        yield from into.settled()
        cursor = into.cursor(lines.end)
        cursor.check = proof(path, cursor.offset)
        reading.cursor = cursor
        if lines.torn:  # found again by the next reading, until it is whole
            what = "the last line is not whole yet"
            reading.problems.add(what, lines.where(lines.end), "note")
        yield from into.rest()


def _beginning(head: Head) -> Head:
    """Return less of the head: what tells about the session stands in its first lines."""
    if len(head.start) <= _BEGINNING:
        return head
    return Head(head.path, head.start[:_BEGINNING], whole=False)


def own_type(line: bytes) -> bytes:
    """Return the record's `type` as it stands in the line; empty if that is not sure.

    It is sure if it comes before any inner object; nothing of the line is decoded.
    """
    at = line.find(b'"type":"', 0, 4096)
    if at < 0 or line.count(b"{", 0, at) != 1:
        return b""
    end = line.find(b'"', at + 8, at + 72)
    return line[at + 8 : end] if end > 0 else b""


class Session:
    """Turns the records of one session into messages."""

    def __init__(self, path: Path, into: Assembler) -> None:
        self.into = into
        self.head = into.head
        self.offset = 0
        """Where the record begins that is being taken."""
        self._file = path.name
        self._at_text = ""
        self._at: datetime | None = None

    def record(self, record: Record) -> None:
        """Take one record."""
        raise NotImplementedError

    def finish(self) -> None:
        """Take the end of the file."""

    def problem(self, what: str, severity: Severity = "note") -> None:
        """Count a problem of the record that is being taken."""
        self.into.problems.add(what, f"{self._file}, byte {self.offset}", severity)

    def at(self, record: Record) -> datetime | None:
        """Return the record's time."""
        text = record.get("timestamp")
        if not isinstance(text, str):
            return at_of(text)
        if text != self._at_text:
            self._at_text = text
            try:
                at = datetime.fromisoformat(text)
                self._at = at if at.tzinfo is UTC else at_of(text)
            except ValueError:
                self._at = at_of(text)
        return self._at

    def text(self, text: str) -> str:
        """Return a text as it may be kept: no NUL, no packed pictures, not endlessly long."""
        kept = kept_text(text)
        if len(kept) > MAX_TEXT:
            self.problem("a text is too long; its middle was left out")
            kept = middle_out(kept)
        return kept

    def carry(self, **known: Any) -> None:
        """Remember what must be known to go on from a later place."""
        carry = self.into.carry
        for key, value in known.items():
            if carry.get(key) != value:
                self.into.carry = {**carry, **known}
                return
