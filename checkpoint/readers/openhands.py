"""OpenHands: events, as a list, a line file, a folder, or the `history` of an evaluation's line.

Old events have `action` with `args` or `observation` with `content` and `extras`, and an
observation names its action in `cause`. Those of the newer software kit have `kind` and name it in
`action_id` and `tool_call_id`. Of a file of many evaluations the wanted one is `session` (its
instance id), else the last.

Not in the format: the branch; who refused an action, in the old form.

Source: openhands/events of All-Hands-AI/OpenHands; openhands/sdk/event of the agent kit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Category, Compaction, Part, Reasoning, Text
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._blocks import content_text
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._openhands_new import put_kind
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    changed,
    dict_of,
    list_of,
    load_json,
    load_lines,
    records_of,
    text_of,
)

ACTIONS: dict[str, Category] = {
    "run": "shell",
    "run_ipython": "shell",
    "read": "read",
    "write": "write",
    "edit": "edit",
    "browse": "fetch",
    "browse_interactive": "fetch",
    "delegate": "subagent",
    "call_tool_mcp": "other",
    "task_tracking": "todo",
}
_SPOKEN = frozenset({"message", "finish", "think", "reject"})
_SILENT = frozenset(
    {"change_agent_state", "recall", "null", "loop_recovery", "pause", "resume", "stop", "start"}
)


class OpenHands(WholeReader):
    """Reads OpenHands' events."""

    name = "openhands"
    title = "OpenHands"

    def identify(self, head: Head) -> bool:
        if head.is_dir:
            return any(_events_of(head.path))
        start = head.start.lstrip()
        if start[:1] == b"{" and head.records:
            first = head.records[0]
            if "history" in first and ("instance_id" in first or "metadata" in first):
                return _is_event(next(iter(records_of(first["history"])), {}))
            return all(_is_event(one) for one in head.records[:10])
        listed = start[:1] == b"[" or (start[:1] == b"{" and head.has_key("history"))
        return (
            listed
            and b'"source"' in head.start
            and (
                (head.has_key("observation") and head.has_key("args") and head.has_key("extras"))
                or (head.has_key("kind") and b'MessageEvent"' in head.start)
            )
        )

    def build(self, path: Path, session: str, into: Assembler) -> None:
        into.head.id = session or (path.parent.name if path.name == "events" else path.stem)
        run = _Run(into)
        for number, event in enumerate(_load(path, session, into)):
            run.put(event, number)

    def roots(self) -> list[Path]:
        home = Path.home()
        own = os.environ.get("OH_PERSISTENCE_DIR")
        places = [Path(own)] if own else []
        return [*places, home / ".openhands" / "sessions", home / ".openhands" / "conversations"]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for folder in root.glob("*/events"):
                files = _events_of(folder)
                if files:
                    yield Found(
                        self.name, folder, folder.parent.name, "", "", 0.0,
                        changed(files[-1]), len(files),
                    )  # fmt: skip


def _is_event(record: Record) -> bool:
    if "source" not in record or "timestamp" not in record:
        return False
    return "action" in record or "observation" in record or "kind" in record


def _events_of(folder: Path) -> list[Path]:
    """Return the event files of a folder, in order."""
    inner = folder / "events"
    files = (inner if inner.is_dir() else folder).glob("*.json")
    numbered = [(re.findall(r"\d+", path.stem), path) for path in files]
    return [path for _number, path in sorted((int(d[0]), path) for d, path in numbered if d)]


def _load(path: Path, session: str, into: Assembler) -> list[Record]:
    if path.is_dir():
        return [dict_of(load_json(one, into.problems)) for one in _events_of(path)]
    head = Head.of(path)
    if head.start.lstrip()[:1] == b"{" and head.records:
        lines = [record for _where, record in load_lines(path, into.problems)]
        if not any("history" in one for one in lines):
            return lines
        named = [one for one in lines if not session or str(one.get("instance_id")) == session]
        if not named:
            raise ReadError(f"{path}: it holds no evaluation {session!r}")
        about = named[-1]
        into.head.id = text_of(about.get("instance_id")) or into.head.id
        config = dict_of(dict_of(about.get("metadata")).get("llm_config"))
        into.head.model = text_of(config.get("model"))
        return _flat(about.get("history"))
    whole = load_json(path, into.problems)
    return _flat(dict_of(whole).get("history") if isinstance(whole, dict) else whole)


def _flat(history: Any) -> list[Record]:
    """Return the events of a history; older ones pair action and observation."""
    found: list[Record] = []
    for one in list_of(history):
        found.extend(records_of(one) if isinstance(one, list) else records_of([one]))
    return found


_FOOT = re.compile(
    r"\n?\[(?:The command completed with|Current working directory|Python Interpreter|"
    r"Jupyter)[^\n]*"
)
_UNTOLD = frozenset({"thought", "security_risk", "confirmation_state"})
_LONE = frozenset({"agent_state_changed", "null", "recall", "think", "condense", "success"})


