"""What Gemini CLI and Qwen Code share: content parts, tool names, shell results in text form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from checkpoint.model import Attachment, Category, Part, Reasoning, Text, ToolCall
from checkpoint.readers._calls import close_call
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import Record, dict_of, list_of, records_of, text_of

TABLE: dict[str, Category] = {
    "save_memory": "other",
    "list_directory": "read",
    "exit_plan_mode": "other",
    "todo_write": "todo",
    "activate_skill": "other",
    "codebase_investigator": "subagent",
    "invoke_agent": "subagent",
    "agent": "subagent",
    "task": "subagent",
}

_REFERENCED = "--- Content from referenced files ---"
_END = "--- End of content ---"
_CONTEXT = (
    "This is the Gemini CLI. We are setting up the context",
    "This is the Qwen Code. We are setting up the context",
    "<session_context>",
    "System: Please continue",
    "<hook_context>",
    "<task-notification>",
)
SNAPSHOT = "<state_snapshot>"


def person_parts(content: Any) -> list[Part]:
    """Return a user's content; what the program put into it is marked as injected.

    Injected are the files that an `@path` pulled in, set-up texts and shared reminder blocks.
    """
    parts: list[Part] = []
    inside = False
    for piece in _pieces(content):
        if not isinstance(piece, str):
            parts.append(piece)
            continue
        rest = piece
        while rest:
            mark = _END if inside else _REFERENCED
            before, found, after = rest.partition(mark)
            if inside:
                parts.append(Text((before + found).strip("\n"), injected=True))
            elif before.strip():
                parts.extend(_own(before))
            if not found:
                break
            if not inside:
                parts.append(Text(found, injected=True))
            inside = not inside
            rest = after
    return [part for part in parts if not (isinstance(part, Text) and not part.text.strip())]


def _own(text: str) -> list[Text]:
    if text.lstrip().startswith(_CONTEXT):
        return [Text(text.strip("\n"), injected=True)]
    return split_injected(text)


def _pieces(content: Any) -> Iterable[str | Attachment]:
    if isinstance(content, str):
        yield content
        return
    for part in list_of(content):
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            if isinstance(part.get("text"), str):
                if not part.get("thought"):
                    yield part["text"]
            elif attached := attachment(part):
                yield attached


def attachment(part: Record) -> Attachment | None:
    """Return the file that a content part carries, if it does."""
    data = dict_of(part.get("inlineData")) or dict_of(part.get("fileData"))
    if not data:
        return None
    name = text_of(data.get("displayName")) or text_of(data.get("fileUri"))
    return Attachment(name, text_of(data.get("mimeType")))


def model_text(content: Any) -> list[Part]:
    """Return the words of a model's content, without its thoughts and calls."""
    return [Text(one) for one in _pieces(content) if isinstance(one, str) and one.strip()]


def thoughts(value: Any) -> list[Part]:
    """Return the thoughts that Gemini CLI keeps beside a message."""
    found: list[Part] = []
    for one in records_of(value):
        words = [text_of(one.get("subject")), text_of(one.get("description"))]
        text = "\n".join(filter(None, words))
        if text:
            found.append(Reasoning(text))
    return found


def response_text(value: Any) -> tuple[str, bool]:
    """Return the text of `functionResponse` parts, and whether it is an error."""
    words: list[str] = []
    failed = False
    for part in [value] if isinstance(value, dict) else list_of(value):
        if isinstance(part, str):
            words.append(part)
            continue
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("text"), str):
            words.append(part["text"])
        response = dict_of(part.get("functionResponse")).get("response")
        if isinstance(response, dict):
            failed = failed or "error" in response
            words.extend(_response(response))
    return "\n".join(words), failed


def _response(response: Record) -> Iterable[str]:
    for key in ("output", "error", "content", "result"):
        value = response.get(key)
        if isinstance(value, str) and value:
            yield value
        elif value is not None and not isinstance(value, str):
            text, _failed = response_text(value)
            yield text or str(value)


_DENIED = re.compile(
    r"User denied execution|User did not allow|user cancelled|cancelled by the user", re.IGNORECASE
)


def give_result(call: ToolCall, output: str, failed: bool, status: str) -> None:
    """Put a result into its call; the shell's text form is taken apart."""
    if status == "cancelled":
        call.refused = bool(_DENIED.search(output))
        failed = True
    if status == "error":
        failed = True
    code = None
    if call.category == "shell":
        output, code, directory = shell_result(output)
        call.cwd = directory or call.cwd
    close_call(call, output, failed=failed, exit_code=code)
    if output.startswith(("Successfully created", "Created new file")):
        for change in call.changes:
            change.action = "created"
    elif call.category == "write" and output.startswith("Successfully overwrote"):
        for change in call.changes:
            change.action = "edited"
    if failed:
        call.changes = ()


_LABELS = ("Process Group PGID", "Background PIDs", "Signal", "Exit Code", "Error")
_NONE = ("(none)", "")


def shell_result(text: str) -> tuple[str, int | None, str]:
    """Return output, exit code and directory of a shell result in its text form.

    The form is `Command:`, `Directory:`, `Output:`, `Error:`, `Exit Code:`, `Signal:`,
    `Background PIDs:`, `Process Group PGID:` (newer ones leave out what is none); any other text
    is returned as it is.
    """
    inner = text.strip()
    if inner.startswith("<untrusted_context>"):
        inner = inner.removeprefix("<untrusted_context>").removesuffix("</untrusted_context>")
        inner = inner.strip("\n")
    begin = re.match(
        r"(?:Command: .*?\n)?(?:Directory: (.*?)\n)?(?:Output|Stdout): ", inner, re.DOTALL
    )
    if not begin:
        return text, None, ""
    body = inner[begin.end() :]
    labels: dict[str, str] = {}
    for label in _LABELS:
        at = body.rfind(f"\n{label}: ")
        if at >= 0 and (label == "Error" or "\n" not in body[at + 1 :]):
            labels[label] = body[at + len(label) + 3 :].strip()
            body = body[:at]
    error = labels.get("Error", "")
    if body == "(empty)":
        body = ""
    if error not in _NONE:
        body = f"{body}\n{error}".strip("\n")
    if labels.get("Background PIDs", "") not in _NONE:
        body = f"{body}\nBackground PIDs: {labels['Background PIDs']}".strip("\n")
    code = labels.get("Exit Code", "")
    directory = begin.group(1) or ""
    return (
        body,
        int(code) if re.fullmatch(r"-?\d{1,9}", code) else None,
        directory if directory.startswith("/") else "",
    )
