"""Claude Code: its tools, and the two forms in which it stores a result.

A result stands as a `tool_result` block (what the model saw) and, for most tools, once more as the
record's `toolUseResult`, an object whose keys depend on the tool. Seen in 1.0.60 to 2.1.332.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checkpoint.model import Category, Change, Todo, TodoStatus, ToolCall
from checkpoint.readers._calls import make_call, status_of
from checkpoint.readers._claude_origin import attachment
from checkpoint.readers._jsonl import Record
from checkpoint.readers._whole import dict_of, list_of, records_of, text_of

TABLE: dict[str, Category] = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Read": "read",
    "LS": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "TodoWrite": "todo",
    "TodoRead": "other",
    "TaskCreate": "todo",
    "TaskUpdate": "todo",
    "TaskList": "todo",
    "TaskGet": "other",
    "Task": "subagent",
    "Agent": "subagent",
    "AskUserQuestion": "question",
    "ExitPlanMode": "other",
    "exit_plan_mode": "other",
    "EnterPlanMode": "other",
    "BashOutput": "other",
    "KillShell": "other",
    "KillBash": "other",
    "TaskOutput": "other",
    "AgentOutputTool": "other",
    "TaskStop": "other",
    "Monitor": "other",
    "Skill": "other",
    "SlashCommand": "other",
    "ToolSearch": "other",
    "SendMessage": "other",
    "LSP": "other",
}
_TARGETS = {
    "BashOutput": ("bash_id", "shell_id"),
    "KillShell": ("shell_id", "bash_id"),
    "KillBash": ("shell_id", "bash_id"),
    "TaskOutput": ("task_id",),
    "AgentOutputTool": ("agentId",),
    "TaskStop": ("task_id", "shell_id"),
    "TaskGet": ("taskId",),
    "Skill": ("skill", "command", "commandName"),
    "SlashCommand": ("command",),
    "Monitor": ("command", "description"),
    "SendMessage": ("summary", "message", "content"),
}
_REFUSED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
    "[Request interrupted by user for tool use]",
)
_REASON = re.compile(
    r"(?:the user said|The user provided the following reason[^:\n]*|the user's feedback is):\n?",
)
_NOTE = re.compile(r"\n\nNote: The user's next message may contain a correction.*\Z", re.DOTALL)
_EXIT = re.compile(r"\A(?:Error: )?Exit code (\d{1,9})(?:\n|\Z)")
_TAGGED_EXIT = re.compile(r"<exit_code>\s*(-?\d{1,9})\s*</exit_code>")
_CUT = re.compile(r"\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.|<persisted-output>")
_AGENT_TAIL = re.compile(r"\n*agentId: [^\n]*(?:\n<usage>.*?</usage>)?\s*\Z", re.DOTALL)
_ANSWERED = re.compile(
    r"\A(?:User has answered your questions: |Your questions have been answered: )"
    r"(.*?)\.? ?(?:You can now continue with the user's answers in mind\.)?\s*\Z",
    re.DOTALL,
)
_PRINTED = re.compile(r"<(?:stdout|stderr|output)>(.*?)</(?:stdout|stderr|output)>", re.DOTALL)
_BACKGROUND = re.compile(r"running in (?:the )?background with ID: (\w+)")
_WATCHING = ("BashOutput", "TaskOutput", "KillShell", "KillBash", "TaskStop")
_SAVED_BYTES = 4 << 20
_TASK_MADE = re.compile(r"Task #(\w+) created")

Tasks = dict[str, tuple[str, TodoStatus]]
"""The agent's task list by id: words and status."""


def call_of(block: Record) -> ToolCall:
    """Return the call of a `tool_use` block, still without its result."""
    name = text_of(block.get("name"))
    given = block.get("input")
    if name == "Bash" and isinstance(given, dict):  # by far the most frequent
        command = text_of(given.get("command")).strip()
        call = ToolCall(name, "shell", command, text_of(block.get("id")), given, finished=False)
        call.background = given.get("run_in_background") is True
        return call
    call = make_call(name, given, id=text_of(block.get("id")), table=TABLE)
    fields = call.input
    for key in _TARGETS.get(name, ()):
        if isinstance(fields.get(key), str) and fields[key]:
            call.target = fields[key]
            break
    if name in ("ExitPlanMode", "exit_plan_mode"):
        call.target = text_of(fields.get("planFilePath"))
    elif name == "NotebookEdit":
        call.changes = (_notebook(fields),)
    elif name == "AskUserQuestion":
        call.target = "\n".join(_questions(fields))
    elif call.category == "todo" and name != "TodoWrite":
        call.todos, call.todos_whole = (), False
    return call


