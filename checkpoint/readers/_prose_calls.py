"""Tool calls in transcripts for people: a line that names a tool, fences for input and output."""

from __future__ import annotations

import re

import msgspec

from checkpoint.model import Part, Reasoning, Text, ToolCall
from checkpoint.readers._calls import close_call, make_call

_TOOL = re.compile(
    r"^(?:#{1,6}\s+|>\s*)?(?:\W{0,6})?(?:\*\*)?Tool(?: ?Use| ?Call)?(?:\*\*)?\s*:\s*(?:\*\*)?\s*`?"
    r"([\w./:-]{1,60}?)`?(?:\*\*)?[ \t]*:?[ \t]*(?:\(([^)\n]*)\))?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_FENCED = re.compile(
    r"^[ \t]{0,3}(`{3,}|~{3,})([\w+-]*)[^\n]*\n(.*?)^[ \t]{0,3}\1[ \t]*$", re.DOTALL | re.MULTILINE
)
_LABEL = re.compile(
    r"^[#>*_\s]*(Input|Arguments|Parameters|Command|Output|Result|Response|Error)\b[*_:\s]*$",
    re.IGNORECASE,
)
_THOUGHT = re.compile(
    r"^_?\*{0,2}Thinking:?\*{0,2}:?_?[ \t]*\n+(.*?)(?=\n\n(?:\*\*|#|\S)|\Z)|"
    r"<think(?:ing)?>(.*?)</think(?:ing)?>",
    re.DOTALL | re.MULTILINE,
)
_CONSOLE = frozenset({"console", "shell-session", "terminal", "shellsession", "session"})
_SHELLS = _CONSOLE | {"bash", "sh", "shell", "zsh", "text", ""}
_PROMPT = re.compile(r"^(?:[\w.@~/:-]{0,60})?[$❯]\s+(.+)$", re.MULTILINE)


def parts_of(text: str) -> list[Part]:
    """Return the words, thoughts and calls of an assistant's turn.

    A fence with a prompt (`$ command`) and output below it counts as commands that were run; one
    with commands alone is advice, and stays words.
    """
    parts: list[Part] = []
    for match in _THOUGHT.finditer(text):
        thought = (match.group(1) or match.group(2) or "").strip()
        parts.extend([Reasoning(thought)] if thought else [])
    text = _THOUGHT.sub("", text)
    marks = list(_TOOL.finditer(text))
    _words(parts, text[: marks[0].start()] if marks else text)
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        call, used = _call(mark, text[mark.end() : end])
        parts.append(call)
        _words(parts, text[mark.end() + used : end])
    return parts


def _words(parts: list[Part], text: str) -> None:
    at = 0
    for fence in _FENCED.finditer(text):
        calls = _console(fence.group(2).lower(), fence.group(3))
        if calls:
            _put(parts, text[at : fence.start()])
            parts.extend(calls)
            at = fence.end()
    _put(parts, text[at:])


def _put(parts: list[Part], text: str) -> None:
    if text.strip():
        parts.append(Text(text.strip("\n")))


def _console(language: str, body: str) -> list[ToolCall]:
    if language not in _SHELLS:
        return []
    marks = list(_PROMPT.finditer(body))
    if not marks or body[: marks[0].start()].strip():
        return []
    calls: list[ToolCall] = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(body)
        call = ToolCall("console", "shell", mark.group(1).strip())
        call.input = {"command": call.target}
        close_call(call, body[mark.end() : end].strip("\n"))
        calls.append(call)
    return calls if any(call.output for call in calls) else []


def _call(mark: re.Match[str], body: str) -> tuple[ToolCall, int]:
    """Return the call that a line names, and how much of what follows belongs to it."""
    given, output, used, label = "", None, 0, ""
    at = 0
    for fence in _FENCED.finditer(body):
        between = body[at : fence.start()]
        lines = [line for line in between.split("\n") if line.strip()]
        labels = [found.group(1).lower() for line in lines if (found := _LABEL.match(line))]
        if len(lines) > len(labels) and used:
            break
        label = labels[-1] if labels else label
        if label in ("output", "result", "response", "error") or (used and output is None):
            output = fence.group(3).rstrip("\n")
        elif not used:
            given = fence.group(3).rstrip("\n")
        else:
            break
        at = used = fence.end()
    arguments: object = given
    try:
        decoded = msgspec.json.decode(given) if given else {}
        arguments = decoded if isinstance(decoded, dict) else given
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        arguments = {"command": given}
    call = make_call(mark.group(1), arguments)
    call.target = call.target or (mark.group(2) or "").strip()
    if output is not None:
        close_call(call, output, failed=label == "error")
    return call, used
