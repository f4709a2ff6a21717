"""aider: `.aider.chat.history.md` in the repository, appended for ever; a run begins a session.

`read` without a session takes all runs of the file as one chain, since aider's runs in one
repository carry on from each other and a checkpoint must not lose the earlier ones; with a
session (its start, as `find` names it) that run alone.

Lines that the program wrote end in two blanks: `#### ` the person's input, `> ` the program's
words. All else is the assistant's. SEARCH/REPLACE blocks and whole files become edits once the
program says `Applied edit to`; `Commit HASH message` becomes a `git commit` call; `/run` and
`/test` become shell calls, whose output the format does not hold unless it was given to the model.

Not in the format: times other than a run's start (local time without a zone, taken as UTC),
the branch, results of what the person was asked beyond the answer typed, to-do lists.

Source: aider/io.py and aider/commands.py of Aider-AI/aider.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from checkpoint.errors import ReadError
from checkpoint.model import Change, Origin, Part, Reasoning, Role, Text, ToolCall
from checkpoint.readers._aider_edits import cut_edits, diff_changes, same, whole_file
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._calls import close_call
from checkpoint.readers._whole import WholeReader, at_of, load_text

_RUN = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)\s*$")
HISTORY = ".aider.chat.history.md"

Block = tuple[str, list[str]]
"""Who wrote it ("person", "program", "agent"), and the lines without their marks."""


class Aider(WholeReader):
    """Reads aider's chat history."""

    name = "aider"
    title = "aider"

    def identify(self, head: Head) -> bool:
        first = head.text.lstrip("\n\r ").split("\n", 1)[0]
        return _RUN.match(first) is not None or any(
            _RUN.match(line) for line in head.text.split("\n", 400)[:400] if line[:2] == "# "
        )

    def build(self, path: Path, session: str, into: Assembler) -> None:
        runs = _runs(load_text(path, into.problems))
        if session:
            runs = [run for run in runs if run[0] == session]
            if not runs:
                raise ReadError(f"{path}: no run of aider began at {session!r}")
        into.head.id = runs[0][0] if runs else ""
        if path.name == HISTORY:
            into.head.cwd = str(path.parent)
        for started, text in runs:
            _Run(into, _time(started)).read(text)

    def roots(self) -> list[Path]:
        named = os.environ.get("AIDER_CHAT_HISTORY_FILE")
        return [Path(named)] if named else []

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        places = [one for one in self.roots() if one.is_file()]
        for folder in (directory, *directory.parents) if directory else ():
            if (folder / HISTORY).is_file():
                places.append(folder / HISTORY)
                break
        for path in places:
            try:
                changed, runs = path.stat().st_mtime, _runs(load_text(path, Problems()))
            except (OSError, ReadError):
                continue
            for number, (started, text) in enumerate(runs):
                began = _time(started)
                at = began.timestamp() if began else 0.0
                newest = number == len(runs) - 1
                yield Found(
                    self.name, path, started, str(path.parent), "", at,
                    changed if newest else at, None, runs[number - 1][0] if number else "",
                    False, "\n#### " not in text,
                )  # fmt: skip


def _runs(text: str) -> list[tuple[str, str]]:
    """Return the runs of a history: the start as a name (20260102-030405), and the text."""
    runs: list[tuple[str, str]] = []
    lines: list[str] = []
    started = ""
    for line in text.split("\n"):
        match = _RUN.match(line)
        if match:
            if started or any(one.strip() for one in lines):
                runs.append((started, "\n".join(lines)))
            started, lines = re.sub(r"[-: T]", "", match.group(1)), []
            started = f"{started[:8]}-{started[8:]}"
        else:
            lines.append(line)
    runs.append((started, "\n".join(lines)))
    return runs


def _time(started: str) -> datetime | None:
    return at_of(started.replace("-", "T")) if started else None


