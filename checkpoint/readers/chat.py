"""Generic message lists: OpenAI chat and responses, Anthropic messages, ShareGPT; JSON and lines.

`{"messages": [...]}`, a bare list, a message a line, or a conversation a line. Results are messages
of role `tool`, or blocks of a user message. These forms hold no times, directory, branch or agent,
and no mark of who really wrote a user message: what many programs write is told by its words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from checkpoint.model import Compaction, Part, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Head
from checkpoint.readers._blocks import content_text, give_all, take
from checkpoint.readers._calls import category_of, close_call, make_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    list_of,
    load_json,
    load_lines,
    records_of,
    text_of,
)

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant",
          "ai": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant",
          "system": "system", "developer": "system", "tool": "tool", "function": "tool",
          "observation": "tool", "function_call": "assistant"}  # fmt: skip
_INTERRUPTED = re.compile(r"^\s*\[Request (?:interrupted|cancelled)[^\]]*\]\s*$", re.IGNORECASE)
_NUDGE = re.compile(
    r"^\s*(?:Continue if you have next steps|This session is being continued from a previous|"
    r"Please continue the conversation from where we left)"
)
_WRAPPER = re.compile(
    r"^\s*<(conversation_data|user_query|task|feedback|user_message|query|request)>(.*)</\1>\s*$",
    re.DOTALL,
)
_FAILED = re.compile(
    r"^\s*(?:Error:|error:|<tool_use_error>|Traceback \(most recent|Exit code:? [1-9]|"
    r"Command failed|Process exited with code [1-9])"
)
_EXIT = re.compile(r"(?:exit(?:ed with)?(?: code| status)?|return code)[: ]+(\d+)", re.IGNORECASE)
_OTHERS = (
    "sessionId", "uuid", "parentUuid", "trajectory", "info", "payload", "kind", "sessionID",
    "projectHash", "requests", "trajectory_format", "instance_id",
)  # fmt: skip


class Chat(WholeReader):
    """Reads lists of chat messages that no agent's own form claims."""

    name = "chat"
    title = "Message lists (OpenAI, Anthropic, ShareGPT)"

    def identify(self, head: Head) -> bool:
        if head.is_dir or head.is_sqlite():
            return False
        start = head.start.lstrip()[:1]
        if start == b"[":
            return _list_start(head)
        if start != b"{":
            return False
        if len(head.records) > 1:
            return _lines(head.records)
        return _object_start(head)

    def build(self, path: Path, session: str, into: Assembler) -> None:
        into.head.id = path.stem if path.stem != "session" else ""
        for message in _messages(path, into):
            _add(message, into)


_BLOCKS = frozenset({"text", "tool_use", "tool_result", "thinking", "image", "image_url", "input_text",
                     "output_text", "refusal", "document", "redacted_thinking"})  # fmt: skip


def _is_message(record: Record) -> bool:
    role = record.get("role") or record.get("from")
    if not isinstance(role, str) or role.lower() not in _ROLES:
        return (
            record.get("type") in ("function_call", "function_call_output") and "call_id" in record
        )
    if any(key in record for key in _OTHERS) or "ts" in record or "parts" in record:
        return False
    content = record.get("content", record.get("value"))
    if content is None:
        return "tool_calls" in record or "function_call" in record
    if isinstance(content, str):
        return True
    blocks = records_of(content)
    return len(blocks) == len(list_of(content)) and all(
        text_of(one.get("type")) in _BLOCKS for one in blocks
    )


def _lines(records: list[Record]) -> bool:
    first = records[0]
    if isinstance(first.get("messages"), list) or isinstance(first.get("conversations"), list):
        return _keys_allow(first) and all(
            isinstance(one.get("messages") or one.get("conversations"), list) for one in records
        )
    known = [one for one in records if "role" in one or "from" in one or one.get("type")]
    return len(known) == len(records) and all(_is_message(one) for one in records)


def _keys_allow(record: Record) -> bool:
    return not any(
        key in record for key in ("trajectory", "info", "sessionId", "projectHash", "requests")
    )


_ROLE_START = re.compile(
    rb'^\s*\[?\s*\{(?:\s*"[\w-]+"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|[\d.]+|null|true|false)\s*,)*?\s*"(?:role|from)"\s*:\s*"'
    rb"(user|human|assistant|gpt|system|developer|tool)\"",
)


def _list_start(head: Head) -> bool:
    if head.has_key("ts") or head.has_key("parts") or b"<environment_details>" in head.start:
        return False
    start = head.start.lstrip()
    if head.whole:
        from checkpoint.readers._base import Problems
        from checkpoint.readers._whole import decode

        value = decode(start, head.path.name, Problems())
        found = records_of(value)
        return bool(found) and all(_is_message(one) for one in found)
    return _ROLE_START.match(start[1:]) is not None


