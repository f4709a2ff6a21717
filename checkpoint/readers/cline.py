"""Cline, Roo Code, Kilo Code: `tasks/<id>/` in VS Code's global storage, and Markdown exports.

Of a task directory `api_conversation_history.json` is read (what the model saw), with the times of
`ui_messages.json` where that says at which message it was; the latter alone is read too. Whose a
file is stands in its folder's name, else in the form of the environment block; a file that tells
neither counts as Cline's.

Not in the format: the branch; exit codes (Roo writes them, Cline does not); the model, but in the
newer `ui_messages.json`; times in a Markdown export other than those of the environment blocks.

Source: cline/cline src/core (prompts/responses.ts, assistant-message, context), src/integrations
/misc/export-markdown.ts; RooCodeInc/Roo-Code the same places.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from checkpoint.model import Attachment, Origin, Part, Reasoning, Role, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._cline import (
    MARKS,
    TURN,
    call_parts,
    directory_of,
    give,
    heard,
    is_export,
    spoken,
    summary_part,
)
from checkpoint.readers._cline_ui import put_ui
from checkpoint.readers._vscode import user_folders
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    changed,
    dict_of,
    list_of,
    load_json,
    load_text,
    records_of,
    text_of,
)

API, UI = "api_conversation_history.json", "ui_messages.json"


class Cline(WholeReader):
    """Reads Cline's tasks."""

    name = "cline"
    title = "Cline"
    folder = "saoudrizwan.claude-dev"
    """The extension's folder in the global storage."""

    def identify(self, head: Head) -> bool:
        return _whose(head) == self.name

    def build(self, path: Path, session: str, into: Assembler) -> None:
        if path.is_dir():
            path = path / (API if (path / API).is_file() else UI)
        start = Head.of(path).text
        if path.parent.name.isdigit() or path.name in (API, UI):
            into.head.id = path.parent.name
            into.head.started = at_of(path.parent.name)
        if start.lstrip()[:1] not in "[{":
            _export(load_text(path, into.problems), into)
            return
        found = load_json(path, into.problems)
        records = records_of(found if isinstance(found, list) else dict_of(found).get("messages"))
        if any("say" in one or "ask" in one for one in records):
            put_ui(records, into)
            return
        _History(into, _times(path.parent / UI)).put(records)

    def roots(self) -> list[Path]:
        found = [base / "globalStorage" / self.folder / "tasks" for base in user_folders()]
        if self.name == "cline":
            own = os.environ.get("CLINE_DIR")
            found.append((Path(own) if own else Path.home() / ".cline") / "data" / "tasks")
        return [one for one in found if one.is_dir()]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for task in root.glob("*"):
                path = task / (API if (task / API).is_file() else UI)
                if path.is_file():
                    yield self._found(task, path)

    def _found(self, task: Path, path: Path) -> Found:
        head = Head.of(path) if path.is_file() else Head(path)
        title = re.search(r"<task>\\n(.{1,120}?)(?:\\n|<)", head.text)
        started = at_of(task.name)
        return Found(
            self.name, path, task.name, directory_of(head.text), title.group(1) if title else "",
            started.timestamp() if started else 0.0, changed(path), None, "", False,
            len(head.start) < 10,
        )  # fmt: skip


class RooCode(Cline):
    """Reads Roo Code's tasks."""

    name = "roo-code"
    title = "Roo Code"
    folder = "rooveterinaryinc.roo-cline"


class KiloCode(Cline):
    """Reads Kilo Code's tasks; the newer command line of Kilo writes opencode's form."""

    name = "kilo-code"
    title = "Kilo Code"
    folder = "kilocode.kilo-code"


def _whose(head: Head) -> str:
    """Return which of the three readers a file belongs to, "" for none of them."""
    text = head.text
    if head.is_dir:
        if not (head.path / API).is_file() and not (head.path / UI).is_file():
            return ""
    elif not (_is_history(head) or is_export(text)):
        return ""
    folders = {part.lower() for part in head.path.parts}
    for reader in (KiloCode, RooCode, Cline):
        if reader.folder in folders:
            return reader.name
    if "Kilo Code" in text or "kilocode" in text:
        return "kilo-code"
    roo = ("# Current Workspace Directory (", "<slug>", "# Current Cost", "<update_todo_list>")
    return "roo-code" if any(mark in text for mark in roo) else "cline"


