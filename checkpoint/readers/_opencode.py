"""One message of opencode, the same in its export, its storage trees and its database.

A message is `info` (role, times, model, path) and `parts` (text, reasoning, tool, file, patch,
compaction, ...). A tool part holds the call and its result, so a message stands by itself; only
who wrote it needs what was said before: after a compaction opencode may send the person's last
words again.

Source: types of @opencode-ai/sdk; files written by releases 0.5.29 to 1.18.33.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from checkpoint.model import (
    Attachment,
    Compaction,
    Message,
    Origin,
    Part,
    Reasoning,
    SessionHead,
    Text,
)
from checkpoint.readers._base import Problems
from checkpoint.readers._opencode_calls import call_of
from checkpoint.readers._opencode_records import Info, Said
from checkpoint.readers._opencode_records import Part as RawPart
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import at_of, dict_of, text_of
from checkpoint.readers._wrapped import split_program

_SILENT = frozenset({"step-start", "step-finish", "snapshot", "agent", "retry", "patch"})
_NUDGES = (
    "Continue if you have next steps",
    "Use the above summary generated from your last session",
    "Summarize the task tool output above",
    "The following tool was executed by the user",
    "Called the Read tool with the following input",
    "Called the list tool with the following input",
    "The user has requested a plan",
)
"""What opencode itself says; older releases did not mark it as `synthetic`."""
_ATTACHED = re.compile(r"\n?\[Attached [\w.+-]+/[\w.+-]+: [^\]\n]*\]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:\n(.*))?\Z', re.DOTALL)


class Told(msgspec.Struct):
    """What must be known of the messages before, to read the next."""

    said: str = ""
    """A digest of the person's last words."""
    compacted: bool = False
    """A compaction came after them."""
    summary_due: bool = False
    """A compaction came, its summary did not yet."""
    model: str = ""
    cwd: str = ""


class Session:
    """Makes the messages of one session, one after the other."""

    def __init__(self, head: SessionHead, problems: Problems, told: Told, *, child: bool) -> None:
        self.head = head
        self.problems = problems
        self.told = told
        self._child = head.id if child else ""

    def message(self, number: int, said: Said) -> Message:
        """Return the message; one of an unknown role is kept as the system's, with a problem."""
        info, role = said.info, said.info.role
        ident = text_of(info.id)
        made = [one for part in said.parts for one in self._part(part, role == "user")]
        times = info.time
        told = self.told
        cwd = ""
        if place := dict_of(info.path):
            cwd = text_of(place.get("cwd"))
            told.cwd = told.cwd or text_of(place.get("root")) or cwd
        model = text_of(info.modelID) or text_of(dict_of(info.model).get("modelID"))
        if role == "assistant":
            told.model = model or told.model
            origin = self._answer(info, ident, made)
        elif role == "user":
            origin = self._said(made)
        else:
            self.problems.add(f"unknown role {role!r}"[:80], ident, "note")
            origin = "injected"
        return Message(
            number,
            role if role in ("user", "assistant") else "system",
            made,
            origin,
            ident,
            at_of(times.get("created")) if isinstance(times, dict) else None,
            model,
            cwd or told.cwd,
            "",
            self._child,
        )

    def _answer(self, info: Info, ident: str, made: list[Part]) -> Origin:
        told = self.told
        if error := dict_of(info.error):
            name = text_of(error.get("name")) or "an error"
            self.problems.add(f"the agent stopped with {name}"[:80], ident, "note")
        if info.summary is not True:
            return "agent"
        if not told.summary_due:  # releases to 1.0.0 mark a compaction by its summary only
            made.insert(0, Compaction())
        told.compacted, told.summary_due = True, False
        return "summary"

    def _said(self, made: list[Part]) -> Origin:
        told = self.told
        if any(type(part) is Compaction for part in made):
            told.compacted = told.summary_due = True
            return "injected"
        words = [part for part in made if type(part) is Text]
        own = "\n".join(part.text for part in words if not part.injected)
        if words and not own:
            return "injected"
        if self._child:
            return "agent"  # the words of the agent that started it
        if not words:
            return "person"
        said = _digest(_ATTACHED.sub("", own).strip())
        if told.compacted and said == told.said:
            for part in words:
                part.injected = True
            return "injected"  # sent again after the compaction
        told.said, told.compacted = said, False
        return "person"

    def _part(self, part: RawPart, user: bool) -> list[Part]:
        kind = text_of(part.type)
        if kind == "tool":
            return [call_of(part)]
        if kind == "text":
            text = text_of(part.text)
            if not text.strip():
                return []
            return list(_words(part, text)) if user else [Text(text)]
        if kind == "reasoning":
            thought = text_of(part.text)
            return [Reasoning(thought)] if thought.strip() else []
        if kind == "file":
            return [_attachment(part)]
        if kind == "compaction":
            auto = part.auto
            return [Compaction("unknown" if auto is None else "auto" if auto else "manual")]
        if kind == "subtask":
            return [Text(text_of(part.prompt), injected=True)]
        if kind not in _SILENT:
            self.problems.add(f"unknown part {kind!r}"[:80], text_of(part.id), "note")
        return []


def _attachment(part: RawPart) -> Attachment:
    name = text_of(part.filename) or text_of(part.url)
    return Attachment("" if name.startswith("data:") else name[:300], text_of(part.mime))


def _words(part: RawPart, text: str) -> list[Text]:
    if part.synthetic is True or part.ignored is True or text.startswith(_NUDGES):
        return [Text(text, injected=True)]
    text = unquoted(text)
    return split_program(text) or split_injected(text)


def unquoted(text: str) -> str:
    """Return the prompt without the quotes that `opencode run` puts around an argument.

    It quotes an argument with a blank in it, puts a backslash before a quote inside, and puts what
    was piped in on the next lines.
    """
    if not text.startswith('"'):
        return text
    match = _QUOTED.match(text)
    if match is None or " " not in match.group(1):
        return text
    piped = match.group(2) or ""
    own = match.group(1).replace('\\"', '"')
    return f"{own}\n{piped}" if piped.strip() else own


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
