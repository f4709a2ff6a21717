"""Codex: response items into messages: whose answer they belong to, calls and their outputs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from checkpoint.model import Compaction, Message, Origin, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._codex_calls import call_of, give_result, plan_beside
from checkpoint.readers._codex_kinds import SILENT_ITEMS
from checkpoint.readers._codex_origin import (
    SUMMARY_END,
    SUMMARY_START,
    plain_text,
    shell_command,
    user_parts,
)
from checkpoint.readers._codex_outputs import Output, unwrap
from checkpoint.readers._jsonl import Record, Session
from checkpoint.readers._whole import dict_of, records_of, text_of

NEXT_S = 5.0
"""What the model sends of one answer comes within this time."""


class Items(Session):
    """Takes what the model saw and sent."""

    def __init__(self, path: Path, into: Assembler) -> None:
        super().__init__(path, into)
        known = into.carry
        self.head.title = known.get("title", "")
        self.head.model = known.get("model", "")
        self.head.version = known.get("version", self.head.version)
        self.head.branch = known.get("branch", self.head.branch)
        self._cwd: str = known.get("cwd", self.head.cwd)
        self._subagent: str = known.get("subagent", "")
        self._items: bool = known.get("items", False)
        self._join = ""
        self._reasons = False
        self._last_s = 0.0
        self._asked: tuple[Message, str] | None = None
        """The last user message, until an event says that a person typed it."""
        self._event: Record = {}

    def _item(self, item: Record, record: Record) -> None:
        if not self._items:
            self._items = True
            self.carry(items=True)
        kind = text_of(item.get("type"))
        if kind == "message":
            self._message_item(item, record)
        elif kind == "reasoning":
            words = reasoning_of(item)
            if words:
                self._add(record, Reasoning(self.text(words)))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._call(item, record)
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            self._output(item)
        elif kind == "web_search_call":
            self._add(record, search_call(item))
        elif kind not in SILENT_ITEMS:
            self.problem(f"unknown item {kind[:60]!r}")

    def _message_item(self, item: Record, record: Record) -> None:
        role, content = item.get("role"), item.get("content")
        number = text_of(item.get("id"))
        if role == "assistant":
            text = plain_text(content)
            if text.strip():
                self._add(record, Text(self.text(text)), number)
                self.carry(said=_digest(text))
        elif role == "user":
            self._user(record, content, number)
        else:
            text = plain_text(content)
            parts: list[Part] = [Text(self.text(text), injected=True)] if text.strip() else []
            self._new(record, "system", parts, "injected", number)

    def _user(self, record: Record, content: Any, number: str) -> None:
        ran = shell_command(content)
        if ran:
            call = ToolCall("!", "shell", ran[0].strip())
            give_result(call, unwrap(self.text(ran[1])))
            self._new(record, "user", [call], "person", number)
            return
        parts = user_parts(content)
        for part in parts:
            if isinstance(part, Text):
                part.text = self.text(part.text)
        own = [part for part in parts if not (isinstance(part, Text) and part.injected)]
        summary = any(isinstance(p, Text) and p.text.startswith(SUMMARY_START) for p in parts)
        origin: Origin = "summary" if summary else "person" if own or not parts else "injected"
        message = self._new(record, "user", parts, origin, number)
        if message.origin == "person":
            self._asked = (message, plain_text(content))

    def _new(
        self, record: Record, role: Any, parts: list[Part], origin: Origin, number: str = "",
        join: str = "",
    ) -> Message:  # fmt: skip
        """Begin a message, or add to the one begun with the same `join`."""
        self._confirm_asked()
        if not join:
            self._join = ""
        if self._subagent and origin == "person":
            origin = "agent"
        if origin == "person" and not self.head.title:
            self._title(parts)
        return self.into.message(
            role, parts, origin=origin, id=number, join=join, at=self.at(record),
            model=self.head.model if role == "assistant" else "", cwd=self._cwd,
            branch=self.head.branch, subagent=self._subagent,
        )  # fmt: skip

    def _confirm_asked(self) -> None:
        """Take a text for a program's that no event calls typed, in a session that has events."""
        if self._asked and self.into.carry.get("events"):
            self._asked[0].origin = "injected"
        self._asked = None

    def _title(self, parts: list[Part]) -> None:
        words = next((p.text for p in parts if isinstance(p, Text) and not p.injected), "")
        if words.strip():
            self.head.title = words.strip().split("\n")[0][:200]
            self.carry(title=self.head.title)

    def _add(self, record: Record, part: Part, number: str = "") -> None:
        """Add what the model sent to its answer, or begin the next one."""
        at = self.at(record)
        now = at.timestamp() if at else self._last_s
        begun = not self._join or (isinstance(part, Text | Reasoning) and not self._reasons)
        late = now - self._last_s >= NEXT_S and not self._reasons
        if begun or late:
            self._join = f"answer at {self.offset}"
            self._reasons = True
        self._last_s = now
        self._reasons = self._reasons and isinstance(part, Reasoning)
        self._new(record, "assistant", [part], "agent", number, self._join)

    def _call(self, item: Record, record: Record) -> None:
        call = call_of(item)
        running = self.into.carry.get("running")
        session = _session_of(call)
        if running and session in running and not call.target:
            call.category, call.target = "shell", running[session]
        self._add(record, call)
        if plan := plan_beside(call):
            self._add(record, plan)

    def _output(self, item: Record) -> None:
        self._join = ""
        number = text_of(item.get("call_id"))
        call = self.into.call(number)
        if call is None:
            if not self.into.knows(number):
                self.problem("a tool result without its call")
                return
            call = ToolCall("")  # made before the cursor
        output = unwrap(item.get("output"))
        output.text = self.text(output.text)
        give_result(call, output)
        self.into.close(number)
        self._goes_on(call, output)

    def _goes_on(self, call: ToolCall, output: Output) -> None:
        """Remember which command goes on in which session, for the calls that ask for its end."""
        session = _session_of(call)
        if not (output.running or session):
            return
        running = dict(self.into.carry.get("running", {}))
        command = running.pop(session, "") or (call.target if call.category == "shell" else "")
        if output.running and command:
            running[output.running] = command[:2000]
            while len(running) > 32:
                running.pop(next(iter(running)))
        self.carry(running=running)

    # Compactions

    def _compacted(self, about: Record, record: Record) -> None:
        text = text_of(about.get("message"))
        summary = text.partition(SUMMARY_END)[2] or text
        if summary.strip() and _digest(summary) == self.into.carry.get("said"):
            text = ""  # it stands before, as an answer
            last = self.into.last()
            if last and _digest(last.said()) == self.into.carry.get("said"):
                last.origin = "summary"
        self._new(record, "system", [Compaction()], "injected")
        if text.strip():
            self._new(record, "assistant", [Text(self.text(text))], "summary")


def _session_of(call: ToolCall) -> str:
    """Return the running session or cell that a call asks for, "" if it does not."""
    if call.category == "shell" and call.tool not in ("write_stdin", "wait"):
        return ""
    return str(call.input.get("session_id") or call.input.get("cell_id") or "")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()


def reasoning_of(item: Record) -> str:
    """Return the readable words of a `reasoning` item."""
    words = [text_of(one.get("text")) for one in records_of(item.get("summary"))]
    words += [text_of(one.get("text")) for one in records_of(item.get("content"))]
    return "\n\n".join(filter(None, words))


def search_call(item: Record) -> ToolCall:
    """Return the call of a `web_search_call` item or of its event."""
    action = dict_of(item.get("action"))
    target = action.get("query") or action.get("url") or action.get("pattern") or item.get("query")
    call = ToolCall("web_search", "fetch", text_of(target), id=text_of(item.get("call_id")))
    call.input = action
    return call