class _Run:
    def __init__(self, into: Assembler) -> None:
        self._into = into
        self._asked = False

    def put(self, event: Record, number: int) -> None:
        """Put one event."""
        fields: dict[str, Any] = {
            "id": str(event.get("id", number)),
            "at": at_of(event.get("timestamp")),
            "cwd": self._into.head.cwd,
        }
        self._into.head.started = self._into.head.started or fields["at"]
        if isinstance(event.get("kind"), str):
            put_kind(event, fields, self._into)
        elif "observation" in event:
            self._observation(event, fields)
        elif "action" in event:
            self._action(event, fields)
        else:
            self._into.problems.add("unknown event", f"event {number}", "note")

    def _action(self, event: Record, fields: dict[str, Any]) -> None:
        action, args = text_of(event.get("action")), dict_of(event.get("args"))
        person = event.get("source") == "user"
        if action in _SPOKEN or (action == "system"):
            self._spoken(action, args, person, fields)
        elif action in ACTIONS:
            self._call(action, args, event, fields)
        elif action in ("condensation", "condensation_request"):
            summary = text_of(args.get("summary"))
            parts: list[Part] = [Compaction("auto"), *([Text(summary)] if summary.strip() else [])]
            self._into.message("system", parts, origin="summary", **fields)
        elif action not in _SILENT:
            self._into.problems.add(f"unknown action {action!r}", f"event {fields['id']}", "note")

    def _spoken(self, action: str, args: Record, person: bool, fields: dict[str, Any]) -> None:
        text = text_of(args.get("content")) or text_of(args.get("final_thought"))
        text = text or text_of(args.get("thought"))
        if action == "system":
            words: list[Part] = [Text(text, injected=True)]
            self._into.message("system", words, origin="injected", **fields)
        elif person:
            self._into.message("user", [Text(text)] if text else [], origin="person", **fields)
        else:
            parts: list[Part] = [Reasoning(text) if action == "think" else Text(text)]
            self._into.message("assistant", parts if text else [], origin="agent", **fields)

    def _call(self, action: str, args: Record, event: Record, fields: dict[str, Any]) -> None:
        parts: list[Part] = []
        if text_of(args.get("thought")).strip():
            parts.append(Text(text_of(args.get("thought"))))
        if text_of(args.get("reasoning_content")).strip():
            parts.insert(0, Reasoning(text_of(args.get("reasoning_content"))))
        given = {key: one for key, one in args.items() if key not in _UNTOLD and one}
        tool = text_of(dict_of(event.get("tool_call_metadata")).get("function_name")) or action
        table = {action: ACTIONS[action]}
        call = make_call(action, given, id=fields["id"], table=table)
        if action == "edit" and args.get("command") == "view":
            call.category, call.changes = "read", ()
        elif action == "edit" and args.get("command") == "create":
            call.category = "write"
            call.changes = tuple(one for one in call.changes[:1])
            for change in call.changes:
                change.action, change.new = "created", text_of(args.get("file_text"))
        elif action == "run_ipython":
            call.target = text_of(args.get("code"))
        elif action == "call_tool_mcp":
            tool = text_of(args.get("name")) or tool
        call.tool = tool
        if event.get("source") == "user":
            self._into.message("user", [*parts, call], origin="person", **fields)
            return
        self._into.message("assistant", [*parts, call], origin="agent", **fields)

    def _observation(self, event: Record, fields: dict[str, Any]) -> None:
        kind, extras = text_of(event.get("observation")), dict_of(event.get("extras"))
        call = self._into.call(str(event.get("cause")))
        metadata = dict_of(extras.get("metadata"))
        self._into.head.cwd = self._into.head.cwd or text_of(metadata.get("working_dir"))
        if call is None:
            if kind == "error":
                words: list[Part] = [Text(text_of(event.get("content")), injected=True)]
                self._into.message("system", words, origin="injected", **fields)
            elif kind not in _LONE:
                what = "a result without its call"
                self._into.problems.add(what, f"event {fields['id']}", "note")
            return
        code = extras.get("exit_code", metadata.get("exit_code"))
        output = content_text(event.get("content"))
        if call.category == "shell":
            output = _FOOT.sub("", output)
        known = isinstance(code, int) and code != -1
        failed = kind == "error" or extras.get("error") is True or output.startswith("ERROR:")
        close_call(call, output, failed=failed, exit_code=code if known else None)
        call.cwd = text_of(metadata.get("working_dir"))
        if kind == "user_rejected":
            call.refused = call.failed = True
        if call.failed:
            call.changes = ()
        elif extras.get("prev_exist") is False:
            for change in call.changes:
                change.action = "created"
        self._into.close(call.id)
