"""What is taken from opencode's records: decoded straight into these, the rest is passed over.

Every field may hold anything: who uses one looks at its type. Only the nesting must be as it is
written; a record that is nested otherwise is taken apart by `said_of` instead.
"""

from __future__ import annotations

from typing import Any

import msgspec

from checkpoint.readers._base import Problems
from checkpoint.readers._whole import Record, decode, dict_of, list_of


class Changed(msgspec.Struct):
    """A file in a patch's result."""

    filePath: Any = None  # noqa: N815 - opencode's name
    type: Any = None


class About(msgspec.Struct):
    """What a tool tells of its result (`metadata`)."""

    exit: Any = None
    truncated: Any = None
    exists: Any = None
    answers: Any = None
    todos: Any = None
    files: list[Changed] | None = None


class State(msgspec.Struct):
    """How far a call has come."""

    status: Any = None
    input: Any = None
    output: Any = None
    error: Any = None
    metadata: About | None = None


class Part(msgspec.Struct):
    """A part of a message."""

    type: Any = None
    id: Any = None
    text: Any = None
    tool: Any = None
    callID: Any = None  # noqa: N815 - opencode's name
    state: State | None = None
    synthetic: Any = None
    ignored: Any = None
    auto: Any = None
    filename: Any = None
    url: Any = None
    mime: Any = None
    prompt: Any = None


class Info(msgspec.Struct):
    """A message without its parts."""

    id: Any = None
    role: Any = None
    time: Any = None
    modelID: Any = None  # noqa: N815 - opencode's name
    model: Any = None
    path: Any = None
    summary: Any = None
    error: Any = None


class Said(msgspec.Struct):
    """A message with its parts, in order."""

    info: Info
    parts: list[Part]


class Export(msgspec.Struct):
    """The JSON of `opencode export`."""

    info: Record
    messages: list[Said]


_EXPORT = msgspec.json.Decoder(Export)
_PART = msgspec.json.Decoder(Part)
_FIELDS: dict[type[msgspec.Struct], frozenset[str]] = {
    kind: frozenset(kind.__struct_fields__) for kind in (Info, Part, State, About, Changed)
}


def export_of(raw: bytes, where: str, problems: Problems) -> Export:
    """Return an export; of one that breaks off, what was whole of it."""
    try:
        return _EXPORT.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    given = dict_of(decode(raw, where, problems))
    messages = [dict_of(one) for one in list_of(given.get("messages"))]
    return Export(
        dict_of(given.get("info")),
        [said_of(dict_of(one.get("info")), list_of(one.get("parts"))) for one in messages],
    )


def part_of_json(raw: bytes, where: str, problems: Problems) -> Part | None:
    """Return a part; None, and a problem, if it is no JSON object."""
    try:
        return _PART.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        given = decode(raw, where, problems)
        return part_of(given) if isinstance(given, dict) else None


def said_of(info: Record, parts: list[Any]) -> Said:
    """Return a message from decoded records; parts that are no objects are left out."""
    return Said(info_of(info), [part_of(one) for one in parts if isinstance(one, dict)])


def info_of(info: Record) -> Info:
    """Return a message's own record."""
    return Info(**_known(Info, info))


def part_of(given: Record) -> Part:
    """Return a part from a decoded record."""
    part = Part(**_known(Part, {**given, "state": None}))
    if isinstance(given.get("state"), dict):
        state = given["state"]
        part.state = State(**_known(State, {**state, "metadata": None}))
        about = dict_of(state.get("metadata"))
        files = [one for one in list_of(about.get("files")) if isinstance(one, dict)]
        part.state.metadata = About(**_known(About, {**about, "files": None}))
        part.state.metadata.files = [Changed(**_known(Changed, one)) for one in files]
    return part


def _known(kind: type[msgspec.Struct], given: Record) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key in _FIELDS[kind]}
