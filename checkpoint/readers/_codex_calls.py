"""Codex: its tools, and the many ways in which it writes a command, a patch and their results."""

from __future__ import annotations

import re
import shlex
from typing import Any

from checkpoint.model import Category, Change, Todo, ToolCall
from checkpoint.readers._calls import make_call, todos_of
from checkpoint.readers._codex_outputs import Output, answers
from checkpoint.readers._codex_script import calls as script_calls
from checkpoint.readers._edits import patch, unified
from checkpoint.readers._jsonl import Record
from checkpoint.readers._whole import dict_of, list_of, records_of, text_of

TABLE: dict[str, Category] = {
    "shell": "shell",
    "container.exec": "shell",
    "shell_command": "shell",
    "exec_command": "shell",
    "local_shell": "shell",
    "unified_exec": "shell",
    "exec": "shell",
    "wait": "other",
    "write_stdin": "other",
    "apply_patch": "edit",
    "update_plan": "todo",
    "view_image": "read",
    "read_file": "read",
    "list_dir": "read",
    "grep_files": "search",
    "web_search": "fetch",
    "spawn_agent": "subagent",
    "send_input": "subagent",
    "followup_task": "subagent",
    "wait_agent": "other",
    "close_agent": "other",
    "request_user_input": "question",
}
_SHELLS = re.compile(r"(?:.*[/\\])?(?:bash|sh|zsh|dash|ksh|fish|pwsh|powershell|cmd)(?:\.exe)?")
_RUN = ("-c", "-lc", "-ic", "-lic", "-Command", "-command", "/c", "/C")
_PATCH_COMMAND = re.compile(
    r"\s*(?:cd\s+(?P<cd>\S+)\s*&&\s*)?(?:apply_patch|applypatch)\b", re.DOTALL
)
_COMMANDS = re.compile(r"\btools\.(?:exec_command|write_stdin)\b")
_PRINTED_EXIT = re.compile(
    r"(?:\A|\n)\W{0,3}(?:process )?exit(?:ed)?[ _]?(?:code|status)?(?: with)?[\"' ]{0,2}[:= ]\s*"
    r"(-?\d{1,5})\W{0,2}\s*\Z",
    re.IGNORECASE,
)
_BEGIN, _END = "*** Begin Patch", "*** End Patch"


def call_of(payload: Record) -> ToolCall:
    """Return the call that a `function_call`, `custom_tool_call` or `local_shell_call` makes."""
    name = text_of(payload.get("name"))
    number = text_of(payload.get("call_id") or payload.get("id"))
    if payload.get("type") == "local_shell_call":
        return _shell("local_shell", dict_of(payload.get("action")), number)
    given = payload.get("arguments", payload.get("input"))
    if name == "exec" and payload.get("type") == "custom_tool_call":
        return _script(text_of(given), number)
    call = make_call(_full_name(payload, name), given, id=number, table=TABLE)
    if name == "apply_patch":
        return _as_patch(call, text_of(call.input.get("input")) or text_of(call.input.get("patch")))
    if call.category == "shell":
        return _shell(name, call.input, number)
    if name == "write_stdin":
        call.target = text_of(call.input.get("chars"))
    elif name == "request_user_input":
        asked = records_of(call.input.get("questions"))
        call.target = "\n".join(text_of(one.get("question")) for one in asked)
    return call


def _full_name(payload: Record, name: str) -> str:
    space = text_of(payload.get("namespace"))
    return f"{space}{name}" if space.endswith("__") else name


def _shell(name: str, fields: Record, number: str) -> ToolCall:
    call = ToolCall(name, "shell", id=number, input=fields, finished=False)
    call.cwd = text_of(fields.get("workdir") or fields.get("working_directory"))
    command = fields.get("command", fields.get("cmd"))
    words = [one for one in list_of(command) if isinstance(one, str)]
    if words[:1] in (["apply_patch"], ["applypatch"]) and len(words) > 1:
        return _as_patch(call, words[1])
    call.target = command_line(command)
    if _BEGIN in call.target:
        found = _PATCH_COMMAND.match(call.target)
        if found:
            call.cwd = found["cd"] or call.cwd
            return _as_patch(call, call.target)
        call.changes = tuple(_patches(call.target))
    return call


