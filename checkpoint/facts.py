"""A fact: what one message claims. Extractors yield them by the hundred, so it is slotted."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from typing import Any, Literal

import msgspec

from checkpoint.model import Message

QUOTE = 300
"""Longest quote of an evidence, in characters."""


class Authority(IntEnum):
    """Who outranks whom when two facts of one key disagree."""

    SUMMARY = 1
    """An earlier compaction's text: only fills what the messages no longer show."""
    TEXT = 2
    """Words of the agent."""
    OUTPUT = 3
    """A tool's output, read by a parser that knows the tool."""
    INPUT = 4
    """What a tool was asked to do."""
    TODO = 5
    """The agent's own to-do tool."""
    PERSON = 6


Modality = Literal["stated", "hedged", "planned", "target", "quoted"]
"""`hedged`: a suspicion. `planned`: to come. `target`: wished for. `quoted`: from others."""


class Fact(msgspec.Struct):
    """One claim of one message."""

    kind: str
    key: str
    """What a later fact of the same kind must equal to act on this one.

    "" where the fold decides.
    """
    fields: dict[str, Any]
    message: int
    role: str
    quote: str
    """Verbatim from the message, at most `QUOTE` characters."""
    authority: int
    modality: Modality = "stated"
    id: str = ""
    """The agent's id of the message."""
    at: datetime | None = None


def fact(
    message: Message,
    kind: str,
    key: str,
    quote: str,
    authority: int,
    modality: Modality = "stated",
    **fields: Any,
) -> Fact:
    """Make a fact of what `message` claims; `quote` is cut at `QUOTE` characters."""
    return Fact(
        kind,
        key,
        fields,
        message.number,
        message.role,
        quote[:QUOTE],
        authority,
        modality,
        message.id,
        message.at,
    )
