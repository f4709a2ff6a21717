"""Tool parts of opencode: a call with its state, from which category, result and changes follow."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from checkpoint.model import Category, Change, ToolCall
from checkpoint.readers._calls import close_call, make_call, todos_of
from checkpoint.readers._whole import Record, dict_of, list_of, records_of, text_of

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


def call_of(part: Record) -> ToolCall:
    """Return the call of a tool part; one that is pending or running is not finished."""
    state = dict_of(part.get("state"))
    tool = text_of(part.get("tool"))
    call = make_call(tool, state.get("input"), id=text_of(part.get("callID")), table=TABLE)
    about = dict_of(state.get("metadata"))
    status = text_of(state.get("status"))
    if status == "completed":
        _completed(call, text_of(state.get("output")), about)
    elif status == "error":
        _failed(call, text_of(state.get("error")))
    return call


def _completed(call: ToolCall, output: str, about: Record) -> None:
    code = about.get("exit")
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    stopped = call.category == "shell" and number is None and _STOPPED.search(output[-600:])
    close_call(call, output, failed=bool(stopped), exit_code=number)
    call.truncated = about.get("truncated") is True or (
        "truncated" in output[-400:] and _CUT.search(output[-400:]) is not None
    )
    if call.category == "question":
        call.person = _answers(about, output)
    elif call.category == "todo" and not call.todos:
        call.todos = tuple(todos_of({"todos": about.get("todos") or _list(output)}))
    elif call.category == "write" and call.changes and isinstance(about.get("exists"), bool):
        call.changes[0].action = "edited" if about["exists"] else "created"
    elif call.category == "edit":
        _edited(call, about)


def _failed(call: ToolCall, error: str) -> None:
    close_call(call, error, failed=True)
    call.changes, call.todos = (), ()
    if _REFUSED.match(error):
        call.refused = True
        said = _FEEDBACK.search(error)
        call.person = said.group(1).strip() if said else ""


def _answers(about: Record, output: str) -> str:
    """Return what the person answered; several questions' answers are parted by "; "."""
    given = [
        ", ".join(filter(None, map(text_of, list_of(one)))) for one in list_of(about.get("answers"))
    ]
    return "; ".join(filter(None, given or _ANSWER.findall(output)))


def _list(output: str) -> list[Any]:
    try:
        return list_of(msgspec.json.decode(output))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []


def _edited(call: ToolCall, about: Record) -> None:
    """Take the files of a patch from the result: its paths are absolute, its kinds certain."""
    named = [one for one in records_of(about.get("files")) if text_of(one.get("filePath"))]
    if not call.changes:
        call.changes = tuple(Change(one["filePath"], _action(one)) for one in named)
        call.target = call.target or ", ".join(change.path for change in call.changes)
        return
    if len(named) != len(call.changes):
        return
    for change, one in zip(call.changes, named, strict=True):
        if one["filePath"].endswith(change.path.removeprefix("./")) and change.action != "renamed":
            change.path, change.action = one["filePath"], _action(one)
    call.target = ", ".join(change.path for change in call.changes)


def _action(one: Record) -> Any:
    return _KINDS.get(text_of(one.get("type")), "edited")