def command_line(command: Any) -> str:
    """Return a command as a person would type it; a shell around it is taken away."""
    if isinstance(command, str):
        return command.strip()
    words = [one for one in list_of(command) if isinstance(one, str)]
    if len(words) >= 3 and _SHELLS.fullmatch(words[0]) and words[-2] in _RUN:
        return words[-1].strip()
    return shlex.join(words)


def _as_patch(call: ToolCall, text: str) -> ToolCall:
    call.category = "edit"
    call.changes = tuple(_patches(text))
    call.target = call.changes[0].path if call.changes else ""
    return call


def _patches(text: str) -> list[Change]:
    """Return the changes of all patches in a text, without what stands around them."""
    found: list[Change] = []
    at = text.find(_BEGIN)
    if at < 0:
        return patch(text)
    while at >= 0:
        end = text.find(_END, at)
        found.extend(patch(text[at : end if end >= 0 else len(text)].rstrip("\n")))
        at = text.find(_BEGIN, end) if end >= 0 else -1
    return found


def _script(script: str, number: str) -> ToolCall:
    """Return the call of a code-mode script: as what it calls, where that can be seen."""
    nested = script_calls(script)
    kinds = {name for name, _args in nested}
    call = ToolCall("exec", "other", id=number, input={"script": script}, finished=False)
    commands = [dict_of(args) for name, args in nested if name == "exec_command"]
    lines = [line for one in commands if (line := command_line(one.get("cmd")))]
    if commands:
        call.category = "shell"
        call.target = "\n".join(lines) or script.strip()
        call.cwd = text_of(commands[0].get("workdir"))
    elif kinds == {"apply_patch"}:
        _as_patch(call, "\n".join(text_of(args) for _name, args in nested))
    elif kinds == {"write_stdin"}:
        sessions = [dict_of(args).get("session_id") for _name, args in nested]
        call.input["session_id"] = sessions[0] if len(sessions) == 1 else None
    elif kinds:
        call.target = ", ".join(sorted(kinds))
    plans = [dict_of(args) for name, args in nested if name == "update_plan"]
    if plans:
        call.todos = tuple(todos_of(plans[-1]))
        call.category = "todo" if kinds == {"update_plan"} else call.category
    return call


def plan_beside(call: ToolCall) -> ToolCall | None:
    """Return the to-do call that a script made beside others; its items leave `call`."""
    if call.tool != "exec" or not call.todos or call.category == "todo":
        return None
    plan = ToolCall("update_plan", "todo", todos=call.todos)
    call.todos = ()
    return plan


def give_result(call: ToolCall, output: Output) -> None:
    """Put an output into its call."""
    call.finished = True
    call.output = output.text
    script = call.input.get("script")
    if output.exit_code is None and isinstance(script, str) and "exit_code" in script:
        _told_by_script(call, output, script)
    if output.exit_code is not None:
        call.exit_code = output.exit_code
    call.failed = output.failed or bool(call.exit_code)
    call.refused = output.refused
    call.truncated = output.truncated
    if call.category == "question":
        call.person = answers(output.text)
    if call.failed and call.category == "edit":
        call.changes = ()


def _told_by_script(call: ToolCall, output: Output, script: str) -> None:
    """Take the exit code that a script of one command printed after the output."""
    match = _PRINTED_EXIT.search(output.text[-200:])
    if match and len(_COMMANDS.findall(script)) == 1 and call.category in ("shell", "other"):
        output.exit_code = int(match.group(1))
        call.output = output.text = output.text[: len(output.text) - len(match.group(0))]


def event_changes(changes: Any) -> list[Change]:
    """Return the changes that a `patch_apply_end` event names."""
    found: list[Change] = []
    for path, one in dict_of(changes).items():
        about = dict_of(one)
        kind = text_of(about.get("type"))
        if not kind and len(about) == 1:  # the older form: {"add": {...}}
            kind = next(iter(about))
            about = dict_of(about[kind])
        diff = unified(text_of(about.get("unified_diff")), path)
        change = diff[0] if diff else Change(path, "edited", new=text_of(about.get("content")))
        change.path = path
        if kind == "add":
            change.action = "created"
        elif kind == "delete":
            change.action, change.old, change.new = "deleted", change.new or change.old, ""
        if moved := text_of(about.get("move_path")):
            change.path, change.source, change.action = moved, path, "renamed"
        found.append(change)
    return found


def plan_todos(items: Any) -> tuple[Todo, ...]:
    """Return the items of a plan or to-do list in an event."""
    return tuple(todos_of({"plan": items}))