def _notebook(fields: Record) -> Change:
    old = text_of(fields.get("old_source"))
    new = text_of(fields.get("new_source"))
    return Change(text_of(fields.get("notebook_path")), "edited", old, new)


def _questions(fields: Record) -> list[str]:
    asked = [text_of(one.get("question")) for one in records_of(fields.get("questions"))]
    return [one for one in (*asked, text_of(fields.get("question"))) if one]


def result_text(content: Any) -> str:
    """Return the content of a `tool_result` block as one text."""
    if isinstance(content, str):
        return content
    words: list[str] = []
    for block in list_of(content):
        if isinstance(block, str):
            words.append(block)
        elif isinstance(block, dict):
            words.append(_block_text(block))
    return "\n".join(filter(None, words))


def _block_text(block: Record) -> str:
    kind = block.get("type")
    if kind in ("image", "document"):
        handed = attachment(block)
        return f"[{handed.name} {handed.media}]".replace(" ]", "]")
    if kind == "tool_reference":
        return text_of(block.get("tool_name"))
    if kind == "resource":
        return text_of(dict_of(block.get("resource")).get("text"))
    return text_of(block.get("text"))


def saved_text(folder: Path, call_id: str, text: str) -> str:
    """Return the whole of an output that was too long for the session, where it is kept beside."""
    if not text.startswith("<persisted-output>") or not re.fullmatch(r"[\w-]{1,100}", call_id):
        return text
    try:
        with (folder / f"{call_id}.txt").open("rb") as file:
            return file.read(_SAVED_BYTES).decode("utf-8", "replace")
    except OSError:
        return text


def give_result(call: ToolCall, block: Record, twin: Any, text: str) -> None:
    """Put a result into its call.

    Args:
        call: the call that asked for it.
        block: the `tool_result` block.
        twin: the record's `toolUseResult`, an object or a text or nothing.
        text: the block's content as a text.
    """
    fields = dict_of(twin)
    call.finished = True
    call.failed = block.get("is_error") is True
    start = text.lstrip().removeprefix("<tool_use_error>")
    if start.startswith(_REFUSED):
        _refused(call, text)
        return
    if "truncated] ..." in text or text.startswith("<persisted-output>"):
        call.truncated = bool(_CUT.search(text))
    if call.category in ("read", "search", "shell"):
        text = _without_reminders(text)
    call.output = text
    if call.category == "shell":
        _shell(call, text, fields)
    elif call.category in ("edit", "write"):
        _edited(call, fields)
    elif call.category == "question":
        call.person = _answers(call, fields, text)
    elif call.category == "subagent":
        call.background = call.background or fields.get("isAsync") is True
        call.output = _AGENT_TAIL.sub("", text)
    elif call.tool in ("BashOutput", "TaskOutput"):
        _ended(call, text)


def _without_reminders(text: str) -> str:
    """Return an output without the reminders that the program put after it."""
    while text.rstrip().endswith("</system-reminder>"):
        at = text.rfind("<system-reminder>")
        if at < 0:
            break
        text = text[:at].rstrip()
    return text


def _refused(call: ToolCall, text: str) -> None:
    call.refused = call.failed = True
    call.changes, call.todos = (), ()
    call.output = text
    match = _REASON.search(text)
    if match:
        call.person = _NOTE.sub("", text[match.end() :]).strip()


