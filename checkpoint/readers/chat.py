"""Generic message lists: OpenAI chat and responses, Anthropic messages, ShareGPT; JSON and lines.

`{"messages": [...]}`, `{"conversations": [...]}`, a bare list, a message a line, or a
conversation a line. Results are messages of role `tool`, or blocks of a user message. Of several
conversations in one file all are read in order, or the one that is asked for by its number from 1
or its id; a line that repeats the messages of the line before (a log of requests) gives its new
ones only.

Not in the forms: the directory, the branch, the agent, whether a result is a failure, mostly the
times; nor who really wrote a user message, which is told by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Head, Problems
from checkpoint.readers._chat import ITEMS, ROLES, Conversation
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    decode,
    list_of,
    load_json,
    load_lines,
    records_of,
    text_of,
)

_LISTS = ("messages", "conversations", "conversation", "input")
"""Keys of an object that may hold the list; with `input`, `output` goes on with it."""

_BLOCKS = frozenset({
    "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "image_url",
    "input_text", "output_text", "input_image", "input_file", "refusal", "document", "file",
    "input_audio", "server_tool_use", "web_search_tool_result",
})  # fmt: skip

_OTHERS = frozenset({
    "sessionId", "sessionID", "uuid", "parentUuid", "parentId", "trajectory", "info",
    "payload", "projectHash", "requests", "trajectory_format", "instance_id", "threadID",
    "working_dir", "parts", "extra", "is_demo", "agentMode", "history",
})  # fmt: skip
"""Keys that agents' own forms have beside the message list, or in their messages."""

_CLINE = b"<environment_details>"
"""What Cline and its forks put into each user message of their own lists."""

_PEEK = 65_536
_LIST_KEY = re.compile(rb'"(?:messages|conversations|conversation|input)"\s*:\s*\[')
_ROLE_KEY = re.compile(rb'"(?:role|from|type)"\s*:\s*"')


class Chat(WholeReader):
    """Reads lists of chat messages that no agent's own form claims."""

    name = "chat"
    title = "Message lists (OpenAI, Anthropic, ShareGPT)"

    def identify(self, head: Head) -> bool:
        if head.is_dir or head.is_sqlite() or _CLINE in head.start:
            return False
        start = head.start.lstrip()
        if start[:1] not in (b"[", b"{") or not _ROLE_KEY.search(start):
            return False
        if start[:1] == b"{" and len(head.records) > 1:
            return _are_lines(head.records)
        if start[:1] == b"{" and not _LIST_KEY.search(start):
            return len(head.records) == 1 and head.whole and _are_messages(head.records)
        piece = start if head.whole else start[:_PEEK]
        return _is_list(decode(piece, head.path.name, Problems()), head)

    def build(self, path: Path, session: str, into: Assembler) -> None:
        into.head.id = path.stem.partition(".")[0]
        given = list(_conversations(path, into.problems))
        if session and session != into.head.id:
            given = [
                one
                for number, one in enumerate(given, 1)
                if session in (str(number), text_of(one.get("id")))
            ]
            if not given:
                raise ReadError(f"{path}: it holds no conversation {session!r}")
        before: list[Record] = []
        conversation = Conversation(into)
        for number, one in enumerate(given, 1):
            if len(given) == 1:
                into.head.id = text_of(one.get("id")) or into.head.id
            into.head.title = into.head.title or text_of(one.get("title"))
            into.head.model = text_of(one.get("model")) or into.head.model
            messages = _messages_of(one)
            same = len(before) if before and messages[: len(before)] == before else 0
            for place, message in enumerate(messages[same:], same + 1):
                conversation.add(message, f"conversation {number}, message {place}")
            before = messages
        models = [m.model for m in into.held() if m.model]
        into.head.model = models[-1] if models else into.head.model


def _conversations(path: Path, problems: Problems) -> Iterator[Record]:
    """Yield the conversations of a file as objects with a message list; a bare list is one."""
    head = Head.of(path)
    if head.start.lstrip()[:1] == b"{" and _is_line_file(head):
        loose: list[Record] = []
        for _where, record in load_lines(path, problems):
            if _list_in(record) is None:
                loose.append(record)
            else:
                yield record
        if loose:
            yield {"messages": loose}
        return
    value = load_json(path, problems)
    if isinstance(value, dict):
        yield value
    else:
        found = records_of(value)
        nested = [one for one in found if _list_in(one) is not None]
        yield from nested if nested and len(nested) == len(found) else [{"messages": found}]


def _is_line_file(head: Head) -> bool:
    """Whether the file has a record a line; one line alone is one, if it is no list's object."""
    return len(head.records) > 1 or (len(head.records) == 1 and _list_in(head.records[0]) is None)


def _list_in(record: Record) -> list[Any] | None:
    for key in _LISTS:
        if isinstance(record.get(key), list):
            return list_of(record[key])
    return None


def _messages_of(one: Record) -> list[Record]:
    """Return a conversation's messages, its system prompt first."""
    found = records_of(_list_in(one))
    if "input" in one:
        found += records_of(one.get("output"))
    system = one.get("system") or one.get("instructions")
    if system and isinstance(system, str | list):
        return [{"role": "system", "content": system}, *found]
    return found


def _is_list(value: Any, head: Head) -> bool:
    """Whether a decoded start of a file is such a list; its last message may be cut off."""
    if isinstance(value, dict):
        if _OTHERS & value.keys():
            return False
        if text_of(value.get("id")).startswith("T-"):  # a thread of Amp
            return False
        return _are_messages(records_of(_list_in(value)), cut=not head.whole)
    found = records_of(value)
    if found and all(_list_in(one) is not None and not _OTHERS & one.keys() for one in found):
        return _are_messages([m for one in found for m in records_of(_list_in(one))][:20])
    if len(found) != len(list_of(value)):
        return False
    return _are_messages(found, cut=not head.whole)


def _are_lines(records: list[Record]) -> bool:
    lists = [_list_in(one) for one in records]
    if all(one is not None for one in lists):
        return not any(_OTHERS & one.keys() for one in records) and _are_messages(
            records_of(lists[0])
        )
    return _are_messages(records)


def _are_messages(records: list[Record], *, cut: bool = False) -> bool:
    """Whether all records are messages, one of them somebody's words."""
    if not records:
        return False
    whole = records[:-1] if cut and len(records) > 1 else records
    bare = cut and len(records) == 1
    return all(_is_message(one, bare=bare) for one in whole) and any(
        "role" in one or "from" in one for one in whole
    )


def _is_message(record: Record, *, bare: bool = False) -> bool:
    if _OTHERS & record.keys():
        return False
    role = record.get("role") or record.get("from")
    if not isinstance(role, str):
        return record.get("type") in ITEMS
    if role.lower() not in ROLES or "ts" in record:
        return False
    content = record.get("content", record.get("value", record.get("text")))
    if content is None:
        return bare or bool({"content", "tool_calls", "function_call"} & record.keys())
    if isinstance(content, str):
        return True
    blocks = [content] if isinstance(content, dict) else list_of(content)
    return all(isinstance(one, dict) and text_of(one.get("type")) in _BLOCKS for one in blocks)
