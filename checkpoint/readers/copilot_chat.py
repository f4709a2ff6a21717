"""VS Code Copilot Chat: `workspaceStorage/<hash>/chatSessions/<id>.json`, newer `.jsonl`.

A session is a list of requests with their responses. The line form is a journal: a first state,
then values set (1), pushed (2) or deleted (3) at a path. The folder stands in `workspace.json`
beside. Tool calls are taken from the rounds that the request's result keeps (names, arguments,
results), else from what was shown of them.

Not in the format: the branch; times of answers, but of requests; exit codes, but of commands run in
the terminal.

Source: src/vs/workbench/contrib/chat/common of microsoft/vscode.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.errors import ReadError
from checkpoint.model import Attachment, Change, Part, Reasoning, Text, Todo, ToolCall
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head, Problems
from checkpoint.readers._calls import category_of, close_call, make_call, status_of
from checkpoint.readers._origin import split_injected
from checkpoint.readers._vscode import folder_of, user_folders
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    list_of,
    load_json,
    load_lines,
    records_of,
    text_of,
)


class CopilotChat(WholeReader):
    """Reads the chat sessions of VS Code."""

    name = "copilot-chat"
    title = "VS Code Copilot Chat"

    def identify(self, head: Head) -> bool:
        first = next(iter(head.records), {})
        if "kind" in first and isinstance(first.get("v"), dict):
            return first["kind"] == 0 and "requests" in first["v"]
        if head.start.lstrip()[:1] != b"{" or not head.has_key("requests"):
            return False
        return (
            head.has_key("responderUsername")
            or head.has_key("requesterUsername")
            or (head.has_key("requestId") and head.has_key("response"))
        )

    def build(self, path: Path, session: str, into: Assembler) -> None:
        about = _load(path, into.problems)
        head = into.head
        head.id = text_of(about.get("sessionId")) or path.name.split(".json")[0]
        head.title = text_of(about.get("customTitle"))
        head.started = at_of(about.get("creationDate"))
        head.cwd = folder_of(path.parent.parent / "workspace.json")
        for number, request in enumerate(records_of(about.get("requests"))):
            _request(request, number, into)

    def roots(self) -> list[Path]:
        return [user / "workspaceStorage" for user in user_folders()]

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        for root in self.roots():
            for path in root.glob("*/chatSessions/*.json*"):
                folder = folder_of(path.parent.parent / "workspace.json")
                if directory and folder and not _related(folder, directory):
                    continue
                try:
                    about, changed = _load(path, Problems()), path.stat().st_mtime
                except (OSError, ReadError):
                    continue
                made, last = at_of(about.get("creationDate")), at_of(about.get("lastMessageDate"))
                requests = list_of(about.get("requests"))
                yield Found(
                    self.name, path, text_of(about.get("sessionId")) or path.stem, folder,
                    text_of(about.get("customTitle")), made.timestamp() if made else 0.0,
                    last.timestamp() if last else changed, len(requests) * 2, "", False,
                    not requests,
                )  # fmt: skip


def _related(folder: str, directory: Path) -> bool:
    one, other = Path(folder), directory
    return one == other or one in other.parents or other in one.parents


def _load(path: Path, problems: Problems) -> Record:
    """Return the session; a journal is played to its end."""
    if Head.of(path).records and "kind" in Head.of(path).records[0]:
        state: Record = {}
        for where, line in load_lines(path, problems):
            kind = line.get("kind")
            if kind == 0:
                state = dict_of(line.get("v"))
            elif not _play(state, line):
                problems.add(f"a change of kind {kind!r} that does not fit", where, "note")
        return state
    return dict_of(load_json(path, problems))


def _play(state: Any, line: Record) -> bool:
    keys = list_of(line.get("k"))
    place = state
    try:
        for key in keys[:-1]:
            place = place[key]
        last = keys[-1]
        if line.get("kind") == 1:
            place[last] = line.get("v")
        elif line.get("kind") == 2:
            found = place.setdefault(last, []) if isinstance(place, dict) else place[last]
            if isinstance(line.get("i"), int):
                del found[line["i"] :]
            found.extend(list_of(line.get("v")))
        elif line.get("kind") == 3:
            del place[last]
        else:
            return False
    except (KeyError, IndexError, TypeError, AttributeError):
        return False
    return True


def _request(request: Record, number: int, into: Assembler) -> None:
    message = request.get("message")
    text = message if isinstance(message, str) else text_of(dict_of(message).get("text"))
    parts: list[Part] = [*split_injected(text)]
    for one in records_of(dict_of(request.get("variableData")).get("variables")):
        name = text_of(one.get("name")) or _path(one.get("value"))
        parts.append(Attachment(name, text_of(one.get("kind"))))
    fields: dict[str, Any] = {
        "id": text_of(request.get("requestId")) or f"request-{number}",
        "at": at_of(request.get("timestamp")),
        "cwd": into.head.cwd,
    }
    into.message("user", parts, origin="person", **fields)
    model = text_of(request.get("modelId"))
    into.head.model = model or into.head.model
    result = dict_of(request.get("result"))
    metadata = dict_of(result.get("metadata"))
    shown = records_of(request.get("response"))
    rounds = records_of(metadata.get("toolCallRounds"))
    if rounds:
        answer = _rounds(rounds, dict_of(metadata.get("toolCallResults")), shown)
    else:
        answer = _shown(shown, into)
    fields["id"] += "-response"
    into.message("assistant", answer, origin="agent", model=model, **fields)
    wrong = text_of(dict_of(result.get("errorDetails")).get("message"))
    if wrong:
        words: list[Part] = [Text(wrong, injected=True)]
        into.message("system", words, origin="injected", cwd=into.head.cwd)


def _rounds(rounds: list[Record], results: Record, shown: list[Record]) -> list[Part]:
    """Return the words and calls of the rounds; what the display knows of calls is added."""
    displayed = {text_of(one.get("toolCallId")): one for one in shown if one.get("toolCallId")}
    parts: list[Part] = []
    for one in rounds:
        thought = dict_of(one.get("thinking")).get("text")
        thought = "\n".join(map(str, thought)) if isinstance(thought, list) else text_of(thought)
        parts.extend([Reasoning(thought)] if thought.strip() else [])
        if text_of(one.get("response")).strip():
            parts.append(Text(text_of(one.get("response"))))
        for asked in records_of(one.get("toolCalls")):
            name, number = text_of(asked.get("name")), text_of(asked.get("id"))
            call = make_call(name, asked.get("arguments"), id=number)
            if number in results:
                close_call(call, _result_text(results[number]))
            _display(call, displayed.get(number.split("__vscode")[0]) or displayed.get(number, {}))
            parts.append(call)
    return parts


def _result_text(result: Any) -> str:
    words = []
    for one in records_of(dict_of(result).get("content")):
        value = one.get("value")
        words.append(value if isinstance(value, str) else _nodes(value))
    return "\n".join(filter(None, words))


def _nodes(value: Any) -> str:
    """Return the text of a result that is stored as a tree of prompt elements."""
    node = dict_of(value)
    inner = dict_of(node.get("node")) or node
    own = text_of(inner.get("text"))
    return own + "".join(_nodes(child) for child in list_of(inner.get("children")))


def _display(call: ToolCall, shown: Record) -> None:
    """Take what the display tells of a call."""
    specific = dict_of(shown.get("toolSpecificData"))
    if specific.get("kind") == "terminal":
        line = specific.get("commandLine")
        asked = text_of(specific.get("command")) or text_of(dict_of(line).get("original"))
        call.category, call.target = "shell", call.target or asked
        code = dict_of(specific.get("terminalCommandState")).get("exitCode")
        output = text_of(dict_of(specific.get("terminalCommandOutput")).get("text"))
        if isinstance(code, int):
            close_call(call, call.output or output, exit_code=code)
        elif output and not call.output:
            close_call(call, output)
    elif specific.get("kind") == "todoList":
        call.category = "todo"
        call.todos = tuple(
            Todo(text_of(one.get("title")), status_of(one.get("status")), str(one.get("id", "")))
            for one in records_of(specific.get("todoList"))
        )
    confirmed = shown.get("isConfirmed")
    if confirmed is False or (isinstance(confirmed, dict) and confirmed.get("type") == 0):
        call.refused = call.failed = True
    if dict_of(shown.get("resultDetails")).get("isError") is True:
        call.failed = True
    if call.failed:
        call.changes = ()


_SILENT = frozenset(
    {
        "progressMessage", "progressTaskSerialized", "progressTask", "undoStop", "codeblockUri",
        "prepareToolInvocation", "mcpServersStarting", "references", "usedContext", "command",
        "codeCitation", "extensions", "pullRequest", "confirmation", "elicitation", "warning",
        "treeData", "markdownVuln", "multiDiffData", "elicitationSerialized", "hook", "move",
        "notebookEditGroup", "workspaceEdit", "questionCarousel", "externalEdits", "info",
    }
)  # fmt: skip


def _shown(shown: list[Record], into: Assembler) -> list[Part]:
    """Return what a response showed; neighbouring pieces of words are one text."""
    parts: list[Part] = []
    words = ""
    for one in shown:
        kind = text_of(one.get("kind"))
        if kind in ("", "markdownContent"):
            words += _markdown(one.get("content") if kind else one)
            continue
        if kind == "inlineReference":
            words += text_of(one.get("name")) or _path(one.get("inlineReference"))
            continue
        if kind not in _SILENT and words.strip():
            parts.append(Text(words))
            words = ""
        parts.extend(_piece(kind, one, into))
    return [*parts, Text(words)] if words.strip() else parts


def _piece(kind: Any, one: Record, into: Assembler) -> list[Part]:
    if kind == "thinking":
        value = one.get("value")
        text = "\n".join(map(str, value)) if isinstance(value, list) else text_of(value)
        return [Reasoning(text)] if text.strip() else []
    if kind in ("toolInvocationSerialized", "toolInvocation"):
        return [_invocation(one)]
    if kind == "textEditGroup":
        path = _path(one.get("uri"))
        texts = [
            text_of(edit.get("text"))
            for group in list_of(one.get("edits"))
            for edit in records_of(group)
        ]
        call = ToolCall("textEditGroup", "edit", path)
        call.changes = (Change(path, "edited", new="\n".join(filter(None, texts))),)
        return [call]
    if kind not in _SILENT:
        into.problems.add(f"unknown response part {kind!r}", "response", "note")
    return []


def _invocation(one: Record) -> ToolCall:
    tool = text_of(one.get("toolId"))
    message = _markdown(one.get("pastTenseMessage")) or _markdown(one.get("invocationMessage"))
    name = tool.removeprefix("copilot_")
    category = category_of(name)
    if category == "other":
        category = _CAMEL.get(name, "other")
    call = ToolCall(tool, category, "", text_of(one.get("toolCallId")))
    details = dict_of(one.get("resultDetails"))
    given = details.get("input")
    if isinstance(given, str):
        call = make_call(name, given, id=call.id)
        call.tool = tool
    call.finished = one.get("isComplete") is True
    call.output = "\n".join(
        text_of(part.get("value")) for part in records_of(details.get("output"))
    )
    _display(call, one)
    call.target = call.target or message
    return call


_CAMEL: dict[str, Any] = {
    "readFile": "read",
    "listDirectory": "read",
    "findFiles": "search",
    "findTextInFiles": "search",
    "searchCodebase": "search",
    "createFile": "write",
    "replaceString": "edit",
    "multiReplaceString": "edit",
    "insertEdit": "edit",
    "applyPatch": "edit",
    "editFiles": "edit",
    "runInTerminal": "shell",
    "getTerminalOutput": "shell",
    "fetchWebPage": "fetch",
}


def _markdown(value: Any) -> str:
    return value if isinstance(value, str) else text_of(dict_of(value).get("value"))


def _path(value: Any) -> str:
    inner = dict_of(value)
    uri = dict_of(inner.get("uri")) or dict_of(inner.get("location")) or inner
    return text_of(uri.get("fsPath")) or text_of(uri.get("path"))
