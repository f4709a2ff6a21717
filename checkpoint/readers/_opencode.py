"""One message of opencode, the same in its export, its storage tree and its database.

A message is `info` (role, times, model, path) and `parts` (text, reasoning, tool, file, patch,
compaction, ...). A tool part holds the call and its result.

Source: types of @opencode-ai/sdk; files written by releases 0.5.29 to 1.18.33.
"""

from __future__ import annotations

import re
from typing import Any

from checkpoint.model import (
    Attachment,
    Category,
    Change,
    Compaction,
    Origin,
    Part,
    Reasoning,
    Text,
    ToolCall,
)
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import Record, at_of, dict_of, list_of, records_of, text_of

TABLE: dict[str, Category] = {
    "bash": "shell",
    "list": "read",
    "patch": "edit",
    "todoread": "other",
    "task": "subagent",
    "question": "question",
    "skill": "other",
    "websearch": "fetch",
    "codesearch": "search",
    "lsp": "other",
    "invalid": "other",
}
_SILENT = frozenset({"step-start", "step-finish", "snapshot", "agent", "retry", "patch"})
_NUDGES = (
    "Continue if you have next steps",
    "Use the above summary generated from your last session",
    "Summarize the task tool output above",
    "The following tool was executed by the user",
    "Called the Read tool with the following input",
    "Called the list tool with the following input",
    "The user has requested a plan",
)
_PROGRAM = re.compile(
    r"^\"?\s*(?:# (?:System )?Context\b|# \w+ System Context\b|You are \*{0,2}\w+\*{0,2}, (?:powered|a |an )|"
    r"Your name is \*\*|<system|Provide a brief synopsis of what you just accomplished)"
)
_REQUEST = re.compile(
    r"^#{1,3} (?:User|Human)(?:'s)? (?:Request|Message|Prompt|Query|Input|Task)\s*$",
    re.MULTILINE | re.I,
)
"""Where a program that wraps a person's request says that it begins."""
_REFUSED = re.compile(
    r"(?:The user (?:rejected|has rejected|dismissed|doesn't want)|user rejected permission)", re.I
)
_FEEDBACK = re.compile(
    r"(?:with the following (?:feedback|message)|the user said):\s*(.+)", re.I | re.S
)


def add(info: Record, parts: list[Record], into: Assembler, *, child: bool = False) -> None:
    """Put one message into the assembler.

    Args:
        info: its `info`.
        parts: its parts, in order.
        into: where to.
        child: the session is a subagent's: its "user" is the parent's model.
    """
    head = into.head
    role = text_of(info.get("role"))
    if role not in ("user", "assistant"):
        into.problems.add(f"unknown role {role!r}", text_of(info.get("id")), "note")
        return
    place = dict_of(info.get("path"))
    cwd = text_of(place.get("cwd"))
    head.cwd = head.cwd or text_of(place.get("root")) or cwd
    model = dict_of(info.get("model"))
    name = text_of(info.get("modelID")) or text_of(model.get("modelID"))
    head.model = name if role == "assistant" and name else head.model
    made: list[Part] = []
    for part in parts:
        made += _part(part, role, into)
    if role == "assistant" and (error := dict_of(info.get("error"))):
        into.problems.add(
            f"the agent stopped with {text_of(error.get('name')) or 'an error'}",
            text_of(info.get("id")),
            "note",
        )
    into.message(
        "user" if role == "user" else "assistant",
        made,
        origin=_origin(role, info, made),
        id=text_of(info.get("id")),
        at=at_of(dict_of(info.get("time")).get("created")),
        model=name,
        cwd=cwd or head.cwd,
        subagent="child" if child else "",
    )


def _origin(role: str, info: Record, parts: list[Part]) -> Origin:
    if role == "assistant":
        return "summary" if info.get("summary") is True else "agent"
    if any(isinstance(part, Compaction) for part in parts):
        return "injected"
    words = [part for part in parts if isinstance(part, Text)]
    own = [part for part in words if not part.injected]
    return "injected" if words and not own else "person"


