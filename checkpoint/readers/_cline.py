"""What Cline, Roo Code and Kilo Code write into messages: calls as tags, results, wrappers.

The assistant's words hold its calls as XML; the user's the results as `[tool for 'x'] Result:`, the
person's words in `<task>`, `<feedback>`, `<answer>`, `<user_message>`, and the program's own
words around them. Newer versions use the model's native calls for the first two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from checkpoint.model import Category, Compaction, Part, Reasoning, Text, ToolCall
from checkpoint.readers._calls import checklist, close_call, make_call

TABLE: dict[str, Category] = {
    "list_code_definition_names": "read",
    "use_mcp_tool": "other",
    "access_mcp_resource": "other",
    "load_mcp_documentation": "other",
    "condense": "other",
    "switch_mode": "other",
    "fetch_instructions": "other",
    "web_fetch": "fetch",
    "focus_chain": "todo",
}
TOOLS = (
    "execute_command|read_file|write_to_file|replace_in_file|search_files|list_files|insert_content|"
    "list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|new_task|edit_file|"
    "ask_followup_question|attempt_completion|plan_mode_respond|new_rule|condense|apply_diff|"
    "search_and_replace|switch_mode|update_todo_list|fetch_instructions|codebase_search|web_fetch|"
    "load_mcp_documentation|summarize_task|report_bug|apply_patch|delete_file|run_slash_command|"
    "new_workspace|web_search|generate_image|search_replace|edit"
)
_SPOKEN = {
    "attempt_completion": "result",
    "plan_mode_respond": "response",
    "condense": "context",
    "summarize_task": "context",
}
"""Calls that are the assistant's words to the person, and the argument that holds them."""

_TAG = re.compile(
    rf"(?:```(?:tool_use|tool_code|xml)?[ \t]*\n)?<({TOOLS})>(.*?)(?:</\1>|\Z)(?:\s*\n```)?",
    re.DOTALL,
)
_PARAM = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
_THINKING = re.compile(r"<(thinking|think)>(.*?)</\1>\s*", re.DOTALL)
_USE = re.compile(r"^\[Tool Use: (\w+)\]\n((?:.*\n?)*?)(?=\n\[Tool Use: |\Z)", re.MULTILINE)
_CUT_OFF = re.compile(r"\[Response interrupted by [^\]]*\]\s*")


def spoken(text: str) -> list[Part]:
    """Return the parts of an assistant's text: words, thinking, calls that wait for results."""
    thoughts = [match.group(2).strip() for match in _THINKING.finditer(text)]
    parts: list[Part] = [Reasoning(thought) for thought in thoughts if thought]
    text = _CUT_OFF.sub("", _THINKING.sub("", text))
    at = 0
    for match in _TAG.finditer(text):
        _words(parts, text[at : match.start()])
        parts.extend(call_parts(match.group(1), _params(match.group(2))))
        at = match.end()
    rest = text[at:]
    used = list(_USE.finditer(rest))
    _words(parts, rest[: used[0].start()] if used else rest)
    for match in used:
        parts.extend(call_parts(match.group(1), _listed(match.group(2))))
    return parts


def _words(parts: list[Part], text: str) -> None:
    text = text.strip("\n")
    if text.strip():
        parts.append(Text(text))


