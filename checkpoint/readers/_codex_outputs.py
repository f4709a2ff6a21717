"""Codex: what a tool's output says around what the command printed.

Each generation wraps it otherwise: a JSON text with `metadata.exit_code` (up to 0.9x); lines
`Exit code: N`; lines `Chunk ID`, `Process exited with code N` (0.104 on); blocks `Script completed`
of the code mode (0.14x on).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from checkpoint.readers._whole import dict_of, list_of, text_of

_HEADER = re.compile(
    r"Chunk ID: [^\n]*|Duration: [^\n]*|Wall time:? [^\n]*|Original token count: \d+|Output:"
    r"|Process exited with code (?P<code>-?\d{1,9})|Exit code: (?P<code2>-?\d{1,9})"
    r"|Process running with session ID (?P<session>\w+)|Script running with cell ID (?P<cell>\w+)"
    r"|Script (?P<script>completed|failed|terminated)[^\n]*"
    r"|(?P<cut>Total output lines: \d+|Warning: truncated output \(original token count: \d+\))"
)
_CUT = re.compile(
    r"…\d+ (?:tokens|chars|lines) truncated…|\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]"
)
_REJECTED = re.compile(
    r"\A(?:exec command |patch |command |tool call )?(?:rejected|denied|aborted) by (?:the )?user"
    r"|rejected by user\b",
    re.IGNORECASE,
)
_SESSION = re.compile(r"session[_ ]?id\"?\s*[=:]\s*\"?(\w{1,40})", re.IGNORECASE)
_FAILED = (
    "execution error:",
    "failed in sandbox:",
    "apply_patch verification failed:",
    "failed to parse function arguments",
    "unsupported call:",
    "aborted by user after",
    "command timed out",
)


@dataclass
class Output:
    """An output without its wrapping."""

    text: str
    exit_code: int | None = None
    running: str = ""
    """The session or cell in which the command goes on, if it had not ended."""
    truncated: bool = False
    failed: bool = False
    refused: bool = False


def flatten(value: Any) -> str:
    """Return an output, a text or a list of blocks or `{content, success}`, as one text."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return flatten(value.get("content") or value.get("content_items") or value.get("output"))
    words: list[str] = []
    for block in list_of(value):
        if isinstance(block, str):
            words.append(block)
        elif isinstance(block, dict):
            text = text_of(block.get("text"))
            words.append(text if text or "text" in block else f"[{block.get('type', 'block')}]")
    return "".join(one if one.endswith("\n") else one + "\n" for one in words).removesuffix("\n")


def unwrap(value: Any) -> Output:
    """Return what a command printed, and what the wrapping says of its end."""
    text = flatten(value)
    found = Output(text)
    if isinstance(value, dict) and value.get("success") is False:
        found.failed = True
    if text.startswith('{"') and _from_json(text, found):
        return _judged(found)
    _from_header(found)
    if found.exit_code is None and found.text.startswith('{"'):
        _from_json(found.text, found)
    if found.exit_code is None and not found.running and text.startswith("Script completed"):
        match = _SESSION.search(found.text[-300:])  # the script told it to the model
        found.running = match.group(1) if match else ""
    return _judged(found)


def _from_json(text: str, found: Output) -> bool:
    """Take a JSON text with an output and an exit code apart; False if it is something else."""
    if not ('"exit_code"' in text and '"output"' in text):
        return False
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return False
    code = dict_of(value.get("metadata")).get("exit_code", value.get("exit_code"))
    found.text = value["output"]
    found.exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    running = value.get("session_id")
    found.running = str(running) if found.exit_code is None and running is not None else ""
    if found.text.startswith("Total output lines: "):
        _from_header(found)
    return True


def _from_header(found: Output) -> None:
    text, at = found.text, 0
    while match := _HEADER.match(text, at):
        end = match.end()
        if end < len(text) and text[end] != "\n":
            break
        at = min(end + 1, len(text))
        code = match["code"] or match["code2"]
        if code:
            found.exit_code = int(code)
        found.running = match["session"] or match["cell"] or found.running
        found.failed = found.failed or match["script"] in ("failed", "terminated")
        found.truncated = found.truncated or bool(match["cut"])
        if match["cut"] and text.startswith("\n", at):
            at += 1
    found.text = text[at:]


def _judged(found: Output) -> Output:
    text, start = found.text, found.text[:300]
    cut = "truncated…" in text or "[... omitted " in text
    found.truncated = found.truncated or bool(found.running) or (cut and bool(_CUT.search(text)))
    found.refused = "user" in start and bool(_REJECTED.search(start))
    found.failed = (
        found.failed or found.refused or bool(found.exit_code) or start.startswith(_FAILED)
    )
    return found


def answers(text: str) -> str:
    """Return a person's answers from the output of `request_user_input`, a line each."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    found: list[str] = []
    for one in dict_of(dict_of(value).get("answers")).values():
        given = one.get("answers") if isinstance(one, dict) else one
        texts = [text_of(one) for one in (given if isinstance(given, list) else [given])]
        found.extend(one.removeprefix("user_note: ").strip() for one in texts if one.strip())
    return "\n".join(found)