_KEY_START = re.compile(rb'^\{.{0,2000}?"(messages|conversations)"\s*:\s*(\[.*)', re.DOTALL)


def _object_start(head: Head) -> bool:
    match = _KEY_START.match(head.start.lstrip())
    if match is None:
        return False
    before = head.start.lstrip()[: match.start(1)]
    if any(b'"%s"' % key.encode() in before for key in (*_OTHERS, "working_dir", "threadID")):
        return False
    if b'"T-' in before:  # the id of a thread of Amp
        return False
    if head.whole:
        for key in _OTHERS:
            if any(key in record for record in head.records):
                return False
    return _ROLE_START.match(match.group(2)[1:].lstrip()) is not None


def _messages(path: Path, into: Assembler) -> list[Record]:
    head = Head.of(path)
    if head.start.lstrip()[:1] == b"{" and len(head.records) > 1:
        found: list[Record] = []
        for _, record in load_lines(path, into.problems):
            inner = record.get("messages") or record.get("conversations")
            found += records_of(inner) if isinstance(inner, list) else [record]
        return found
    value = load_json(path, into.problems)
    if isinstance(value, dict):
        into.head.id = text_of(value.get("id")) or into.head.id
        into.head.title = text_of(value.get("title"))
        into.head.model = text_of(value.get("model"))
        return records_of(value.get("messages") or value.get("conversations"))
    return records_of(value)


def _add(record: Record, into: Assembler) -> None:
    kind = text_of(record.get("type"))
    if kind == "function_call":
        call = make_call(
            text_of(record.get("name")), record.get("arguments"), id=text_of(record.get("call_id"))
        )
        into.message("assistant", [call], origin="agent")
        return
    if kind == "function_call_output":
        _result(text_of(record.get("call_id")), content_text(record.get("output")), into)
        return
    given = text_of(record.get("role") or record.get("from")).lower()
    role = _ROLES.get(given)
    if role is None:
        into.problems.add(f"unknown role {given!r}", f"message {into.head.id}", "note")
        return
    content = record.get("content", record.get("value"))
    at = at_of(record.get("timestamp") or record.get("created_at") or record.get("time"))
    if role == "tool":
        _result(text_of(record.get("tool_call_id")), content_text(content), into)
        return
    parts, results = take(content, into)
    give_all(results, into)
    for result in results:
        if (call := into.call(result.call)) is not None:
            into.close(call.id)
    if role == "user":
        if results and not parts:
            return
        _user(parts, into, at)
    elif role == "system":
        into.message("system", _injected(parts), origin="injected", at=at)
    else:
        for one in records_of(record.get("tool_calls")):
            function = dict_of(one.get("function")) or one
            parts.append(
                make_call(
                    text_of(function.get("name")),
                    function.get("arguments"),
                    id=text_of(one.get("id")),
                )
            )
        old = dict_of(record.get("function_call"))
        if old:
            parts.append(
                make_call(text_of(old.get("name")), old.get("arguments"), id="function_call")
            )
        summary = record.get("summary") is True
        into.message("assistant", parts, origin="summary" if summary else "agent", at=at,
                     model=text_of(record.get("model")))  # fmt: skip


def _injected(parts: list[Part]) -> list[Part]:
    return [Text(p.text, injected=True) if isinstance(p, Text) else p for p in parts]


def _user(parts: list[Part], into: Assembler, at: Any) -> None:
    made: list[Part] = []
    for part in parts:
        if not isinstance(part, Text):
            made.append(part)
            continue
        text = part.text
        wrapped = _WRAPPER.match(text)
        if wrapped:
            text = wrapped.group(2).strip()
        if _INTERRUPTED.match(text) or _NUDGE.match(text):
            made.append(Text(text, injected=True))
        elif text.strip():
            made += split_injected(text)
    words = [p for p in made if isinstance(p, Text)]
    injected = bool(words) and all(p.injected for p in words)
    compacted = any(isinstance(p, Compaction) for p in made)
    into.message("user", made, origin="injected" if injected or compacted else "person", at=at)


def _result(call_id: str, output: str, into: Assembler) -> None:
    call = into.call(call_id) or into.call("function_call")
    if call is None:
        last = into.last()
        waiting = [c for c in last.calls() if not c.finished] if last else []
        call = waiting[0] if waiting and not call_id else None
    if call is None:
        into.problems.add("a result without its call", call_id or "a tool message", "note")
        return
    _finish(call, output)
    into.close(call.id)


def _finish(call: ToolCall, output: str) -> None:
    code = None
    if category_of(call.tool) == "shell":
        match = _EXIT.search(output[:200]) or _EXIT.search(output[-200:])
        code = int(match.group(1)) if match and int(match.group(1)) < 256 else None
    close_call(call, output, failed=bool(_FAILED.match(output)), exit_code=code)
    if call.failed:
        call.changes = ()
