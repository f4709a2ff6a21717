"""Codex (CLI, desktop app, editor extension): `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

All that is said stands twice in it: `response_item` is what the model sees, and is read;
`event_msg` is what the screen shows, and tells who typed a text, and of actions that have no item.
Seen in 0.20 (no envelope) to 0.171; a file with events only is read from them.

A fork begins with its parent's records, which are kept: only the parent's file could tell them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.model import Compaction, Cursor, Message, Origin, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._codex_calls import (
    call_of,
    command_line,
    event_changes,
    give_result,
    plan_beside,
)
from checkpoint.readers._codex_find import find_sessions, session_folders
from checkpoint.readers._codex_origin import SUMMARY_START, plain_text, shell_command, user_parts
from checkpoint.readers._codex_outputs import Output, unwrap
from checkpoint.readers._jsonl import JsonlReader, Record, Session
from checkpoint.readers._whole import at_of, dict_of, list_of, records_of, text_of

ITEMS = frozenset(
    "message reasoning function_call function_call_output custom_tool_call custom_tool_call_output "
    "local_shell_call local_shell_call_output web_search_call".split()
)
SILENT_ITEMS = frozenset(
    "ghost_snapshot compaction compaction_summary compaction_trigger context_compaction other "
    "tool_search_call tool_search_output image_generation_call agent_message".split()
)
"""Items that say nothing of their own."""

RECORDS = frozenset("world_state token_usage_record state inter_agent_communication".split())
EVENTS = frozenset(
    "token_count task_started task_complete turn_started turn_complete turn_aborted "
    "thread_settings_applied thread_goal_updated thread_name_updated session_configured "
    "agent_message_delta agent_reasoning_delta agent_reasoning_raw_content "
    "agent_reasoning_raw_content_delta agent_reasoning_section_break reasoning_content_delta "
    "reasoning_raw_content_delta agent_message_content_delta exec_command_begin "
    "exec_command_output_delta terminal_interaction patch_apply_begin patch_apply_updated "
    "mcp_tool_call_begin mcp_startup_update mcp_startup_complete web_search_begin "
    "view_image_tool_call exec_approval_request apply_patch_approval_request elicitation_request "
    "request_user_input request_permissions dynamic_tool_call_request dynamic_tool_call_response "
    "item_started background_event stream_error stream_info warning guardian_warning "
    "guardian_assessment error deprecation_notice model_reroute model_verification undo_started "
    "undo_completed turn_diff raw_response_item plan_delta plan_update entered_review_mode "
    "exited_review_mode thread_rolled_back hook_started hook_completed skills_update_available "
    "shutdown_complete sub_agent_activity collab_agent_spawn_begin collab_agent_spawn_end "
    "collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin "
    "collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end "
    "image_generation_begin image_generation_end context_compacted agent_reasoning".split()
)
"""Events that repeat an item, or are no part of the conversation."""

EDGES = frozenset("token_count task_started turn_started task_complete turn_complete".split())
NEXT_S = 5.0
"""What the model sends of one answer comes within this time."""


class Codex(JsonlReader):
    """Reads a rollout file."""

    name = "codex"
    title = "Codex"

    def identify(self, head: Head) -> bool:
        for record in head.records[:20]:
            kind = record.get("type")
            if isinstance(record.get("payload"), dict) and kind in (
                "session_meta", "response_item", "event_msg", "turn_context",
            ):  # fmt: skip
                return True
        return _is_bare(head.records[:20]) or (
            not head.records and b'"type":"session_meta"' in head.start[:400].replace(b" ", b"")
        )

    def begin(self, start: Head, into: Assembler) -> None:
        head = into.head
        for record in start.records[:100]:
            about = _payload(record)
            if record.get("type") == "session_meta" or _is_bare_head(record):
                _know(head, about, record)
                break
        if not start.records:
            _know_by_text(head, start.text)
        head.cwd = head.cwd or _cwd_in_text(start)

    def session(self, path: Path, into: Assembler, since: Cursor) -> Session:
        return _CodexSession(path, into)

    def roots(self) -> list[Path]:
        return session_folders()

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        return find_sessions(self.name, self.roots(), directory)


def _payload(record: Record) -> Record:
    payload = record.get("payload")
    return payload if isinstance(payload, dict) else record


def _is_bare_head(record: Record) -> bool:
    return "type" not in record and {"id", "timestamp"} <= record.keys()


def _is_bare(records: list[Record]) -> bool:
    """Whether the file is of the form without envelope."""
    if not records or not _is_bare_head(records[0]) or "instructions" not in records[0]:
        return False
    return len(records) == 1 or any(
        "record_type" in one or one.get("type") in ITEMS for one in records[1:]
    )


def _know(head: Any, about: Record, record: Record) -> None:
    """Learn of the session from its first `session_meta`."""
    source = dict_of(about.get("source")).get("subagent")
    spawn = dict_of(dict_of(source).get("thread_spawn"))
    head.id = text_of(about.get("id"))
    head.cwd = text_of(about.get("cwd"))
    head.version = text_of(about.get("cli_version"))
    head.branch = text_of(dict_of(about.get("git")).get("branch"))
    head.parent = text_of(about.get("forked_from_id")) or text_of(spawn.get("parent_thread_id"))
    head.started = at_of(about.get("timestamp")) or at_of(record.get("timestamp"))


def _know_by_text(head: Any, text: str) -> None:
    """Learn of a session whose first line is longer than what was read of it."""
    for name, key in (("id", "id"), ("cwd", "cwd"), ("version", "cli_version")):
        _before, found, rest = text.partition(f'"{key}":')
        value = rest.lstrip()[1:].partition('"')[0] if found else ""
        setattr(head, name, value)
    _before, _found, rest = text.partition('"timestamp":')
    head.started = at_of(rest.lstrip()[1:].partition('"')[0])


def _cwd_in_text(start: Head) -> str:
    _before, found, rest = start.text[:60_000].partition("<environment_context>")
    if not found:
        return ""
    return rest.partition("<cwd>")[2].partition("</cwd>")[0].strip()[:4096]


class _CodexSession(Session):
    """Takes Codex' records in the order of the file."""

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

    # Records

    def record(self, record: Record) -> None:
        kind = record.get("type")
        if kind == "response_item":
            self._item(_payload(record), record)
        elif kind == "event_msg":
            self._event_msg(_payload(record), record)
        elif kind == "turn_context":
            self._turn(_payload(record))
        elif kind == "session_meta":
            self._meta(_payload(record))
        elif kind == "compacted":
            self._compacted(_payload(record), record)
        elif kind in ITEMS or kind in SILENT_ITEMS:
            self._item(record, record)
        elif kind in RECORDS or record.get("record_type") == "state" or _is_bare_head(record):
            return
        else:
            self.problem(f"unknown record type {str(kind)[:60]!r}")

    def finish(self) -> None:
        self._confirm_asked()

    def _meta(self, about: Record) -> None:
        if text_of(about.get("id")) != self.head.id:
            return  # the parent's, repeated at the start of a fork
        source = about.get("source")
        child = dict_of(source).get("subagent")
        if child:
            spawn = dict_of(dict_of(child).get("thread_spawn"))
            name = spawn.get("agent_nickname") or spawn.get("agent_role") or child
            self._subagent = name if isinstance(name, str) else "subagent"
        self.head.version = text_of(about.get("cli_version")) or self.head.version
        branch = text_of(dict_of(about.get("git")).get("branch"))
        self.head.branch = branch or self.head.branch
        self._cwd = text_of(about.get("cwd")) or self._cwd
        self.carry(version=self.head.version, branch=self.head.branch, cwd=self._cwd,
                   subagent=self._subagent)  # fmt: skip

    def _turn(self, about: Record) -> None:
        self._join = ""
        self._cwd = text_of(about.get("cwd")) or self._cwd
        self.head.model = text_of(about.get("model")) or self.head.model
        self.carry(cwd=self._cwd, model=self.head.model)

    # Items

    def _item(self, item: Record, record: Record) -> None:
        if not self._items:
            self._items = True
            self.carry(items=True)
        kind = item.get("type")
        if kind == "message":
            self._message_item(item, record)
        elif kind == "reasoning":
            words = _reasoning(item)
            if words:
                self._add(record, Reasoning(self.text(words)))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._call(item, record)
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            self._output(item)
        elif kind == "web_search_call":
            self._add(record, _search_call(item))
        elif kind not in SILENT_ITEMS:
            self.problem(f"unknown item {str(kind)[:60]!r}")

    def _message_item(self, item: Record, record: Record) -> None:
        role, content = item.get("role"), item.get("content")
        number = text_of(item.get("id"))
        if role == "assistant":
            text = plain_text(content)
            if text.strip():
                self._add(record, Text(self.text(text)), number)
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
        running = self.into.carry.get("running", {})
        session = str(call.input.get("session_id") or call.input.get("cell_id") or "")
        if session in running and not call.target:
            call.category, call.target = "shell", running[session]
        self.carry(calls=[*self.into.carry.get("calls", ()), call.id][-64:])
        self._add(record, call)
        if plan := plan_beside(call):
            self._add(record, plan)

    def _output(self, item: Record) -> None:
        self._join = ""
        number = text_of(item.get("call_id"))
        call = self.into.call(number)
        if call is None:
            if number not in self.into.carry.get("calls", ()):
                self.problem("a tool result without its call")
                return
            call = ToolCall("")  # before the cursor
        output = unwrap(item.get("output"))
        output.text = self.text(output.text)
        give_result(call, output)
        self.into.close(number)
        self._goes_on(call, output)

    def _goes_on(self, call: ToolCall, output: Output) -> None:
        """Remember which command goes on in which session, for the calls that ask for its end."""
        running = dict(self.into.carry.get("running", {}))
        session = str(call.input.get("session_id") or call.input.get("cell_id") or "")
        command = running.pop(session, "") or (call.target if call.category == "shell" else "")
        if output.running and command:
            running[output.running] = command[:2000]
            while len(running) > 32:
                running.pop(next(iter(running)))
        self.carry(running=running)

    # Compactions

    def _compacted(self, about: Record, record: Record) -> None:
        text = text_of(about.get("message"))
        last = self.into.last()
        said = last.said().strip() if last and last.origin == "agent" else ""
        if last and said and text.rstrip().endswith(said):
            last.origin, text = "summary", ""  # it stands before as an answer
        self._new(record, "system", [Compaction()], "injected")
        if text.strip():
            self._new(record, "assistant", [Text(self.text(text))], "summary")

    # Events

    def _event_msg(self, event: Record, record: Record) -> None:
        kind = event.get("type")
        if kind in EDGES:
            self._join = ""
        if kind == "user_message":
            self._typed(event, record)
        elif kind == "item_completed":
            self._completed(dict_of(event.get("item")), record)
        elif kind == "exec_command_end":
            self._ran(event, record)
        elif kind == "patch_apply_end":
            self._patched(event, record)
        elif kind == "mcp_tool_call_end":
            self._mcp(event, record)
        elif kind == "web_search_end":
            self._searched(event, record)
        elif kind == "agent_message":
            self._shown(text_of(event.get("message")), record)
        elif kind == "context_compacted" and not self._items:
            self._new(record, "system", [Compaction()], "injected")
        elif kind not in EVENTS:
            self.problem(f"unknown event {str(kind)[:60]!r}")

    def _typed(self, event: Record, record: Record) -> None:
        """Take the event of a text that a person typed."""
        if event.get("kind", "plain") != "plain":
            return
        words = text_of(event.get("message"))
        asked = self._asked
        if asked and _same(words, asked[1]):
            self._asked = None
            self.carry(events=True)
        elif (
            not asked
            and (last := self.into.last())
            and _same(words, last.said())
            and (last.role == "user")
        ):
            last.origin = "agent" if self._subagent else "person"
        elif words.strip() and not asked:
            content = [{"type": "text", "text": words}]
            images = list_of(event.get("images")) + list_of(event.get("local_images"))
            content += [{"type": "input_image", "path": text_of(one)} for one in images]
            self._user(record, content, "")
            self._asked = None
            self.carry(events=True)

    def _confirm_asked(self) -> None:
        """Take a text for a program's that no event calls typed, in a session that has events."""
        if self._asked and self.into.carry.get("events"):
            self._asked[0].origin = "injected"
        self._asked = None

    def _completed(self, item: Record, record: Record) -> None:
        kind = item.get("type")
        if kind == "UserMessage":
            words = [text_of(one.get("text")) for one in records_of(item.get("content"))]
            self._typed({"message": "\n".join(filter(None, words))}, record)
        elif kind == "CommandExecution":
            self._ran({**item, "call_id": item.get("id")}, record)
        elif kind == "AgentMessage":
            words = [text_of(one.get("text")) for one in records_of(item.get("content"))]
            self._shown("\n".join(filter(None, words)), record)
        elif kind == "FileChange":
            self._patched({**item, "call_id": item.get("id")}, record)
        elif kind == "McpToolCall":
            self._mcp({**item, "call_id": item.get("id"), "invocation": item}, record)
        elif kind == "WebSearch":
            self._searched({**item, "call_id": item.get("id")}, record)

    def _shown(self, text: str, record: Record) -> None:
        if not self._items and text.strip():
            self._add(record, Text(self.text(text)))

    def _known_call(self, event: Record) -> tuple[ToolCall | None, bool]:
        """Return the open call that an event is about, and whether the call has an item."""
        number = text_of(event.get("call_id"))
        return self.into.call(number), number in self.into.carry.get("calls", ())

    def _ran(self, event: Record, record: Record) -> None:
        call, known = self._known_call(event)
        code = event.get("exit_code")
        code = code if isinstance(code, int) else None
        directory = text_of(event.get("cwd")).removeprefix("file://")
        if call is not None:
            call.exit_code, call.cwd = code, directory or call.cwd
        elif not known:
            call = ToolCall("exec_command", "shell", command_line(event.get("command")))
            call.id, call.cwd = text_of(event.get("call_id")), directory
            text = text_of(event.get("aggregated_output")) or text_of(event.get("stdout"))
            give_result(call, Output(self.text(text), code, failed=bool(code)))
            self._beside(record, call)

    def _patched(self, event: Record, record: Record) -> None:
        call, known = self._known_call(event)
        changes = tuple(event_changes(event.get("changes")))
        failed = event.get("success") is False or event.get("status") == "failed"
        if call is None and not known:
            call = self._script_with("apply_patch")
            if call is None:
                call = ToolCall("apply_patch", "edit", id=text_of(event.get("call_id")))
                call.target = changes[0].path if changes else ""
                call.output = self.text(text_of(event.get("stderr" if failed else "stdout")))
                call.failed, call.changes = failed, () if failed else changes
                self._beside(record, call)
                return
        if call is not None and not failed and not call.changes:
            call.changes = changes
            call.target = call.target or (changes[0].path if changes else "")

    def _script_with(self, tool: str) -> ToolCall | None:
        """Return the script that runs now, if it is nothing but this tool."""
        last = self.into.last()
        for call in last.calls() if last else ():
            script = call.input.get("script") if call.tool == "exec" else None
            if isinstance(script, str) and f"tools.{tool}" in script and call.category == "edit":
                return call
        return None

    def _beside(self, record: Record, call: ToolCall) -> None:
        """Add an action that has no item of its own to the answer that caused it."""
        last = self.into.last()
        if last and last.role == "assistant" and last.origin == "agent":
            last.parts.append(call)
        else:
            self._new(record, "assistant", [call], "agent")

    def _mcp(self, event: Record, record: Record) -> None:
        call, known = self._known_call(event)
        if call is not None or known:
            return
        asked = dict_of(event.get("invocation"))
        name = f"mcp__{text_of(asked.get('server'))}__{text_of(asked.get('tool'))}"
        call = ToolCall(
            name, id=text_of(event.get("call_id")), input=dict_of(asked.get("arguments"))
        )
        result = dict_of(event.get("result"))
        output = unwrap(dict_of(result.get("Ok")).get("content") or text_of(result.get("Err")))
        output.text = self.text(output.text)
        output.failed = output.failed or "Err" in result
        give_result(call, output)
        self._beside(record, call)

    def _searched(self, event: Record, record: Record) -> None:
        last = self.into.last()
        call = _search_call(event)
        if not any(one.tool == "web_search" and one.target == call.target
                   for one in (last.calls() if last else ())):  # fmt: skip
            self._beside(record, call)


def _reasoning(item: Record) -> str:
    words = [text_of(one.get("text")) for one in records_of(item.get("summary"))]
    words += [text_of(one.get("text")) for one in records_of(item.get("content"))]
    return "\n\n".join(filter(None, words))


def _search_call(item: Record) -> ToolCall:
    action = dict_of(item.get("action"))
    target = action.get("query") or action.get("url") or action.get("pattern") or item.get("query")
    call = ToolCall("web_search", "fetch", text_of(target), id=text_of(item.get("call_id")))
    call.input = action
    return call


def _same(one: str, other: str) -> bool:
    one, other = one.strip(), other.strip()
    return bool(one) and (one == other or one in other or (bool(other) and other in one))
