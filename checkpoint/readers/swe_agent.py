"""SWE-agent trajectories (`.traj`), and mini-swe-agent's (`.traj.json`).

SWE-agent: `trajectory` is a list of steps with thought, action, observation, state; `history` has
the prompts before them, of which demonstrations and the frame around the issue are the program's
and the issue itself is the person's. mini-swe-agent: `messages`, with commands in fences or native
calls, and results as `<returncode>`, `<output>`.

Not in the format: times (but in some newer files), the branch, exit codes of SWE-agent's steps.

Source: sweagent/agent of SWE-agent/SWE-agent; src/minisweagent of SWE-agent/mini-swe-agent.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from pathlib import Path
from typing import Any

from checkpoint.model import Category, Change, Part, Reasoning, Text, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Head
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._edits import unified
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    load_json,
    records_of,
    text_of,
)


class SweAgent(WholeReader):
    """Reads SWE-agent's trajectories."""

    name = "swe-agent"
    title = "SWE-agent"

    def identify(self, head: Head) -> bool:
        if head.start.lstrip()[:1] != b"{" or not head.has_key("trajectory"):
            return False
        return head.has_key("observation") and head.has_key("action") and head.has_key("thought")

    def build(self, path: Path, session: str, into: Assembler) -> None:
        whole = dict_of(load_json(path, into.problems))
        into.head.id = path.name.split(".traj")[0]
        model = re.search(r'"name": "([^"]+)"', text_of(whole.get("replay_config")))
        into.head.model = model.group(1) if model else ""
        steps = records_of(whole.get("trajectory"))
        _prompts(records_of(whole.get("history")), into)
        before: Record = {}
        for number, step in enumerate(steps):
            before = _step(step, before, number, into)
        _end(dict_of(whole.get("info")), steps, into)


_STARTS = ("assistant", "tool")
_ISSUE = re.compile(
    r"(?:ISSUE:\n(.*?)(?=\n\s*INSTRUCTIONS:)|<(pr_description|issue|task)>\s*(.*?)\s*</\2>|"
    r"Please solve this issue: (.*?)(?=\n\s*You can execute|\n\s*## ))",
    re.DOTALL,
)


def _prompts(history: list[Record], into: Assembler) -> None:
    for number, one in enumerate(history):
        if one.get("role") in _STARTS and not one.get("is_demo"):
            return
        text = content_text(one.get("content"))
        name = f"history-{number}"
        if one.get("role") == "system":
            into.message("system", [Text(text, injected=True)], origin="injected", id=name)
        elif one.get("is_demo"):
            into.message("user", [Text(text, injected=True)], origin="injected", id=name)
        else:
            into.message("user", task_parts(text), origin="person", id=name)


def task_parts(text: str) -> list[Part]:
    """Return the task a run was given: the issue is the person's, the frame is the program's."""
    found = _ISSUE.search(text)
    issue = (
        next(filter(None, (found.group(1), found.group(3), found.group(4))), "") if found else ""
    )
    if not issue:
        return [Text(text)]
    at = text.index(issue)
    frame = text[:at].strip("\n"), text[at + len(issue) :].strip("\n")
    parts: list[Part] = [Text(frame[0], injected=True)] if frame[0].strip() else []
    parts.append(Text(issue.strip("\n")))
    return parts + ([Text(frame[1], injected=True)] if frame[1].strip() else [])


