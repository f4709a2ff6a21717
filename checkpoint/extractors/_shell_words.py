"""A command line in words: heredocs, lists and pipes, quotes.

A tokenizer of our own, in linear time: it takes garbage and half-quoted text without raising.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HEREDOC = re.compile(r"(?<!<)<<-?\s*(['\"]?)([A-Za-z_][\w.-]*)\1")


def take_heredocs(command: str) -> tuple[str, list[str]]:
    """Cut the bodies of heredocs out; the text keeps their marks, in order."""
    if "<<" not in command:
        return command, []
    lines = command.split("\n")
    kept: list[str] = []
    bodies: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        kept.append(line)
        at += 1
        for mark in HEREDOC.finditer(line):
            body: list[str] = []
            while at < len(lines) and lines[at].strip().rstrip("'\"") != mark.group(2):
                body.append(lines[at])
                at += 1
            rest = lines[at].strip() if at < len(lines) else ""
            if rest.endswith(("'", '"')):
                kept[-1] += rest[-1]
            at += 1
            bodies.append("\n".join(body))
    return "\n".join(kept), bodies


def pipelines(  # noqa: C901 - one pass over the characters
    text: str,
) -> Iterator[tuple[list[str], bool]]:
    """Yield the pipelines of a command line as (verbatim commands, runs in the background)."""
    pipeline: list[str] = []
    start = at = 0
    size = len(text)
    quote = ""
    depth = 0
    before: list[str] = []
    """What stands before `start` of the present command; comments in it are blank."""

    def taken(end: int) -> str:
        piece = "".join([*before, text[start:end]])
        before.clear()
        return piece

    while at < size:
        char = text[at]
        if quote:
            if char == "\\" and quote == '"':
                at += 2
                continue
            if char == quote:
                quote = ""
            at += 1
            continue
        if char == "\\":
            at += 2
            continue
        if char in "'\"`":
            quote = char
            at += 1
            continue
        if char == "$" and text[at + 1 : at + 2] == "(":
            depth += 1
            at += 2
            continue
        if char == "<" and text[at + 1 : at + 2] == "(":
            depth += 1
            at += 2
            continue
        if char == ")" and depth:
            depth -= 1
            at += 1
            continue
        if depth:
            if char == "(":
                depth += 1
            at += 1
            continue
        if char == "#" and (at == 0 or text[at - 1] in " \t\n;&|"):
            end = text.find("\n", at)
            end = size if end < 0 else end
            before += [text[start:at], " " * (end - at)]
            start = at = end
            continue
        two = text[at : at + 2]
        if two in ("&&", "||", ";;", "|&"):
            pipeline.append(taken(at))
            if two == "|&":
                start = at = at + 2
                continue
            yield pipeline, False
            pipeline, start = [], at + 2
            at += 2
            continue
        if char == "|" and text[at - 1 : at] != ">":
            pipeline.append(taken(at))
            start = at = at + 1
            continue
        if char in ";\n()" or (
            char == "&" and text[at - 1 : at] not in "><" and text[at + 1 : at + 2] != ">"
        ):
            pipeline.append(taken(at))
            yield pipeline, char == "&"
            pipeline, start = [], at + 1
        at += 1
    pipeline.append(taken(size))
    yield pipeline, False


def split(text: str) -> list[str]:
    """Split one simple command into words, quotes removed; never raises."""
    words: list[str] = []
    word: list[str] = []
    started = False
    quote = ""
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if quote:
            if char == "\\" and quote == '"' and text[at + 1 : at + 2] in '"\\$`\n':
                if text[at + 1 : at + 2] != "\n":
                    word.append(text[at + 1 : at + 2])
                at += 2
                continue
            if char == quote:
                quote = ""
            else:
                word.append(char)
        elif char in "'\"":
            quote, started = char, True
        elif char == "\\":
            if text[at + 1 : at + 2] != "\n":
                word.append(text[at + 1 : at + 2])
                started = True
            at += 2
            continue
        elif char in " \t\n\r":
            if started or word:
                words.append("".join(word))
            word, started = [], False
        elif char == "$" and text[at + 1 : at + 2] == "(":
            end = _closing(text, at + 1)
            word.append(text[at:end])
            at = end
            continue
        else:
            word.append(char)
        at += 1
    if started or word:
        words.append("".join(word))
    return words


def _closing(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        if text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)
