"""Chat messages into ours: OpenAI chat and responses, Anthropic messages, ShareGPT, loose lines.

One builder for all of them: a record is told apart by its keys. Calls and results that carry no id
are paired in their order.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any

import msgspec

from checkpoint.model import Part, Reasoning, Role, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._blocks import content_text, take
from checkpoint.readers._chat_calls import give, listed_call
from checkpoint.readers._chat_words import is_summary, user_parts
from checkpoint.readers._whole import Record, at_of, dict_of, records_of, text_of

ROLES: dict[str, str] = {
    "user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant",
    "ai": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant",
    "system": "system", "developer": "system", "tool": "tool", "function": "tool",
    "observation": "tool", "function_response": "tool", "tool_response": "tool",
    "function_call": "call", "tool_call": "call",
}  # fmt: skip
"""What the roles of the forms are called, in lower case."""

ITEMS = frozenset({
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "local_shell_call_output", "reasoning", "web_search_call",
    "file_search_call", "computer_call", "computer_call_output", "code_interpreter_call",
    "item_reference", "mcp_call", "mcp_list_tools", "image_generation_call", "compaction",
})  # fmt: skip
"""Items of the Responses API that are no messages."""

_TIMES = ("timestamp", "created_at", "createdAt", "create_time", "time", "created", "ts")
_THINK = re.compile(r"\A\s*<(think|thinking)>(.*?)</\1>\s*", re.DOTALL)
_HERMES = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


class Conversation:
    """Puts the records of one list into an assembler, in order."""

    def __init__(self, into: Assembler) -> None:
        self._into = into
        self._waiting: deque[ToolCall] = deque(maxlen=64)
        self._calls = 0
        self._empty = False
        """The message before was a user's without words: a summary may follow."""

    def add(self, record: Record, where: str) -> None:
        """Add one record; what is no message is a problem."""
        kind = text_of(record.get("type"))
        given = text_of(record.get("role") or record.get("from")).lower()
        role = ROLES.get(given)
        if not given and kind in ITEMS:
            self._item(kind, record)
        elif role is None:
            self._into.problems.add(f"unknown role {given!r}"[:60], where, "note")
        elif role == "tool":
            self._result(record)
        elif role == "call":
            self._say(
                "assistant", [self._named(record.get("value", record.get("content")))], record
            )
        else:
            self._message(role, record)

    def _message(self, role: str, record: Record) -> None:
        content = record.get("content", record.get("value", record.get("text")))
        if isinstance(content, dict):
            content = [content]
        parts, results = take(content, self._into)
        for result in results:
            self._give(result.call, "", result.output, failed=result.failed)
        if role == "user":
            if parts or not results:
                self._user(parts, record)
            return
        if role == "system":
            words = [Text(p.text, injected=True) if isinstance(p, Text) else p for p in parts]
            self._into.message("system", words, origin="injected", at=_at(record))
            return
        if parts or not results or record.get("tool_calls"):
            self._say("assistant", [*_thoughts(record), *self._spoken(parts)], record)

    def _user(self, parts: list[Part], record: Record) -> None:
        made, origin = user_parts(parts)
        self._empty = not made
        ident = text_of(record.get("id"))
        self._into.message("user", made, origin=origin, id=ident, at=_at(record))

    def _spoken(self, parts: list[Part]) -> list[Part]:
        """Return an assistant's parts: thoughts and calls written into the text taken apart."""
        made: list[Part] = []
        for part in parts:
            if isinstance(part, ToolCall):
                made.append(self._watched(listed_call(part.tool, part.input, part.id)))
            elif isinstance(part, Text) and "<t" in part.text:
                made += self._written(part.text)
            else:
                made.append(part)
        return made

    def _written(self, text: str) -> list[Part]:
        made: list[Part] = []
        if thought := _THINK.match(text):
            made.append(Reasoning(thought.group(2).strip()))
            text = text[thought.end() :]
        calls = [self._named(match.group(1)) for match in _HERMES.finditer(text)]
        rest = _HERMES.sub("", text).strip() if calls else text
        return [*made, *([Text(rest)] if rest.strip() else []), *calls]

    def _say(self, role: Role, parts: list[Part], record: Record) -> None:
        for one in records_of(record.get("tool_calls")):
            function = dict_of(one.get("function")) or dict_of(one.get("custom")) or one
            given = function.get("arguments", function.get("input", function.get("args")))
            name = text_of(function.get("name"))
            parts.append(self._watched(listed_call(name, given, text_of(one.get("id")))))
        if old := dict_of(record.get("function_call")):
            call = listed_call(text_of(old.get("name")), old.get("arguments"), "")
            parts.append(self._watched(call))
        words = "\n".join(part.text for part in parts if isinstance(part, Text))
        summary = record.get("summary") is True or (self._empty and is_summary(words))
        self._empty = False
        self._into.message(
            role,
            parts,
            origin="summary" if summary else "agent",
            id=text_of(record.get("id")),
            at=_at(record),
            model=text_of(record.get("model")),
        )

    def _named(self, given: Any) -> ToolCall:
        """Return the call of an object `{name, arguments}`, given as JSON text or decoded."""
        value = given
        if isinstance(given, str):
            try:
                value = msgspec.json.decode(given)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                value = {"arguments": given}
        fields = dict_of(value)
        arguments = fields.get("arguments", fields.get("parameters"))
        return self._watched(listed_call(text_of(fields.get("name")), arguments, ""))

    def _watched(self, call: ToolCall) -> ToolCall:
        self._calls += 1
        call.id = call.id or f"call-{self._calls}"
        self._waiting.append(call)
        return call

    def _item(self, kind: str, record: Record) -> None:
        number = text_of(record.get("call_id")) or text_of(record.get("id"))
        if kind.endswith("_output"):
            self._give(number, "", content_text(record.get("output")))
        elif kind == "reasoning":
            thought = content_text(record.get("summary")) or content_text(record.get("content"))
            if thought.strip():
                self._say("assistant", [Reasoning(thought)], record)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "mcp_call"):
            given = record.get("arguments", record.get("input", record.get("action")))
            name = text_of(record.get("name")) or kind.removesuffix("_call")
            call = self._watched(listed_call(name, given, number))
            self._say("assistant", [call], {})
            if kind == "mcp_call" and isinstance(record.get("output"), str):
                self._give(number, "", record["output"], failed=bool(record.get("error")))
        elif kind == "web_search_call":
            call = listed_call("web_search", record.get("action"), number)
            call.finished = True
            self._say("assistant", [call], {})

    def _result(self, record: Record) -> None:
        number = text_of(record.get("tool_call_id") or record.get("tool_use_id"))
        name = text_of(record.get("name"))
        text = content_text(record.get("content", record.get("value")))
        failed = record.get("is_error") is True or record.get("status") == "error"
        several = _RESPONSE.findall(text) if "<tool_response>" in text else []
        for output in several or [text]:
            self._give(number, name, output, failed=failed)

    def _give(self, number: str, name: str, output: str, *, failed: bool = False) -> None:
        call = self._wanted(number, name)
        if call is None:
            self._into.problems.add("a result without its call", number or "a result", "note")
            return
        self._waiting.remove(call)
        give(call, output, failed=failed)
        self._into.close(call.id)

    def _wanted(self, number: str, name: str) -> ToolCall | None:
        if number:
            return next((one for one in self._waiting if one.id == number), None)
        named = [one for one in self._waiting if one.tool == name] if name else []
        return next(iter(named or self._waiting), None)


def _at(record: Record) -> Any:
    for key in _TIMES:
        if key in record:
            return at_of(record[key])
    return None


def _thoughts(record: Record) -> list[Part]:
    for key in ("reasoning_content", "reasoning", "thinking"):
        thought = record.get(key)
        if isinstance(thought, str) and thought.strip():
            return [Reasoning(thought)]
    return []
