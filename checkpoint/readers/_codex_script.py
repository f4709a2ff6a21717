"""Codex' code mode: which tools a script calls, `tools.exec_command({cmd: "..."})`.

Scripts are JavaScript; only arguments that are literals are understood, nothing is evaluated.
"""

from __future__ import annotations

import re
from typing import Any

_CALL = re.compile(r"\btools\.(\w+)\s*\(\s*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_SPACE = re.compile(r"(?:\s+|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "", "\n": ""}
_PLAIN = {
    '"': re.compile(r'[^"\\]*'),
    "'": re.compile(r"[^'\\]*"),
    "`": re.compile(r"[^`\\$]*"),
    "raw": re.compile(r"[^`$]*"),
}
_DEPTH = 20


class _NotALiteral(Exception):  # noqa: N818 - it never leaves this module
    pass


def calls(script: str) -> list[tuple[str, Any]]:
    """Return the tools that a script calls, in order, each with its first argument.

    The argument is None where it is no literal.
    """
    found: list[tuple[str, Any]] = []
    for match in _CALL.finditer(script):
        try:
            value, _end = _value(script, match.end(), 0)
        except _NotALiteral:
            value = None
        found.append((match.group(1), value))
    return found


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _space(text, at)
    mark = text[at : at + 1]
    if mark in ('"', "'", "`") and mark:
        return _string(text, at + 1, mark, raw=False)
    if text.startswith("String.raw`", at):
        return _string(text, at + 11, "`", raw=True)
    if depth < _DEPTH and mark == "{":
        return _object(text, at + 1, depth + 1)
    if depth < _DEPTH and mark == "[":
        return _array(text, at + 1, depth + 1)
    if number := _NUMBER.match(text, at):
        return float(number.group()) if "." in number.group() else _whole(number), number.end()
    word = _NAME.match(text, at)
    if word and word.group() in _WORDS:
        return _WORDS[word.group()], word.end()
    raise _NotALiteral


def _whole(number: re.Match[str]) -> float:
    return float(number.group()) if "e" in number.group().lower() else int(number.group()[:18])


def _string(text: str, at: int, quote: str, *, raw: bool) -> tuple[str, int]:
    plain = _PLAIN["raw" if raw else quote]
    found: list[str] = []
    while match := plain.match(text, at):
        found.append(match.group())
        at = match.end()
        mark = text[at : at + 1]
        if mark == quote:
            return "".join(found), at + 1
        if mark == "\\":
            piece, at = _escape(text, at + 1)
            found.append(piece)
        elif mark == "$" and not text.startswith("${", at):
            found.append(mark)
            at += 1
        else:
            break
    raise _NotALiteral


def _escape(text: str, at: int) -> tuple[str, int]:
    mark = text[at : at + 1]
    length = {"u": 4, "x": 2}.get(mark, 0)
    if length:
        digits = text[at + 1 : at + 1 + length]
        if re.fullmatch(r"[0-9a-fA-F]+", digits) and len(digits) == length:
            code = int(digits, 16)
            return ("\ufffd" if 0xD800 <= code < 0xE000 else chr(code)), at + 1 + length
    return _ESCAPES.get(mark, mark), at + 1


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _space(text, at)
        if text.startswith("}", at):
            return found, at + 1
        key, at = _key(text, at)
        at = _space(text, at)
        if not text.startswith(":", at):
            raise _NotALiteral
        found[key], at = _member(text, at + 1, depth)
        at = _space(text, at)
        if text.startswith(",", at):
            at += 1
        elif not text.startswith("}", at):
            raise _NotALiteral


def _member(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return a value in an object; one that is no literal but a plain name is left empty."""
    try:
        return _value(text, at, depth)
    except _NotALiteral:
        word = _NAME.match(text, _space(text, at))
        if word and text[_space(text, word.end()) :][:1] in (",", "}"):
            return None, word.end()
        raise


def _key(text: str, at: int) -> tuple[str, int]:
    mark = text[at : at + 1]
    if mark in ('"', "'") and mark:
        return _string(text, at + 1, mark, raw=False)
    if name := _NAME.match(text, at):
        return name.group(), name.end()
    raise _NotALiteral


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _space(text, at)
        if text.startswith("]", at):
            return found, at + 1
        value, at = _value(text, at, depth)
        found.append(value)
        at = _space(text, at)
        if text.startswith(",", at):
            at += 1
        elif not text.startswith("]", at):
            raise _NotALiteral


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