def content_text(content: Any) -> str:
    """Return the text of a content: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(text_of(one.get("text")) for one in records_of(content))


def _state(value: Any) -> Record:
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return {}
    return dict_of(value)


def _step(step: Record, before: Record, number: int, into: Assembler) -> Record:
    """Put one step; return its state, which old versions took before it and newer ones after."""
    state = _state(step.get("state"))
    cwd = text_of(state.get("working_dir")) or text_of(before.get("working_dir"))
    into.head.cwd = into.head.cwd or cwd
    parts: list[Part] = []
    thought = text_of(step.get("thought")).strip("\n")
    if not thought.strip() and not text_of(step.get("action")).strip():
        thought = text_of(step.get("response")).strip("\n")
    if thought.strip():
        parts.append(Text(thought))
    for block in records_of(step.get("thinking_blocks")):
        if text_of(block.get("thinking")).strip():
            parts.insert(0, Reasoning(text_of(block.get("thinking"))))
    if text_of(step.get("action")).strip():
        parts.append(_action(step, before, state, number, cwd))
    into.message("assistant", parts, origin="agent", cwd=cwd, at=at_of(step.get("timestamp")))
    return state or before


_COMMANDS: dict[str, Category] = {
    "open": "read",
    "goto": "read",
    "scroll_up": "read",
    "scroll_down": "read",
    "create": "write",
    "edit": "edit",
    "insert": "edit",
    "append": "edit",
    "undo_edit": "edit",
    "find_file": "search",
    "search_dir": "search",
    "search_file": "search",
    "submit": "other",
    "exit_forfeit": "other",
}
_FAILED = re.compile(
    r"\A\s*(?:Your proposed edit has introduced new syntax error|No edit was performed|Usage: |"
    r"Error: |ERROR:|.{0,80}: command not found|No file open|File \S+ not found|"
    r"Your edit was not applied)"
)
_TIMED_OUT = "EXECUTION TIMED OUT"


def _action(step: Record, before: Record, state: Record, number: int, cwd: str) -> ToolCall:
    action = text_of(step.get("action")).strip()
    output = text_of(step.get("observation")).replace("\r\n", "\n").strip("\n")
    words = _words(action)
    name = words[0] if words else ""
    calls = records_of(step.get("tool_calls"))
    native = dict_of(calls[0].get("function")) if len(calls) == 1 else {}
    if name == "str_replace_editor":
        call = _editor(words, native)
    elif name in _COMMANDS:
        call = ToolCall(name, _COMMANDS[name], input={"action": action})
        _special(call, action, words, before, state)
    else:
        call = ToolCall("bash", "shell", action, input={"command": action})
    call.id = text_of(calls[0].get("id")) if len(calls) == 1 else f"step-{number}"
    call.cwd = cwd if call.category == "shell" else ""
    failed = bool(_FAILED.match(output)) or output.strip().startswith(_TIMED_OUT)
    close_call(call, output, failed=failed)
    if failed:
        call.changes = ()
    elif name == "submit":
        call.changes = tuple(unified(output))
    return call


def _words(action: str) -> list[str]:
    try:
        return shlex.split(action)
    except ValueError:
        return action.split()


def _editor(words: list[str], native: Record) -> ToolCall:
    """Return a call of the editor tool, its arguments native or as options of a command line."""
    arguments = native.get("arguments")
    if arguments and native.get("name") == "str_replace_editor":
        return make_call("str_replace_editor", arguments)
    fields = dict(zip(("command", "path"), words[1:3], strict=False))
    fields |= {
        option.lstrip("-"): value
        for option, value in itertools.pairwise(words[3:])
        if option.startswith("--")
    }
    return make_call("str_replace_editor", fields)


def _special(call: ToolCall, action: str, words: list[str], before: Record, state: Record) -> None:
    """Fill in target and changes of one of the agent's own commands."""
    known = (text_of(one.get("open_file")) for one in (state, before))
    opened = next((one for one in known if one not in ("", "n/a")), "")
    argument = words[1] if len(words) > 1 else ""
    if call.category in ("search", "read"):
        call.target = argument if call.tool in ("open", "find_file") or argument else opened
    elif call.tool == "create":
        call.target = argument
        call.changes = (Change(argument, "created"),) if argument else ()
    elif call.category == "edit":
        call.target = opened
        first, _, rest = action.partition("\n")
        lines = re.match(r"edit \d+:\d+\s*(.*)", first)
        if lines:
            new = "\n".join(filter(None, (lines.group(1), rest)))
            new = re.sub(r"\n?end_of_edit\s*\Z", "", new)
            change = Change(opened, "edited", new=new)
        elif call.tool == "edit":
            new = words[2] if len(words) > 2 else ""
            change = Change(opened, "edited", argument, new)
        else:
            change = Change(opened, "edited", new=argument)
        call.changes = (change,) if opened else ()


def _end(info: Record, steps: list[Record], into: Assembler) -> None:
    status = text_of(info.get("exit_status"))
    if status:
        text = f"exit status: {status}"
        into.message("system", [Text(text, injected=True)], origin="injected", id="end")
    submitted = text_of(info.get("submission"))
    acted = any(text_of(step.get("action")).split()[:1] == ["submit"] for step in steps)
    if submitted.strip() and not acted:
        call = ToolCall("submit", "other", changes=tuple(unified(submitted)))
        close_call(call, submitted)
        into.message("system", [call], origin="injected", id="submission")