def _is_history(head: Head) -> bool:
    start = head.start.lstrip()
    if start[:1] != b"[":
        return False
    if head.has_key("ts") and (head.has_key("say") or head.has_key("ask")) and head.has_key("type"):
        return True
    return head.has_key("role") and head.has_key("content") and any(m in head.text for m in MARKS)


def _times(path: Path) -> dict[int, datetime]:
    """Return the times that the display's file gives for messages of the history, by number."""
    if not path.is_file():
        return {}
    found: dict[int, datetime] = {}
    for one in records_of(load_json(path, Problems())):
        number, at = one.get("conversationHistoryIndex"), at_of(one.get("ts"))
        if isinstance(number, int) and at:
            found.setdefault(number + 1, at)
    return found


def _export(text: str, into: Assembler) -> None:
    marks = list(TURN.finditer(text))
    history = _History(into, {})
    records: list[Record] = []
    for number, match in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = re.sub(r"\n---\s*\Z", "", text[match.end() : end])
        records.append({"role": match.group(1).lower(), "content": body.strip("\n")})
    history.put(records)


_CLOCK = re.compile(r"# Current Time\n(?:Current time in ISO 8601 UTC format: )?([^\n]+)")
_US = re.compile(r"(\d+)/(\d+)/(\d{4}), (\d+):(\d\d):(\d\d) ([AP])M \([^)]*UTC([+-]\d+):(\d\d)\)")


def _clock(text: str) -> datetime | None:
    """Return the time that an environment block tells."""
    stated = _CLOCK.search(text)
    if not stated:
        return None
    us = _US.search(stated.group(1))
    if not us:
        return at_of(stated.group(1).strip())
    month, day, year, hour, minute, second, half, zone, rest = us.groups()
    hours = int(hour) % 12 + (12 if half == "P" else 0)
    zone = f"{int(zone):+03d}:{rest}"
    return at_of(f"{year}-{int(month):02}-{int(day):02}T{hours:02}:{minute}:{second}{zone}")


_WORDS = ("<feedback>", "<answer>", "<user_message>", "<task>", "<environment_details>")


