"""Claude Code: `~/.claude/projects/<slug>/<session id>.jsonl`, one record a line.

A model's answer is several records with one `message.id`, a block each; results come back as `user`
records. Subagents have files of their own (`agent-<id>.jsonl`; up to 1.0 their records stood in
the main file) and are read as messages that carry the subagent's id. Seen in 1.0.60 to 2.1.332.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from checkpoint.model import Compaction, Cursor, Message, Origin, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._claude_calls import (
    Tasks,
    background_id,
    call_of,
    give_result,
    of_background,
    result_text,
    saved_text,
    task_changes,
)
from checkpoint.readers._claude_find import find_sessions, project_folders
from checkpoint.readers._claude_kinds import ATTACHMENTS, BOOKKEEPING, SYSTEM
from checkpoint.readers._claude_origin import (
    attachment,
    bash_output,
    is_compacted,
    plain,
    plan_title,
    said,
)
from checkpoint.readers._claude_tree import plan
from checkpoint.readers._jsonl import JsonlReader, Plan, Record, Session, own_type
from checkpoint.readers._whole import at_of, dict_of, records_of, text_of


class ClaudeCode(JsonlReader):
    """Reads the file that Claude Code's hooks call `transcript_path`."""

    name = "claude-code"
    title = "Claude Code"

    def identify(self, head: Head) -> bool:
        if any(_is_message(record) for record in head.records[:200]):
            return True
        marks = (b'"isSidechain"', b'"parentUuid"', b'"userType"')
        return not head.whole and all(mark in head.start[:20_000] for mark in marks)

    def unread(self, line: bytes) -> bool:
        return own_type(line) in _UNREAD

    def begin(self, start: Head, into: Assembler) -> None:
        head = into.head
        for record in start.records:
            head.id = head.id or text_of(record.get("sessionId") or record.get("session_id"))
            head.cwd = head.cwd or text_of(record.get("cwd"))
            head.branch = head.branch or text_of(record.get("gitBranch"))
            head.started = head.started or at_of(record.get("timestamp"))
            fork = text_of(dict_of(record.get("forkedFrom")).get("sessionId"))
            head.parent = head.parent or fork
            if head.id and head.cwd and head.started and (fork or "uuid" in record):
                break
        stem = start.path.name.partition(".")[0]
        if stem.startswith("agent-") and head.id:
            head.parent, head.id = head.id, stem
        elif len(stem) == 36 and stem.count("-") == 4:
            head.id = stem

    def plan(self, path: Path, since: Cursor) -> Plan:
        return plan(path, since.offset)

    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        return _ClaudeSession(path, into)

    def roots(self) -> list[Path]:
        return project_folders()

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        return find_sessions(self.name, self.roots(), directory)


_UNREAD = frozenset(one.encode() for one in BOOKKEEPING)


def _is_message(record: Record) -> bool:
    if record.get("type") not in ("user", "assistant") or "payload" in record:
        return False
    message = record.get("message")
    if not isinstance(message, dict) or "content" not in message or "role" not in message:
        return False
    return ("sessionId" in record and ("uuid" in record or "parentUuid" in record)) or (
        "session_id" in record and "parent_tool_use_id" in record
    )


