"""Readers of files that are rewritten as a whole: a JSON object, a Markdown page, a database.

Such a file is decoded as a whole each time; a cursor saves what comes after the decoding. Its
`check` is a digest of the messages before it, so that a rewritten past is noticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from checkpoint.model import Cursor, Message, Reasoning, SessionHead, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import MAX_TEXT, Problems, Reader, Reading
from checkpoint.readers._open import broken_off, open_bytes

Record = dict[str, Any]

KIND = "messages"


class WholeReader(Reader):
    """A reader that builds all messages of a session at once."""

    @abstractmethod
    def build(self, path: Path, session: str, into: Assembler) -> None:
        """Put all messages of the session into the assembler, and what is known into its head."""

    def read(self, path: Path, since: Cursor | None = None, session: str = "") -> Reading:
        """Read the session; see `Reader.read`."""
        problems = Problems()
        head = SessionHead(agent=self.name, source=str(path))
        into = Assembler(head, problems, kind=KIND)
        self.build(path, session, into)
        return finish(into, since)


def finish(into: Assembler, since: Cursor | None) -> Reading:
    """Return the reading of a session that was assembled as a whole."""
    settled = list(into.settled())
    rest = list(into.rest())
    for message in (*settled, *rest):
        trim(message, into.problems)
    reading = Reading(into.head, iter(()), into.problems, since or Cursor(KIND))
    skip = 0
    if since is not None and since.number:
        same = since.kind == KIND and since.number <= len(settled)
        if same and digest(settled[: since.number]) == since.check:
            skip = since.number
        else:
            reading.fell_back = "the messages before the cursor are no longer the same"
    reading.messages = _yield(reading, settled, rest, skip)
    return reading


def trim(message: Message, problems: Problems) -> None:
    """Keep the texts of a message within `MAX_TEXT`, and NUL characters out of them."""
    for part in message.parts:
        if type(part) is ToolCall:
            _trim_call(part, message.number, problems)
        elif (type(part) is Text or type(part) is Reasoning) and _is_odd(part.text):
            part.text = _cut(part.text, message.number, problems)


def _is_odd(text: str) -> bool:
    return len(text) > MAX_TEXT or "\x00" in text


def _trim_call(call: ToolCall, number: int, problems: Problems) -> None:
    if _is_odd(call.output):
        call.output = _cut(call.output, number, problems)
    for key, value in call.input.items():
        if type(value) is str and (len(value) > MAX_TEXT or "\x00" in value):
            call.input = {**call.input, key: _cut(value, number, problems)}
    for change in call.changes:
        if _is_odd(change.old) or _is_odd(change.new):
            change.old = _cut(change.old, number, problems)
            change.new = _cut(change.new, number, problems)


def _cut(text: str, number: int, problems: Problems) -> str:
    if "\x00" in text:
        text = text.replace("\x00", "")
    if len(text) <= MAX_TEXT:
        return text
    problems.add("a text is too long; its middle was left out", f"message {number}", "note")
    half = MAX_TEXT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _yield(
    reading: Reading, settled: list[Message], rest: list[Message], skip: int
) -> Iterator[Message]:
    yield from settled[skip:]
    yield from rest
    number = len(settled)
    reading.cursor = Cursor(KIND, number, number, digest(settled))


def digest(messages: list[Message]) -> str:
    """Return a short proof of what messages say."""
    proof = hashlib.blake2b(digest_size=12)
    encode = msgspec.json.Encoder().encode
    for message in messages:
        try:
            proof.update(encode(message))
        except (UnicodeError, msgspec.MsgspecError, TypeError, RecursionError):
            proof.update(repr(message).encode("utf-8", "replace"))
    return proof.hexdigest()


def load_bytes(path: Path, problems: Problems) -> bytes:
    """Return what the file holds, unpacked, without a byte order mark.

    Raises:
        ReadError: it cannot be opened.
    """
    with open_bytes(path) as file:
        raw = file.read()
        why = broken_off(file)
    if why:
        problems.add(
            "the packed file breaks off; what came before was read", f"{path.name} ({why})"
        )
    return raw.removeprefix(b"\xef\xbb\xbf")


def load_text(path: Path, problems: Problems) -> str:
    """Return the file's text; bytes that are no UTF-8 are replaced, and that is a problem."""
    raw = load_bytes(path, problems)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add("bytes that are no UTF-8 were replaced", f"{path.name}, byte {error.start}")
        text = raw.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\x00", "")


