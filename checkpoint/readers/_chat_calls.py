"""Tool calls in message lists: what a tool of any name does, and whether its result is a failure.

Nothing tells which agent wrote the list. A tool's name is looked up among those that many agents
share; a tool of another name is known by the shape of its arguments. These lists keep no status of
a result, so a failure is told by an exit code, or by the words that errors begin with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from checkpoint.model import Category, ToolCall
from checkpoint.readers._calls import category_of, close_call, make_call
from checkpoint.readers._claude_words import refusal_of
from checkpoint.readers._whole import dict_of, text_of

_SHAPES: tuple[tuple[Category, tuple[str, ...], tuple[str, ...]], ...] = (
    ("shell", ("command", "cmd", "commands", "script", "bash_command", "shell_command"), ()),
    ("edit", ("old_string", "oldString", "old_str", "oldText", "old_text", "oldStr"), ()),
    ("edit", ("patch", "patchText", "patch_text", "diff", "edits", "replacements"), ()),
    ("write", ("file_path", "filePath", "path", "filename", "target_file"),
     ("content", "contents", "file_text", "fileText", "newContent")),
    ("todo", ("todos", "plan", "todo_list", "todoList", "task_list"), ()),
    ("fetch", ("url", "urls", "uri"), ()),
    ("search", ("pattern", "query", "regex", "glob_pattern", "globPattern", "search_term"), ()),
    ("subagent", ("subagent_type", "agent_type", "subagent"), ()),
    ("question", ("question", "questions"), ()),
    ("read", ("file_path", "filePath", "absolute_path", "path", "paths", "filename"), ()),
)  # fmt: skip
"""Category, one of these arguments, and one of those; the first that fits."""

_EXIT = re.compile(
    r"\A\s*(?:<[\w-]+>\s*)?(?:Process |Command |Script )?(?:exited with (?:code|status)|"
    r"Exit(?: |_)?(?:code|status)|return ?code)[ :=]*(-?\d{1,3})\b|"
    r"<(?:exit_code|returncode|exit-code|exit_status)>\s*(-?\d{1,3})\s*</|"
    r"[(\[\n](?:Process |Command )?(?:finished |completed )?(?:exited with (?:code|status)|"
    r"exit (?:code|status)|with exit code)[ :=]*(-?\d{1,3})[.)\]]*\s*\Z",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\s*(?:<tool_use_error>|<error>|Traceback \(most recent call last\):|"
    r"(?:[\w./-]{1,60}: )?(?:fatal )?error(?:\[\w+\])?(?:[: ]|\Z)|fatal: |"
    r"Command (?:failed|timed out)|(?:/?[\w./-]{1,60}: )?(?:line )?\d*:? ?[\w./-]{1,60}: "
    r"(?:command )?not found|panic: |Segmentation fault|"
    r"(?:Tool|Function) (?:execution|call)? ?(?:failed|aborted)|"
    r"[\w./-]{1,40}: [^\n]{0,120}(?:No such file or directory|Permission denied|"
    r"Connection refused|Connection timed out)\s*\Z|curl: \(\d+\)|npm ERR!|"
    r"make(?:\[\d+\])?: \*\*\*)",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"^\s*(?:sudo )?(?:cat|tail|head|grep|rg|less|sed|awk|journalctl|dmesg|docker logs|"
    r"kubectl logs|git (?:log|show|diff))\b|\|\s*(?:grep|tail|head|sed|awk)\b"
)
"""Commands that show what a file or log says: errors in it are not theirs."""


def listed_call(tool: str, given: Any, call_id: str) -> ToolCall:
    """Return a call that waits for its result."""
    category = category_of(tool)
    if category != "other":
        return make_call(tool, given, id=call_id)
    fields = given
    if isinstance(given, str):
        try:
            fields = msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            fields = {}
    return make_call(tool, given, id=call_id, table={tool: shape_of(dict_of(fields))})


def shape_of(fields: Mapping[str, Any]) -> Category:
    """Return what a tool with these arguments does; "other" if they do not tell."""
    for category, some, others in _SHAPES:
        if any(fields.get(key) for key in some) and (
            not others or any(isinstance(fields.get(key), str) for key in others)
        ):
            return category
    return "other"


def give(call: ToolCall, output: str, *, failed: bool = False) -> None:
    """Fill in a result."""
    output, code = _unwrapped(output)
    if code is None and call.category == "shell":
        code = _exit_code(output[:300])
        code = _exit_code(output[-200:]) if code is None else code
    close_call(call, output, failed=failed or (code is None and _is_error(call, output)))
    call.exit_code = code
    call.failed = call.failed or bool(code)
    reason = refusal_of(output)
    if reason is not None:
        call.failed = call.refused = True
        call.person = reason
    if call.failed:
        call.changes, call.todos = (), ()


def _exit_code(words: str) -> int | None:
    if "xit" not in words and "eturn" not in words:
        return None
    found = _EXIT.search(words)
    numbers = [one for one in found.groups() if one] if found else []
    return int(numbers[0]) if numbers else None


def _unwrapped(output: str) -> tuple[str, int | None]:
    """Return the output, and the exit code, of a result that is a JSON object of both."""
    if not output.startswith("{") or not ('"output"' in output or '"stdout"' in output):
        return output, None
    try:
        given = dict_of(msgspec.json.decode(output))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return output, None
    about = dict_of(given.get("metadata")) or given
    code = about.get("exit_code", about.get("exitCode", about.get("returncode")))
    words = [text_of(given.get(key)) for key in ("output", "stdout", "stderr")]
    text = "\n".join(filter(None, words))
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    return (text, number) if text or number is not None else (output, None)


def _is_error(call: ToolCall, output: str) -> bool:
    if call.category in ("read", "search", "fetch", "subagent"):
        return re.match(r"\s*(?:<tool_use_error>|Error:|Traceback \(most)", output) is not None
    if call.category == "shell" and _LOOKS.search(call.target):
        return False
    if _ERROR.match(output[:400]):
        return True
    lines = [line for line in output[-600:].rstrip().split("\n") if line.strip()][-2:]
    return call.category == "shell" and any(map(_ERROR.match, lines))