class _ClaudeSession(Session):
    """Takes Claude Code's records in the order of the file."""

    def __init__(self, path: Path, into: Assembler) -> None:
        super().__init__(path, into)
        known = into.carry
        self._saved = path.parent / path.name.partition(".")[0] / "tool-results"
        self.head.title = known.get("title", "")
        self.head.model = known.get("model", "")
        self.head.version = known.get("version", "")
        self.head.branch = known.get("branch", self.head.branch)

    def record(self, record: Record) -> None:
        kind = text_of(record.get("type"))
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind in BOOKKEEPING:
            return
        elif kind == "system":
            self._system(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "queue-operation":
            self._queue(record)
        elif kind in _TITLES:
            self._title(record, kind)
        else:
            self.problem(f"unknown record type {kind[:60]!r}")

    # What is known of the session as a whole

    def _known(self, record: Record, model: str = "") -> None:
        version = text_of(record.get("version"))
        branch = text_of(record.get("gitBranch"))
        head = self.head
        if (
            (version and version != head.version)
            or (branch and branch != head.branch)
            or (model and model != head.model)
        ):
            head.version = version or head.version
            head.branch = branch or head.branch
            head.model = model or head.model
            self.carry(version=head.version, branch=head.branch, model=head.model)

    def _title(self, record: Record, kind: str) -> None:
        rank, key = _TITLES[kind]
        title = text_of(record.get(key)).strip()
        self._titled(title, rank)

    def _titled(self, title: str, rank: int) -> None:
        if title and rank >= self.into.carry.get("rank", 0):
            self.head.title = title[:200]
            self.carry(title=title[:200], rank=rank)

    # Messages

    def _message(self, record: Record, role: Any, parts: list[Part], **more: Any) -> Message:
        at: datetime | None = self.at(record)
        side = record.get("isSidechain") is True or bool(record.get("parent_tool_use_id"))
        self._titles_itself(more.get("origin"), parts, side)
        return self.into.message(
            role, parts, at=at, cwd=text_of(record.get("cwd")),
            branch=text_of(record.get("gitBranch")),
            subagent=(text_of(record.get("agentId")) or "subagent") if side else "", **more,
        )  # fmt: skip

    def _titles_itself(self, origin: Any, parts: list[Part], side: bool) -> None:
        if origin == "person" and not side and not self.into.carry.get("rank"):
            words = next((p.text for p in parts if isinstance(p, Text) and not p.injected), "")
            if words.strip():
                self._titled(words.strip().split("\n")[0], 1)

    def _assistant(self, record: Record) -> None:
        message = dict_of(record.get("message"))
        model = text_of(message.get("model"))
        if model == "<synthetic>" or record.get("isApiErrorMessage"):
            self._synthetic(record, message)
            return
        self._known(record, model)
        number = text_of(message.get("id"))
        own = number or text_of(record.get("uuid"))
        blocks = _blocks(message.get("content"))
        parts = [part for part in map(self._part, blocks) if part is not None]
        if parts:
            self._message(
                record, "assistant", parts, origin=self._summary(parts) or "agent", id=own,
                join=number, model=model,
            )  # fmt: skip

    def _summary(self, parts: list[Part]) -> Origin | None:
        """Whether the answer is the summary that follows a compaction without boundary."""
        if not self.into.carry.get("summary_next"):
            return None
        self.carry(summary_next=False)
        return "summary" if all(isinstance(part, Text) for part in parts) else None

    def _synthetic(self, record: Record, message: Record) -> None:
        """Take what the program says in the model's place: an error, or that nothing came."""
        parts = plain(message.get("content"), injected=True)
        if record.get("isApiErrorMessage") and parts:
            self._message(
                record, "system", parts, origin="injected", id=text_of(record.get("uuid"))
            )

    def _part(self, block: Record) -> Part | None:
        kind = text_of(block.get("type"))
        if kind == "text":
            text = text_of(block.get("text"))
            return Text(self.text(text)) if text.strip() else None
        if kind == "thinking":
            text = text_of(block.get("thinking"))
            return Reasoning(self.text(text)) if text.strip() else None
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            return self._call(block)
        if kind in ("image", "document"):
            return attachment(block)
        if kind in ("web_search_tool_result", "web_fetch_tool_result", "mcp_tool_result"):
            self._result(block, None)
        elif kind not in ("redacted_thinking", "fallback", "container_upload"):
            self.problem(f"unknown block {kind[:60]!r} in a message")
        return None

    def _call(self, block: Record) -> ToolCall | None:
        call = call_of(block)
        last = self.into.last()
        if last and call.id and any(call.id == one.id for one in last.calls()):
            return None  # the same block once more
        if running := self.into.carry.get("background"):
            of_background(call, running)
        return call

    def _user(self, record: Record) -> None:
        self._known(record)
        content = dict_of(record.get("message")).get("content")
        blocks = content if isinstance(content, list) else ()
        results = [b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
        for block in results:
            self._result(block, record.get("toolUseResult") if len(results) == 1 else None)
        if results:
            content = [block for block in blocks if block not in results]
            if not content:
                return
        output = bash_output(content)
        if output is not None and self._ran(output):
            return
        self._say(record, content)

    def _say(self, record: Record, content: Any) -> None:
        origin, parts = said(record, content)
        if (plan := plan_title(record)) and not self.into.carry.get("rank"):
            self._titled(plan, 2)
        if not self.into.carry.get("cut") and is_compacted(parts):
            # Up to 1.0 no boundary was stored, and the summary as an answer.
            self._message(record, "system", [Compaction("manual")], origin="injected")
            self.carry(summary_next=True)
        for part in parts:
            if isinstance(part, Text):
                part.text = self.text(part.text)
        if record.get("isSidechain") is True:
            origin = "agent"
        if origin == "person" and self._told(parts):
            return
        self._message(record, "user", parts, origin=origin, id=text_of(record.get("uuid")))

    def _ran(self, output: str) -> bool:
        """Give a person's `!` command its output; False if there is no such command."""
        last = self.into.last()
        for call in last.calls() if last else ():
            if call.tool == "!" and not call.finished:
                call.output, call.finished = self.text(output), True
                return True
        return False

    def _result(self, block: Record, twin: Any) -> None:
        number = text_of(block.get("tool_use_id"))
        call = self.into.call(number)
        if call is None:
            if not self.into.knows(number):
                self.problem("a tool result without its call")
                return
            call = ToolCall("")  # made before the cursor
        text = self.text(saved_text(self._saved, number, result_text(block.get("content"))))
        give_result(call, block, twin, text)
        if call.category == "todo" and call.tool != "TodoWrite" and not call.failed:
            tasks: Tasks = {
                key: (one[0], one[1]) for key, one in self.into.carry.get("tasks", {}).items()
            }
            after = task_changes(call, twin, text, tasks)
            self.carry(tasks={key: list(one) for key, one in after.items()})
        if name := background_id(call, twin, text):
            running = {**self.into.carry.get("background", {}), name: [call.id, call.target]}
            self.carry(background=dict(list(running.items())[-32:]))
        self.into.close(number)

    def _system(self, record: Record) -> None:
        kind = text_of(record.get("subtype"))
        if kind == "compact_boundary":
            about = dict_of(record.get("compactMetadata"))
            trigger, tokens = about.get("trigger"), about.get("preTokens")
            cut = Compaction(
                trigger if trigger in ("auto", "manual") else "unknown",
                tokens if isinstance(tokens, int) else None,
            )
            self._message(
                record, "system", [cut], origin="injected", id=text_of(record.get("uuid"))
            )
        elif kind == "local_command":
            self._say({**record, "isMeta": True}, record.get("content"))
        elif kind not in SYSTEM:
            self.problem(f"unknown system record {kind[:60]!r}")

    def _attachment(self, record: Record) -> None:
        about = dict_of(record.get("attachment"))
        kind = text_of(about.get("type"))
        if kind == "queued_command":
            person = about.get("commandMode", "prompt") == "prompt"
            kept = {**record, "isMeta": not person, "origin": about.get("origin")}
            self._say(kept, about.get("prompt"))
        elif kind not in ATTACHMENTS:
            self.problem(f"unknown attachment {kind[:60]!r}")

    # The input queue: what was typed while the agent worked

    def _queue(self, record: Record) -> None:
        waiting: list[str] = list(self.into.carry.get("queue", ()))
        doing = record.get("operation")
        words = text_of(record.get("content"))
        if doing == "enqueue":
            self.carry(queue=[*waiting, words])
            return
        if doing == "popAll":
            self.carry(queue=[])
            return
        at = waiting.index(words) if words in waiting else 0
        gone = waiting.pop(at) if waiting else words
        self.carry(queue=waiting)
        if doing == "remove" and _typed(gone):
            # Handed over in the middle of a turn; some versions store it nowhere else.
            self._say(record, gone)
            self.carry(told=gone)

    def _told(self, parts: list[Part]) -> bool:
        """Whether these words were already given, when they left the queue."""
        told = self.into.carry.get("told")
        if told is None:
            return False
        self.carry(told=None)
        words = "\n\n".join(p.text for p in parts if isinstance(p, Text) and not p.injected)
        return bool(words.strip() == told.strip())


_TITLES = {
    "custom-title": (5, "customTitle"),
    "ai-title": (4, "aiTitle"),
    "last-prompt": (0, "lastPrompt"),
}


def _typed(words: str) -> bool:
    """Whether words in the queue were typed by a person, and are no command."""
    start = words.lstrip()
    return bool(start) and not start.startswith(("<", "/", '{"task_id"'))


def _blocks(content: Any) -> list[Record]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else records_of(content)