def load_json(path: Path, problems: Problems) -> Any:
    """Return the JSON value of the file; of one that breaks off, what was whole of it.

    None, and a problem, if nothing can be made of it.
    """
    return decode(load_bytes(path, problems), path.name, problems)


def decode(raw: bytes, where: str, problems: Problems) -> Any:
    """Return the JSON value of `raw`; see `load_json`."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.json.decode(raw)
    raw = raw.strip(b"\x00 \t\r\n")
    value = _decode(raw)
    if value is not None or not raw:
        return value
    mended = _mend(raw.decode("utf-8", "replace"))
    value = _decode(mended.encode("utf-8", "replace")) if mended else None
    if value is None:
        problems.add("no JSON can be made of the file", where, "error")
    else:
        problems.add("the JSON breaks off; what was whole before that was read", where)
    return value


def load_lines(path: Path, problems: Problems) -> Iterator[tuple[str, Record]]:
    """Yield the JSON objects of a line file, each with its place ("line 7").

    Empty lines and runs of NUL bytes are skipped. A broken line is a problem; a last line without
    its line feed that cannot be decoded is a writer at work, and only a note.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            bare = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip(
                b"\x00 \t\r\n"
            )
            if not bare:
                continue
            record = _decode(bare)
            where = f"line {number}"
            if isinstance(record, dict):
                yield where, record
            elif record is None and not line.endswith(b"\n"):
                problems.add("the last line is not whole yet", where, "note")
            else:
                problems.add("a line is no JSON object", where)
        why = broken_off(file)
    if why:
        problems.add(
            "the packed file breaks off; what came before was read", f"{path.name} ({why})"
        )


def _decode(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return _scrub(json.loads(raw.decode("utf-8", "replace")))
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


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)


def _mend(text: str) -> str:
    """Return `text` cut after its last whole value, its open brackets closed; "" if it has none."""
    stack: list[str] = []
    safe, closers = 0, ""
    for match in _TOKEN.finditer(text):
        mark = match.group(0)
        if mark in "{[":
            stack.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if not stack or stack.pop() != mark:
                break
            safe, closers = match.end(), "".join(reversed(stack))
        elif mark == ",":
            safe, closers = match.start(), "".join(reversed(stack))
    return text[:safe] + closers if safe else ""


def at_of(value: Any) -> datetime | None:
    """Return the time that an ISO text, or a number of (milli-, nano-)seconds, stands for.

    Without a zone it counts as UTC. None for what is no time.
    """
    if isinstance(value, str) and value:
        with contextlib.suppress(ValueError):
            return _aware(datetime.fromisoformat(value.strip()))
        with contextlib.suppress(ValueError):
            return at_of(float(value))
        return None
    if type(value) is int and 1e11 < value < 1e14:  # milliseconds, what most agents write
        return datetime.fromtimestamp(value / 1000, UTC)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        seconds = float(value)
        if abs(seconds) > 1e20:
            return None
        while abs(seconds) > 1e11:
            seconds /= 1000
        with contextlib.suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    return None


def _aware(at: datetime) -> datetime | None:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def changed(path: Path) -> float:
    """Return when a file was last written, in seconds; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def text_of(value: Any) -> str:
    """Return a value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> Record:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def records_of(value: Any) -> list[Record]:
    """Return the objects in a list."""
    return [one for one in list_of(value) if isinstance(one, dict)]