def _shell(call: ToolCall, text: str, twin: Record) -> None:
    match = _EXIT.match(text)
    if match and call.failed:
        call.exit_code = int(match.group(1))
        call.output = text[match.end() :]
    if twin.get("backgroundTaskId") or twin.get("assistantAutoBackgrounded"):
        call.background = True
    full = text_of(twin.get("stdout"))
    if text.startswith("<persisted-output>") and len(full) > len(text):
        call.output = "\n".join(filter(None, (full, text_of(twin.get("stderr")))))
        call.truncated = False
    plain = not (twin.get("returnCodeInterpretation") or twin.get("interrupted"))
    if not call.failed and not call.background and plain:
        call.exit_code = 0


def _ended(call: ToolCall, text: str) -> None:
    """Take what a background command printed since, and how it ended if it did."""
    match = _TAGGED_EXIT.search(text)
    if match:
        call.exit_code = int(match.group(1))
        call.failed = bool(call.exit_code)
        if call.input.get("command"):
            call.category = "shell"
    printed = [one.strip("\n") for one in _PRINTED.findall(text)]
    if printed:
        call.output = "\n".join(filter(None, printed))


def background_id(call: ToolCall, twin: Any, text: str) -> str:
    """Return the id under which a command goes on in the background, "" if it does not."""
    if call.category != "shell" or not call.background:
        return ""
    match = _BACKGROUND.search(text[:400])
    return text_of(dict_of(twin).get("backgroundTaskId")) or (match.group(1) if match else "")


def of_background(call: ToolCall, running: Mapping[str, list[str]]) -> None:
    """Tell a call that looks after a background command which one it is.

    Its target is the command; `input` gets `command` and `call`, the id of the call that began it.
    """
    if call.tool in _WATCHING and call.target in running:
        number, command = running[call.target]
        call.target = command
        call.input = {**call.input, "command": command, "call": number}


def _edited(call: ToolCall, twin: Record) -> None:
    if call.failed:
        call.changes = ()
        return
    if call.tool == "Write":
        action = {"create": "created", "update": "edited"}.get(text_of(twin.get("type")))
        for change in call.changes:
            change.action = action or change.action  # type: ignore[assignment]
    elif twin.get("userModified") is True and len(call.changes) == 1:
        call.changes[0].new = text_of(twin.get("newString")) or call.changes[0].new


def _answers(call: ToolCall, twin: Record, text: str) -> str:
    """Return a person's answers, a line each; comments that they wrote beside them follow."""
    answers = dict_of(twin.get("answers"))
    found = [one for value in answers.values() for one in _answer(value)]
    for note in dict_of(twin.get("annotations")).values():
        found.extend(_answer(dict_of(note).get("notes")))
    if found or call.failed:
        return "\n".join(found)
    match = _ANSWERED.match(text)
    if not match:
        return ""
    rest = match.group(1)
    for question in reversed(_questions(call.input)):
        before, mark, answer = rest.rpartition(f'"{question}"="')
        if mark:
            found.insert(0, answer.rstrip(", ").removesuffix('"'))
            rest = before
    return "\n".join(found)


def _answer(value: Any) -> list[str]:
    return [one.strip() for one in (value if isinstance(value, list) else [value])
            if isinstance(one, str) and one.strip()]  # fmt: skip


def task_changes(call: ToolCall, twin: Any, text: str, tasks: Tasks) -> Tasks:
    """Give a task call its items, and return the task list after it.

    A task keeps its words and status where a call does not name them.
    """
    fields = dict_of(twin)
    if call.tool == "TaskCreate":
        made = dict_of(fields.get("task"))
        number = str(made.get("id") or "")
        if not number and (match := _TASK_MADE.search(text)):
            number = match.group(1)
        words = text_of(call.input.get("subject")) or text_of(made.get("subject"))
        found: Tasks = {number: (words, "pending")}
    elif call.tool == "TaskUpdate":
        number = str(call.input.get("taskId") or fields.get("taskId") or "")
        words, status = tasks.get(number, ("", "pending"))
        asked = call.input.get("status")
        found = {
            number: (
                text_of(call.input.get("subject")) or words,
                status_of(asked) if isinstance(asked, str) else status,
            )
        }
    else:
        found = {
            str(one.get("id")): (text_of(one.get("subject")), status_of(one.get("status")))
            for one in records_of(fields.get("tasks"))
        }
    call.todos = tuple(Todo(words, status, number) for number, (words, status) in found.items())
    return {**tasks, **found}