def _params(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _PARAM.finditer(body):
        name, value = match.groups()
        if name in ("args", "file") and "<path>" in value:
            found |= _params(value)
        else:
            found.setdefault(name, value)
    if not found:
        opened = re.match(r"\s*<(\w+)>\n?(.*)\Z", body, re.DOTALL)
        if opened:
            found[opened.group(1)] = opened.group(2)
    return found


def _listed(body: str) -> dict[str, str]:
    """Return the arguments of a call in the Markdown export: `Key: value`, values over lines."""
    found: dict[str, str] = {}
    name = ""
    for line in body.split("\n"):
        match = re.match(r"([A-Z]\w{1,30}): ?(.*)", line)
        if match:
            name = match.group(1)[0].lower() + match.group(1)[1:]
            found[name] = match.group(2)
        elif name:
            found[name] += "\n" + line
    return {key: value.rstrip("\n") for key, value in found.items()}


def call_parts(tool: str, fields: dict[str, str], call_id: str = "") -> list[Part]:
    """Return what a call says: words for the person, or a call; and its check list as a call."""
    parts: list[Part] = []
    progress = fields.get("task_progress", "")
    if tool in _SPOKEN and isinstance(fields.get(_SPOKEN[tool]), str):
        _words(parts, fields[_SPOKEN[tool]])
        asked = ToolCall(tool, "other", id=call_id, finished=False)
        parts.append(asked)
    else:
        parts.append(make_call(tool, fields, id=call_id, table=TABLE))
    items = checklist(progress) if isinstance(progress, str) else []
    if items:
        parts.append(ToolCall("task_progress", "todo", todos=tuple(items)))
    return parts


TURN = re.compile(r"(?:\A|\n---\s*\n+)\*\*(User|Assistant):\*\*[ \t]*\n")
"""How a turn begins in the Markdown export."""
MARKS = ("<environment_details>", "<task>", "[TASK RESUMPTION]", "<user_message>", "<feedback>")
"""What the program or a person's wrappers leave in every history."""


def is_export(text: str) -> bool:
    """Whether a text is a Markdown export of one of these agents."""
    return bool(TURN.match(text.lstrip("\n\r "))) and any(
        mark in text for mark in (*MARKS, "] Result:\n", "[Tool Use: ")
    )


class Heard(NamedTuple):
    """What a user's text holds."""

    results: list[tuple[str, str]]
    """Tool and output, in order."""
    parts: list[Part]
    """The person's words, and the program's marked as injected."""
    person: bool
    """A person said something outside of results."""
    aside: str
    """A person's words about a result: why it was refused, or what to mind."""


_RESULT = re.compile(
    r"^\[(\w+)(?: for '.*?'| to '.*?')?[^\]\n]*\] Result:?[ \t]*\n?|"
    rf"^\[({TOOLS})(?: \(Error\))?\]\n",
    re.MULTILINE,
)
_ENVIRONMENT = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_WRAPPED = re.compile(r"<(task|user_message|feedback|answer)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_BOUNDARY = re.compile(
    r"^(?:<environment_details>|# TODO LIST |\[TASK RESUMPTION\]|\[ERROR\]|# task_progress|"
    r"The user provided the following feedback:|<feedback>|<user_message>|<answer>|# Reminder:)",
    re.MULTILINE,
)
_FEEDBACK_TOOLS = frozenset({"attempt_completion", "plan_mode_respond", ""})


def heard(text: str) -> Heard:
    """Take a user's text apart."""
    results: list[tuple[str, str]] = []
    own: list[str] = []
    aside: list[str] = []
    last = ""
    injected: list[str] = []
    marks = _marks(text)
    starts = [mark[0] for mark in marks] + [len(text)]
    pieces = [("", text[: starts[0]])]
    pieces += [(tool, text[end : starts[n + 1]]) for n, (_at, end, tool) in enumerate(marks)]
    denied = any("user denied this operation" in piece for _tool, piece in pieces)
    for tool, piece in pieces:
        last = tool or last
        body = piece
        if tool:
            cut = _BOUNDARY.search(piece)
            body = piece[: cut.start()] if cut else piece
            results.append((tool, body.strip("\n")))
            body = piece[len(body) :]
        for kind, words in _wrapped(body):
            if not kind:
                injected.append(words)
            elif _is_aside(kind, last, denied):
                aside.append(words)
            else:
                own.append(words)
    parts: list[Part] = [Text(words) for words in own if words.strip()]
    parts.extend(Text(words, injected=True) for words in injected if words.strip())
    return Heard(results, parts, bool(own), "\n\n".join(aside))


def _is_aside(kind: str, tool: str, denied: bool) -> bool:
    """Whether a person's words are about a call, and no request of their own."""
    return kind == "answer" or (kind == "feedback" and (denied or tool not in _FEEDBACK_TOOLS))


def _marks(text: str) -> list[tuple[int, int, str]]:
    """Return where results begin, where their heading ends, and the tool.

    Headings within a person's or the program's block are none.
    """
    spans = [match.span() for match in _WRAPPED.finditer(text)]
    spans += [match.span() for match in _ENVIRONMENT.finditer(text)]
    return [
        (match.start(), match.end(), match.group(1) or match.group(2))
        for match in _RESULT.finditer(text)
        if not any(start < match.start() < end for start, end in spans)
    ]


def _wrapped(text: str) -> list[tuple[str, str]]:
    """Return the pieces of a text: the wrapper's name and its content, "" for what is outside."""
    found: list[tuple[str, str]] = []
    at = 0
    spans = [match.span() for match in _ENVIRONMENT.finditer(text)]
    for match in _WRAPPED.finditer(text):
        if any(start <= match.start() < end for start, end in spans):
            continue
        found.append(("", text[at : match.start()].strip("\n")))
        found.append((match.group(1), match.group(2)))
        at = match.end()
    found.append(("", text[at:].strip("\n")))
    return [(kind, words) for kind, words in found if kind or words.strip()]


_EXECUTED = re.compile(
    r"\A(?:Command executed|Command is still running|Command execution)[^\n]*\n(?:.*?Output:\n)?",
    re.DOTALL,
)
_CODE = re.compile(r"Exit code: (-?\d+)")
_ERROR = re.compile(
    r"tool execution failed|^<error>|^Error(?::|\b)|\"status\": ?\"error\"", re.IGNORECASE
)


def give(call: ToolCall, output: str, aside: str = "", failed: bool = False) -> None:
    """Put a result into its call."""
    code: int | None = None
    if call.category == "shell":
        stated = _CODE.search(output[:400])
        code = int(stated.group(1)) if stated else None
        call.background = call.background or output.startswith("Command is still running")
        place = re.search(r"within working directory '([^']+)'", output[:400])
        call.cwd = place.group(1) if place else call.cwd
        output = _EXECUTED.sub("", output, count=1)
    refused = "user denied this operation" in output[:300]
    failed = failed or refused or bool(_ERROR.search(output[:300]))
    close_call(call, output, failed=failed, exit_code=code)
    call.refused = refused
    call.person = aside
    if call.failed and call.category in ("edit", "write"):
        call.changes = ()


def directory_of(text: str) -> str:
    """Return the directory that an environment block names, "" if none does."""
    match = re.search(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)", text)
    return match.group(1) if match else ""


def summary_part(trigger_auto: bool = True) -> Compaction:
    """Return the mark of a condensed context."""
    return Compaction("auto" if trigger_auto else "manual")