class _History:
    """Puts a history of the model's messages together."""

    def __init__(self, into: Assembler, times: dict[int, datetime]) -> None:
        self._into = into
        self._times = times
        self._open: list[ToolCall] = []
        self._made = 0
        self._said: set[str] = set()

    def put(self, records: list[Record]) -> None:
        """Put the messages, in order."""
        for number, record in enumerate(records):
            at = at_of(record.get("ts")) or self._times.get(number)
            role = record.get("role")
            if role == "assistant":
                self._assistant(record, at)
            elif role == "user":
                self._user(record, at)
            else:
                self._into.problems.add(f"unknown role {role!r}", f"message {number}", "note")
        for call in self._open:
            self._into.abandon(call.id)

    def _assistant(self, record: Record, at: datetime | None) -> None:
        parts: list[Part] = []
        content = record.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in records_of(blocks):
            kind = block.get("type")
            if kind == "text":
                parts.extend(spoken(text_of(block.get("text"))))
            elif kind in ("thinking", "reasoning"):
                words = text_of(block.get("thinking")) or text_of(block.get("text"))
                parts.extend([Reasoning(words)] if words.strip() else [])
            elif kind == "tool_use":
                name, number = text_of(block.get("name")), text_of(block.get("id"))
                parts.extend(call_parts(name, dict_of(block.get("input")), number))
            elif kind != "redacted_thinking":
                self._into.problems.add(f"unknown block {kind!r}", "assistant", "note")
        for call in self._open:
            self._into.abandon(call.id)
        self._open = [p for p in parts if isinstance(p, ToolCall) and not p.finished]
        for call in self._open:
            self._made += 1
            call.id = call.id or f"call-{self._made}"
        model = text_of(dict_of(record.get("modelInfo")).get("modelId"))
        self._into.head.model = model or self._into.head.model
        self._say("assistant", parts, "summary" if record.get("isSummary") else "agent", at, model)

    def _user(self, record: Record, at: datetime | None) -> None:
        texts: list[str] = []
        parts: list[Part] = []
        content = record.get("content")
        for block in records_of(content) if isinstance(content, list) else []:
            kind = block.get("type")
            if kind == "text":
                texts.append(text_of(block.get("text")))
            elif kind == "tool_result":
                self._native(block, texts)
            elif kind in ("image", "document"):
                media = text_of(dict_of(block.get("source")).get("media_type"))
                parts.append(Attachment("", media))
            else:
                self._into.problems.add(f"unknown block {kind!r}", "user", "note")
        text = content if isinstance(content, str) else "\n".join(texts)
        at = at or _clock(text)
        self._into.head.cwd = self._into.head.cwd or directory_of(text)
        said = heard(text)
        for tool, output in said.results:
            self._give(tool, output, said.aside)
        if said.aside and not said.results and self._open:
            self._give(self._open[0].tool, "", said.aside)
        for part in said.parts:
            if isinstance(part, Text) and not part.injected:
                if part.text in self._said and len(said.parts) > 1 and "[TASK RESUMPTION]" in text:
                    part.injected = True  # the first request, repeated when a task is taken up
                self._said.add(part.text)
        parts[:0] = said.parts
        origin: Origin = "person" if said.person or not text.strip() else "injected"
        if not said.person and said.parts and isinstance(content, str) and not said.results:
            origin = self._plain(text, parts)
        if record.get("isSummary"):
            parts, origin = [summary_part(), Text(text)], "summary"
        if parts or not (text.strip() or content):
            self._say("user", parts, origin, at, "")

    def _plain(self, text: str, parts: list[Part]) -> Origin:
        """Take a text without any wrapper as the person's, unless it is the program's."""
        program = ("[TASK RESUMPTION]", "[ERROR]", "<environment_details>", "<error>", "# ")
        if text.lstrip().startswith(program) or "<environment_details>" in text:
            return "injected"
        parts[:] = [Text(text)]
        return "person"

    def _native(self, block: Record, texts: list[str]) -> None:
        """Take a native result; a person's words in it are looked for like in a text."""
        inner = block.get("content")
        output = (
            inner
            if isinstance(inner, str)
            else "\n".join(text_of(one.get("text")) for one in records_of(list_of(inner)))
        )
        call = self._into.call(text_of(block.get("tool_use_id")))
        if call is None:
            texts.append(output)
            return
        if not any(mark in output for mark in _WORDS):
            give(call, output, "", block.get("is_error") is True)
            self._close(call)
            return
        said = heard(f"[{call.tool}] Result:\n{output}")
        shown = said.results[0][1] if said.results else output
        if shown == output.strip("\n"):
            shown = output
        give(call, shown, said.aside, block.get("is_error") is True)
        self._close(call)
        texts.extend(
            f"<user_message>\n{p.text}\n</user_message>"
            for p in said.parts
            if isinstance(p, Text) and not p.injected
        )

    def _give(self, tool: str, output: str, aside: str) -> None:
        for call in self._open:
            if call.tool == tool:
                denied = "user denied this operation" in output[:300]
                give(call, output, aside if denied or call.tool == tool else "")
                self._close(call)
                return
        self._into.problems.add("a result without its call", tool, "note")

    def _close(self, call: ToolCall) -> None:
        self._into.close(call.id)
        self._open = [one for one in self._open if one is not call]

    def _say(
        self, role: Role, parts: list[Part], origin: Origin, at: datetime | None, model: str
    ) -> None:
        cwd = self._into.head.cwd
        self._into.message(role, parts, origin=origin, at=at, model=model, cwd=cwd)
