"""Qwen Code: `~/.qwen/projects/<slug>/chats/<id>.jsonl`, one record a line.

Only `real_user` provenance is a person. Subagents have files of their own, under `subagents/`, and
are read as sessions whose messages all carry the subagent's name. Older versions write Gemini CLI's
form under `~/.qwen/tmp`, which that reader takes.

Records form a tree by `parentUuid`; those that a rewind left behind are kept, since the last record
does not tell where it was (versions seen: 0.24). Seen by running Qwen Code 0.24.4.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Compaction, Origin, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._calls import make_call
from checkpoint.readers._google import TABLE, attachment, give_result, person_parts, response_text
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    list_of,
    load_lines,
    records_of,
    text_of,
)

_BOOKKEEPING = frozenset(
    {"ui_telemetry", "attribution_snapshot", "slash_command", "at_command", "file_history_snapshot"}
)


class QwenCode(WholeReader):
    """Reads what Qwen Code stores of a session or of a subagent."""

    name = "qwen-code"
    title = "Qwen Code"

    def identify(self, head: Head) -> bool:
        return any(_is_qwen(record) for record in head.records[:20])

    def build(self, path: Path, session: str, into: Assembler) -> None:
        for where, record in load_lines(path, into.problems):
            _known(record, into)
            kind = text_of(record.get("type"))
            if kind == "user":
                _user(record, into)
            elif kind == "assistant":
                _assistant(record, into)
            elif kind == "tool_result":
                _results(record, into)
            elif kind == "system":
                _system(record, into, where)
            else:
                into.problems.add(f"unknown record type {kind!r}", where, "note")

    def roots(self) -> list[Path]:
        home = os.environ.get("QWEN_HOME")
        homes = [Path(home)] if home else []
        return [one / "projects" for one in (*homes, Path.home() / ".qwen")]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in (*root.glob("*/chats/*.jsonl"), *root.glob("*/subagents/*/*.jsonl")):
                try:
                    head = Head.of(path)
                    changed = path.stat().st_mtime
                except (OSError, ReadError):
                    continue
                yield _found(self.name, path, head, changed)


def _found(agent: str, path: Path, head: Head, changed: float) -> Found:
    first = next(iter(head.records), {})
    started = at_of(first.get("timestamp"))
    subagent = first.get("isSidechain") is True
    session = path.stem if subagent else text_of(first.get("sessionId"))
    return Found(
        agent, path, session or path.stem, text_of(first.get("cwd")), "",
        started.timestamp() if started else 0.0, changed, None,
        text_of(first.get("sessionId")) if subagent else "", subagent,
        not any(record.get("type") in ("user", "assistant") for record in head.records),
        text_of(first.get("gitBranch")),
    )  # fmt: skip


def _is_qwen(record: Record) -> bool:
    if not {"uuid", "parentUuid", "sessionId", "type"} <= record.keys():
        return False
    return "provenance" in record or isinstance(dict_of(record.get("message")).get("parts"), list)


def _known(record: Record, into: Assembler) -> None:
    """Learn about the session as a whole."""
    head = into.head
    head.id = head.id or text_of(record.get("sessionId"))
    if record.get("isSidechain") is True:
        head.parent = head.id
    head.cwd = head.cwd or text_of(record.get("cwd"))
    head.branch = text_of(record.get("gitBranch")) or head.branch
    head.version = text_of(record.get("version")) or head.version
    head.model = text_of(record.get("model")) or head.model
    head.started = head.started or at_of(record.get("timestamp"))


def _fields(record: Record) -> dict[str, Any]:
    return {
        "id": text_of(record.get("uuid")),
        "at": at_of(record.get("timestamp")),
        "cwd": text_of(record.get("cwd")),
        "branch": text_of(record.get("gitBranch")),
        "subagent": text_of(record.get("agentName")) if record.get("isSidechain") is True else "",
    }


def _user(record: Record, into: Assembler) -> None:
    parts = person_parts(dict_of(record.get("message")).get("parts"))
    own = not parts or any(not (isinstance(part, Text) and part.injected) for part in parts)
    provenance = record.get("provenance", "real_user")
    person = provenance == "real_user" and record.get("isSidechain") is not True and own
    origin: Origin = "person" if person and "subtype" not in record else "injected"
    if record.get("isSidechain") is True:
        origin = "agent"
    into.message("user", parts, origin=origin, **_fields(record))


def _assistant(record: Record, into: Assembler) -> None:
    parts: list[Part] = []
    for part in records_of(dict_of(record.get("message")).get("parts")):
        text = text_of(part.get("text"))
        asked = dict_of(part.get("functionCall"))
        if asked:
            name, number = text_of(asked.get("name")), text_of(asked.get("id"))
            parts.append(make_call(name, asked.get("args"), id=number, table=TABLE))
        elif text.strip():
            parts.append(Reasoning(text) if part.get("thought") else Text(text))
        elif attached := attachment(part):
            parts.append(attached)
    model = text_of(record.get("model"))
    into.message("assistant", parts, origin="agent", model=model, **_fields(record))


def _results(record: Record, into: Assembler) -> None:
    whole = dict_of(record.get("toolCallResult"))
    for part in list_of(dict_of(record.get("message")).get("parts")):
        answer = dict_of(dict_of(part).get("functionResponse"))
        number = text_of(answer.get("id")) or text_of(whole.get("callId"))
        call = into.call(number)
        if call is None:
            into.problems.add("a result without its call", number or "tool_result", "note")
            continue
        output, failed = response_text(part)
        give_result(call, output, failed, text_of(whole.get("status")))
        _display(call, dict_of(whole.get("resultDisplay")))
        into.close(number)


def _display(call: ToolCall, display: Record) -> None:
    """Take what the shown form of a result tells exactly."""
    code = display.get("exitCode")
    if isinstance(code, int):
        call.exit_code, call.failed = code, call.failed or code != 0
    call.cwd = text_of(display.get("directory")) or call.cwd
    call.truncated = display.get("truncated") is True
    if display.get("originalContent", "") is None:
        for change in call.changes:
            change.action = "created"


def _system(record: Record, into: Assembler, where: str) -> None:
    subtype = text_of(record.get("subtype"))
    payload = dict_of(record.get("systemPayload"))
    if subtype == "chat_compression":
        about = dict_of(payload.get("info"))
        before = about.get("originalTokenCount")
        trigger = about.get("triggerReason")
        parts: list[Part] = [
            Compaction(
                trigger if trigger in ("auto", "manual") else "unknown",
                before if isinstance(before, int) else None,
            )
        ]
        for one in records_of(payload.get("compressedHistory"))[:1]:
            parts.extend(
                Text(p.text) for p in person_parts(one.get("parts")) if isinstance(p, Text)
            )
        into.message("system", parts, origin="summary", **_fields(record))
    elif subtype == "custom_title":
        into.head.title = text_of(payload.get("customTitle")) or into.head.title
    elif subtype not in _BOOKKEEPING:
        into.problems.add(f"unknown system record {subtype!r}", where, "note")