def _part(part: Record, role: str, into: Assembler) -> list[Part]:
    kind = text_of(part.get("type"))
    if kind == "text":
        return list(_text(part, role))
    if kind == "reasoning":
        words = text_of(part.get("text"))
        return [Reasoning(words)] if words.strip() else []
    if kind == "tool":
        return [_call(part)]
    if kind == "file":
        name = text_of(part.get("filename")) or text_of(part.get("url"))
        return [
            Attachment(
                name[:300] if not name.startswith("data:") else "", text_of(part.get("mime"))
            )
        ]
    if kind == "compaction":
        auto = part.get("auto")
        return [Compaction("unknown" if auto is None else "auto" if auto else "manual")]
    if kind == "subtask":
        return [Text(text_of(part.get("prompt")), injected=True)]
    if kind not in _SILENT:
        into.problems.add(f"unknown part {kind!r}", text_of(part.get("id")), "note")
    return []


def _text(part: Record, role: str) -> list[Text]:
    text = text_of(part.get("text"))
    if not text.strip():
        return []
    if role == "assistant":
        return [Text(text)]
    synthetic = part.get("synthetic") is True or part.get("ignored") is True
    asked = _REQUEST.search(text) if _PROGRAM.match(text) and not synthetic else None
    if asked:
        before = Text(text[: asked.start()].strip(' "\n'), injected=True)
        return [before, Text(text[asked.end() :].strip(' "\n'))]
    if synthetic or text.startswith(_NUDGES) or _PROGRAM.match(text):
        return [Text(text, injected=True)]
    bare = text.rstrip("\n")
    if len(bare) > 1 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1]:
        text = bare[1:-1]  # `opencode run a b` stores the prompt in quotes
    return split_injected(text)


def _call(part: Record) -> ToolCall:
    state = dict_of(part.get("state"))
    call = make_call(
        text_of(part.get("tool")), state.get("input"), id=text_of(part.get("callID")), table=TABLE
    )
    status = text_of(state.get("status"))
    about = dict_of(state.get("metadata"))
    if status in ("completed", "error"):
        exit_code = about.get("exit")
        code = exit_code if isinstance(exit_code, int) and not isinstance(exit_code, bool) else None
        output = (
            text_of(state.get("output")) if status == "completed" else text_of(state.get("error"))
        )
        close_call(call, output, failed=status == "error", exit_code=code)
        call.truncated = about.get("truncated") is True
    _person(call)
    _files(call, about)
    if call.failed:
        call.changes = ()
    return call


def _person(call: ToolCall) -> None:
    if call.failed and _REFUSED.search(call.output):
        call.refused = True
        said = _FEEDBACK.search(call.output)
        call.person = said.group(1).strip() if said else ""
    elif call.category == "question" and call.finished and not call.failed:
        answers = re.findall(r"\"[^\"\n]*\"=\"([^\"\n]*)\"", call.output)
        call.person = "; ".join(answers)


def _files(call: ToolCall, about: Record) -> None:
    """Take from the result whether a written file was new, and a patch's files."""
    if call.category == "write" and call.changes and isinstance(about.get("exists"), bool):
        call.changes[0].action = "edited" if about["exists"] else "created"
    if call.category == "edit" and not call.changes:
        from_files = records_of(about.get("files"))
        call.changes = tuple(_changed(one) for one in from_files if text_of(one.get("filePath")))


def _changed(one: Record) -> Change:
    kinds = {"add": "created", "delete": "deleted", "move": "renamed"}
    action: Any = kinds.get(text_of(one.get("type")), "edited")
    return Change(text_of(one.get("filePath")), action)


def parts_of(value: Any) -> list[Record]:
    """Return the parts in a list; what is no object is left out."""
    return [one for one in list_of(value) if isinstance(one, dict)]