def _blocks(text: str) -> list[Block]:
    """Cut a run's text by who wrote it.

    A file whose trailing blanks were stripped is taken by its marks alone.
    """
    lines = text.split("\n")
    marked = [line for line in lines if line.startswith(("> ", "#### "))]
    stripped = not any(line.endswith("  ") for line in marked)
    found: list[Block] = []
    until = -1
    for number, line in enumerate(lines):
        own = stripped or line.endswith("  ")
        after_program = bool(found) and found[-1][0] == "program"
        if number <= until:
            who = "program"
        elif line.startswith("#### ") and own:
            who, line = "person", line[5:].rstrip()
        elif (line.startswith("> ") or line.rstrip() == ">") and own:
            who, line = "program", line[2:].rstrip()
        elif line.startswith("> ") and after_program:
            until = _long(lines, number)
            who, line = ("program", line[2:]) if until >= 0 else ("agent", line)
        elif not line.strip() and after_program:
            continue
        else:
            who = "agent"
            if not line.strip() and found and found[-1][0] != "agent":
                found.append(("agent", []))
        if found and found[-1][0] == who:
            found[-1][1].append(line)
        else:
            found.append((who, [line]))
    return [one for one in found if any(line.strip() for line in one[1])]


def _long(lines: list[str], start: int) -> int:
    """Return where the program's words of several lines end, -1 if they are none of its.

    Only the first of them is marked, and only the last ends in two blanks.
    """
    for number in range(start + 1, min(start + 4000, len(lines))):
        if lines[number].endswith("  "):
            return -1 if lines[number].startswith(("> ", "#### ", ">")) else number
    return -1


_ASKED = re.compile(r"\((?:Y\)es|N\)o)|\(Y\)es/\(N\)o")
_COMMAND = re.compile(r"^(?:/(?:run|test|git|lint)\b|!)\s*(.*)", re.DOTALL)
_PROSE = re.compile(r"^/(?:ask|code|architect|context|help)\s+(?=\S)")
_FED = re.compile(
    r"^(?:# )?(?:Fix any (?:linting )?errors|I ran this command:|Repo-map|The LLM did)"
)
_RAN = re.compile(r"I ran this command:\s*\n+(.+?)\n+And got this output:\s*\n(.*)", re.DOTALL)
_WATCHED = 'Find the "AI" comments below'
_THOUGHT = re.compile(
    r"<(thinking-content-\w+|think)>(.*?)(?:</\1>|\Z)|"
    r"[-\s]*\n?► \*\*THINKING\*\*\n(.*?)► \*\*ANSWER\*\*",
    re.DOTALL,
)