class MiniSweAgent(WholeReader):
    """Reads mini-swe-agent's trajectories."""

    name = "mini-swe-agent"
    title = "mini-swe-agent"

    def identify(self, head: Head) -> bool:
        if head.start.lstrip()[:1] != b"{" or not head.has_key("messages"):
            return False
        return (
            head.has_key("trajectory_format")
            or head.has_key("mini_version")
            or (head.has_key("exit_status") and b"<returncode>" in head.start)
        )

    def build(self, path: Path, session: str, into: Assembler) -> None:
        whole = dict_of(load_json(path, into.problems))
        info = dict_of(whole.get("info"))
        config = dict_of(info.get("config"))
        into.head.id = path.name.split(".traj")[0].removesuffix(".json")
        into.head.version = text_of(info.get("mini_version"))
        into.head.model = text_of(dict_of(config.get("model")).get("model_name"))
        into.head.cwd = text_of(dict_of(config.get("environment")).get("cwd"))
        run = _Mini(into)
        for number, one in enumerate(records_of(whole.get("messages"))):
            run.put(one, number)


_BASH = re.compile(r"```(?:bash|sh|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_RESULT = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>", re.DOTALL)


class _Mini:
    def __init__(self, into: Assembler) -> None:
        self._into = into
        self._open = ""
        self._asked = False

    def put(self, one: Record, number: int) -> None:
        """Put one message of the run."""
        role, text = text_of(one.get("role")), content_text(one.get("content"))
        extra = dict_of(one.get("extra"))
        fields: dict[str, Any] = {
            "id": f"message-{number}",
            "at": at_of(extra.get("timestamp") or one.get("timestamp")),
            "cwd": self._into.head.cwd,
        }
        if role == "system":
            self._into.message("system", [Text(text, injected=True)], origin="injected", **fields)
        elif role == "assistant":
            self._assistant(one, text, number, fields)
        elif role in ("user", "tool") and (self._open or role == "tool"):
            self._result(text_of(one.get("tool_call_id")) or self._open, text, extra, fields)
        elif role == "user" and not self._asked:
            self._asked = True
            self._into.message("user", task_parts(text), origin="person", **fields)
        elif role in ("user", "exit"):
            parts: list[Part] = [Text(text, injected=True)] if text.strip() else []
            self._into.message("user", parts, origin="injected", **fields)
        else:
            self._into.problems.add(f"unknown role {role!r}", f"message {number}", "note")

    def _assistant(self, one: Record, text: str, number: int, fields: dict[str, Any]) -> None:
        commands = _BASH.findall(text)
        parts: list[Part] = []
        thought = text_of(one.get("reasoning_content"))
        if thought.strip():
            parts.append(Reasoning(thought))
        words = _BASH.sub("", text).strip("\n") if len(commands) == 1 else text
        if words.strip():
            parts.append(Text(re.sub(r"\ATHOUGHT:\s*", "", words)))
        for asked in records_of(one.get("tool_calls")):
            function = dict_of(asked.get("function"))
            name, call_id = text_of(function.get("name")), text_of(asked.get("id"))
            parts.append(make_call(name, function.get("arguments"), id=call_id))
        self._open = ""
        if len(commands) == 1 and not one.get("tool_calls"):
            self._open = f"call-{number}"
            call = ToolCall("bash", "shell", commands[0].strip(), self._open, finished=False)
            call.input = {"command": call.target}
            parts.append(call)
        model = self._into.head.model
        self._into.message("assistant", parts, origin="agent", model=model, **fields)

    def _result(self, name: str, text: str, extra: Record, fields: dict[str, Any]) -> None:
        call = self._into.call(name)
        stated = _RESULT.search(text)
        code = extra.get("returncode", int(stated.group(1)) if stated else None)
        shown = _OUTPUT.search(text)
        output = text_of(extra.get("raw_output")) or (shown.group(1) if shown else text)
        self._open = ""
        if call is None or not (stated or shown or extra or name):
            parts: list[Part] = [Text(text, injected=True)]
            self._into.message("user", parts, origin="injected", **fields)
            return
        close_call(call, output, exit_code=code if isinstance(code, int) else None)
        call.truncated = "<output_head>" in text or "elided" in text[:20000]
        self._into.close(name)
