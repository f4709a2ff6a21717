"""A stored checkpoint: its commit message, written and read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from checkpoint.store.refs import remote_of

_FIELDS = ("%H", "%S", "%P", "%at", "%s", "%(trailers:only,unfold)")

FORMAT = "tformat:" + "".join(f"{field}%x00" for field in _FIELDS)
"""For `git log --source`. One trailers atom and no more: on git 2.39 several of them leak their
options into each other. A message cannot hold a NUL, so the fields cannot run together."""

SUBJECT_LONGEST = 200
_VALUE_LONGEST = 500
_EPOCH = datetime.fromtimestamp(0, UTC)

# C0 and C1 controls, zero-width and bidirectional marks: nothing that a terminal obeys.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One stored checkpoint, read back. What its commit does not say is ""."""

    commit: str
    ref: str
    id: str
    """Short, and the same wherever the checkpoint is pushed or imported to."""
    agent: str
    session: str
    messages: int
    reason: str
    head: str
    """The code commit that was checked out; "" where there was none."""
    branch: str
    """"" when detached."""
    dirty: str
    """How many files had uncommitted changes, untracked ones included; "" if that was not known."""
    version: str
    """Of this program."""
    continues: str
    """The session it was forked or continued from."""
    at: datetime
    """Aware UTC, whole seconds."""
    subject: str
    parent: str
    """The session's previous checkpoint, a commit; "" for the first."""
    remote: str = ""
    """Where it was fetched from; "" for our own."""


def one_line(text: str, longest: int = _VALUE_LONGEST) -> str:
    """Return `text` as one line without anything that is not seen."""
    text = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be stored
    return " ".join(_UNSEEN.sub(" ", text).split())[:longest].rstrip()


def message(subject: str, body: str, trailers: Mapping[str, str]) -> bytes:
    """Return a commit message; the trailers stand in a paragraph of their own, empty ones left out.

    Whatever the body holds stands before that paragraph and is therefore never a trailer.
    """
    text = body.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    lines = [_UNSEEN.sub(" ", one).rstrip() for one in text.split("\n")]
    values = {f"Checkpoint-{key}": one_line(value) for key, value in trailers.items()}
    paragraphs = [
        one_line(subject, SUBJECT_LONGEST) or "checkpoint",
        "\n".join(lines).strip("\n"),
        "\n".join(f"{key}: {value}" for key, value in values.items() if value),
    ]
    return "\n\n".join(one for one in paragraphs if one).encode() + b"\n"


def parse(log: bytes) -> Iterator[Checkpoint]:
    """Yield the checkpoints of `git log`'s output in `FORMAT`, in its order."""
    fields = log.decode("utf-8", "replace").split("\0")
    width = len(_FIELDS)
    for start in range(0, len(fields) - width, width):
        commit, ref, parents, at, subject, trailers = fields[start : start + width]
        yield _checkpoint(commit.lstrip("\n"), ref, parents, at, subject, trailers)


def _checkpoint(
    commit: str, ref: str, parents: str, at: str, subject: str, trailers: str
) -> Checkpoint:
    """Make one; the trailers may be foreign (fetched) and hold anything."""
    values: dict[str, str] = {}
    for line in trailers.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.startswith("Checkpoint-"):
            values[key.removeprefix("Checkpoint-").lower()] = one_line(value)
    own = values.get("id", "")
    return Checkpoint(
        commit=commit,
        ref=ref,
        id=own if re.fullmatch(r"[0-9A-Za-z]{4,64}", own) else commit[:12],
        agent=values.get("agent", ""),
        session=values.get("session", ""),
        messages=number(values.get("messages", "")),
        reason=values.get("reason", ""),
        head=values.get("head", ""),
        branch=values.get("branch", ""),
        dirty=values.get("dirty", ""),
        version=values.get("version", ""),
        continues=values.get("continues", ""),
        at=moment(number(at)),
        subject=one_line(subject, SUBJECT_LONGEST),
        parent=parents.partition(" ")[0],
        remote=remote_of(ref),
    )


def number(text: str) -> int:
    """Return a count or a time stamp; 0 for anything that is none."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0


def moment(stamp: int) -> datetime:
    """Return a time stamp as aware UTC; the epoch for what no calendar has."""
    try:
        return datetime.fromtimestamp(stamp, UTC)
    except (OverflowError, ValueError, OSError):
        return _EPOCH