class _Run:
    """Puts one run into the assembler."""

    def __init__(self, into: Assembler, at: datetime | None) -> None:
        self._into = into
        self._at = at
        self._model = ""
        self._cwd = into.head.cwd
        self._asked: list[ToolCall] = []
        self._edits = 0
        self._words = ""
        self._ran: ToolCall | None = None

    def read(self, text: str) -> None:
        """Put the messages of the run, in order."""
        head = self._into.head
        head.started = head.started or self._at
        for who, lines in _blocks(text):
            if who == "person":
                self._person("\n".join(lines).strip("\n"))
            elif who == "program":
                self._program(lines)
            else:
                self._agent("\n".join(lines).strip("\n"))

    def _say(self, role: Role, parts: list[Part], origin: Origin) -> None:
        model = self._model if role == "assistant" else ""
        self._into.message(role, parts, origin=origin, at=self._at, model=model, cwd=self._cwd)

    def _drop(self) -> None:
        """Give up the edits that the program did not apply before something else was said."""
        for call in self._asked:
            self._into.abandon(call.id)
        self._asked, self._words = [], ""

    def _person(self, text: str) -> None:
        self._drop()
        if _ASKED.search(text):
            self._say("system", [Text(text, injected=True)], "injected")
            return
        if text.startswith(_WATCHED):
            self._say("user", *_watched(text))
            return
        if _FED.match(text):
            parts: list[Part] = [Text(text, injected=True)]
            ran = _RAN.search(text)
            if ran:
                parts.extend(self._gave(ran.group(1).strip(), ran.group(2).strip("\n")))
            self._say("user", parts, "injected")
            return
        if self._ran:
            self._into.abandon(self._ran.id)
        self._say("user", [Text(_PROSE.sub("", text))], "person")
        command = _COMMAND.match(text)
        if command and command.group(1).strip():
            words = text.split(None, 1)[0]
            line = command.group(1).strip()
            line = f"git {line}" if words == "/git" else line
            call = ToolCall(words if words[0] == "/" else "/run", "shell", line, finished=False)
            self._edits += 1
            call.id = f"run-{self._edits}"
            self._say("system", [call], "injected")
            self._ran = call

    def _gave(self, command: str, output: str) -> list[ToolCall]:
        """Put the output that was given to the model into the call, or return a call for it."""
        if self._ran and self._ran.target == command and not self._ran.finished:
            close_call(self._ran, output)
            self._into.close(self._ran.id)
            return []
        call = ToolCall("/run", "shell", command)
        close_call(call, output)
        return [call]

    def _agent(self, text: str) -> None:
        parts: list[Part] = []
        for match in _THOUGHT.finditer(text):
            thought = (match.group(2) or match.group(3) or "").strip()
            if thought:
                parts.append(Reasoning(thought))
        text = _THOUGHT.sub("", text).strip("\n")
        self._drop()
        self._words = text
        text, calls = cut_edits(text)
        self._asked = calls
        for call in calls:
            self._edits += 1
            call.id = f"edit-{self._at or ''}-{self._edits}".replace(" ", "T")
        if text.strip():
            parts.append(Text(text.strip("\n")))
        parts.extend(calls)
        if parts:
            self._say("assistant", parts, "agent")

    def _program(self, lines: list[str]) -> None:
        parts: list[Part] = []
        words: list[str] = []
        for line in lines:
            self._learn(line)
            call = self._done(line)
            if call:
                parts.append(call)
            elif line.strip():
                words.append(line)
        if words:
            parts.insert(0, Text("\n".join(words), injected=True))
        if parts:
            self._say("system", parts, "injected")

    def _learn(self, line: str) -> None:
        head = self._into.head
        if match := re.match(r"Aider v(\S+)", line):
            head.version = match.group(1)
        elif match := re.match(r"(?:Main model|Model): (\S+)(?: with|$)", line):
            self._model = head.model = match.group(1)
        elif (match := re.match(r"Git working dir: (.+)", line)) or (
            (match := re.match(r"Cur working dir: (.+)", line)) and not self._cwd
        ):
            self._cwd = head.cwd = match.group(1).strip()

    def _done(self, line: str) -> ToolCall | None:
        """Return the call that a line of the program reports, or settle one that was asked for."""
        if match := re.match(r"Applied edit to (.+)", line):
            return self._applied(match.group(1).strip(), line)
        if match := re.match(r"Commit ([0-9a-f]{6,40}) (.+)", line):
            message = match.group(2).strip()
            call = ToolCall("git commit", "shell", f"git commit -m {shlex.quote(message)}")
            close_call(call, line.strip())
            return call
        if match := re.match(r"Running (?!pip\b)(\S.*)", line):
            return ToolCall("shell", "shell", match.group(1).strip(), finished=False)
        if re.search(r"SEARCH/REPLACE blocks? failed to match", line) or (
            "did not conform to the edit format" in line
        ):
            for call in self._asked:
                if not call.finished:
                    close_call(call, line.strip(), failed=True)
                    call.changes = ()
                    self._into.close(call.id)
        return None

    def _applied(self, path: str, line: str) -> ToolCall | None:
        asked = [one for one in self._asked if same(one.target, path) and not one.output]
        for call in asked:
            close_call(call, line.strip())
            self._into.close(call.id)
        if asked:
            return None
        whole = whole_file(self._words, path)
        call = ToolCall("edit", "write" if whole else "edit", path)
        made = Change(path, "written" if whole else "edited", new=whole)
        call.changes = (made,) if whole else diff_changes(self._words, path) or (made,)
        close_call(call, line.strip())
        return call


def _watched(text: str) -> tuple[list[Part], Origin]:
    """Return the prompt of the watch mode: only the marked comments are the person's words."""
    own = [line[1:].strip() for line in text.split("\n") if line.startswith("█")]
    parts: list[Part] = [Text(text, injected=True)]
    if own:
        parts.append(Text("\n".join(own)))
    return parts, "person" if own else "injected"
