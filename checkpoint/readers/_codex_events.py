"""Codex: events, where they tell more than the items: who typed, how a command ended.

An action that was made inside a script has an event only.
"""

from __future__ import annotations

from checkpoint.model import Compaction, Message, Text, ToolCall
from checkpoint.readers._codex_calls import command_line, event_changes, give_result
from checkpoint.readers._codex_items import Items, search_call
from checkpoint.readers._codex_kinds import EDGES, EVENTS
from checkpoint.readers._codex_outputs import Output, unwrap
from checkpoint.readers._jsonl import Record
from checkpoint.readers._whole import dict_of, list_of, records_of, text_of


class Events(Items):
    """Takes what the screen showed."""

    def _event_msg(self, event: Record, record: Record) -> None:
        kind = text_of(event.get("type"))
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
            self.problem(f"unknown event {kind[:60]!r}")

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
            and last.role == "user"
            and (_same(words, _all_words(last)))
        ):
            last.origin = "agent" if self._subagent else "person"
            if len(last.parts) == 1 and isinstance(last.parts[0], Text):
                last.parts[0].injected = False  # it only looked like a program's
        elif words.strip() and not asked:
            content = [{"type": "text", "text": words}]
            images = list_of(event.get("images")) + list_of(event.get("local_images"))
            content += [{"type": "input_image", "path": text_of(one)} for one in images]
            self._user(record, content, "")
            self._asked = None
            self.carry(events=True)

    def _completed(self, item: Record, record: Record) -> None:
        kind = text_of(item.get("type"))
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
        return self.into.call(number), self.into.knows(number)

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
        call = search_call(event)
        if not any(one.tool == "web_search" and one.target == call.target
                   for one in (last.calls() if last else ())):  # fmt: skip
            self._beside(record, call)


def _all_words(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _same(one: str, other: str) -> bool:
    one, other = one.strip(), other.strip()
    return bool(one) and (one == other or one in other or (bool(other) and other in one))
