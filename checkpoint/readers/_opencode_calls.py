"""Tool parts of opencode: a call with its state, from which category, result and changes follow."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from checkpoint.model import Category, Change, ToolCall
from checkpoint.readers._calls import close_call, make_call, todos_of
from checkpoint.readers._opencode_records import About, Changed, Part, State
from checkpoint.readers._whole import list_of, text_of

TABLE: dict[str, Category] = {
    "bash": "shell",
    "read": "read",
    "list": "read",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "codesearch": "search",
    "webfetch": "fetch",
    "websearch": "fetch",
    "todowrite": "todo",
    "todoread": "todo",
    "task": "subagent",
    "question": "question",
    "skill": "other",
    "lsp": "other",
    "invalid": "other",
}
_REFUSED = re.compile(
    r"\A\s*(?:Error: )?(?:The user (?:has )?(?:rejected|dismissed|denied|specified a rule)|"
    r"User rejected|Permission (?:denied|rejected) by (?:the )?user)",
    re.IGNORECASE,
)
_FEEDBACK = re.compile(r"with the following (?:feedback|message|reason):\s*(.+)", re.I | re.S)
_ANSWER = re.compile(r"\"=\"(.*?)\"(?=, \"|\. You can now|\.?\s*\Z)", re.DOTALL)
_STOPPED = re.compile(
    r"<(?:bash|shell)_metadata>(?:(?!</).)*?"
    r"(?:terminated command after exceeding timeout|User aborted the command)",
    re.DOTALL,
)
_CUT = re.compile(r"output (?:was |has been )?truncated", re.IGNORECASE)
_KINDS = {"add": "created", "delete": "deleted", "move": "renamed"}


_NOTHING, _UNTOLD = State(), About()


def call_of(part: Part) -> ToolCall:
    """Return the call of a tool part; one that is pending or running is not finished."""
    state = part.state or _NOTHING
    call = make_call(text_of(part.tool), state.input, id=text_of(part.callID), table=TABLE)
    if state.status == "completed":
        _completed(call, text_of(state.output), state.metadata or _UNTOLD)
    elif state.status == "error":
        _failed(call, text_of(state.error))
    return call


def _completed(call: ToolCall, output: str, about: About) -> None:
    code = about.exit
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    stopped = call.category == "shell" and number is None and _STOPPED.search(output[-600:])
    close_call(call, output, failed=bool(stopped), exit_code=number)
    call.truncated = about.truncated is True or (
        "truncated" in output[-400:] and _CUT.search(output[-400:]) is not None
    )
    if call.category == "question":
        call.person = _answers(about, output)
    elif call.category == "todo" and not call.todos:
        call.todos = tuple(todos_of({"todos": about.todos or _list(output)}))
    elif call.category == "write" and call.changes and isinstance(about.exists, bool):
        call.changes[0].action = "edited" if about.exists else "created"
    elif call.category == "edit":
        _edited(call, about)


def _failed(call: ToolCall, error: str) -> None:
    close_call(call, error, failed=True)
    call.changes, call.todos = (), ()
    if _REFUSED.match(error):
        call.refused = True
        said = _FEEDBACK.search(error)
        call.person = said.group(1).strip() if said else ""


def _answers(about: About, output: str) -> str:
    """Return what the person answered; several questions' answers are parted by "; "."""
    given = [", ".join(filter(None, map(text_of, list_of(one)))) for one in list_of(about.answers)]
    return "; ".join(filter(None, given or _ANSWER.findall(output)))


def _list(output: str) -> list[Any]:
    try:
        return list_of(msgspec.json.decode(output))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []


def _edited(call: ToolCall, about: About) -> None:
    """Take the files of a patch from the result: its paths are absolute, its kinds certain."""
    named = [(one.filePath, one) for one in about.files or () if text_of(one.filePath)]
    if not call.changes:
        call.changes = tuple(Change(path, _action(one)) for path, one in named)
        call.target = call.target or ", ".join(change.path for change in call.changes)
        return
    if len(named) != len(call.changes):
        return
    for change, (path, one) in zip(call.changes, named, strict=True):
        if path.endswith(change.path.removeprefix("./")) and change.action != "renamed":
            change.path, change.action = path, _action(one)
    call.target = ", ".join(change.path for change in call.changes)


def _action(one: Changed) -> Any:
    return _KINDS.get(text_of(one.type), "edited")
