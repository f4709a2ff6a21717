"""Who speaks, in texts for people: headings, bold words or plain words that name a role."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Speaker = Literal["user", "assistant", "system", "tool"]

_NAMES: dict[Speaker, str] = {
    "user": "user|human|you|you said|me|prompt|user prompt|user message|question|usuario|nutzer|"
    "utilisateur|пользователь|用户|人类|ユーザー",
    "assistant": "assistant|ai|ai assistant|agent|bot|model|claude|claude code|codex|chatgpt|"
    "chatgpt said|gemini|copilot|github copilot|cursor|opencode|aider|llm|response|answer|"
    "assistant response|gpt[-\\w. ]{0,20}|claude[-\\w. ]{1,30}|gemini[-\\w. ]{1,30}|asistente|"
    "ассистент|助手|アシスタント",
    "system": "system|system prompt|system message|系统",
    "tool": "tool|tool result|tool output|tool response|function|function result|output|工具",
}
_ROLES: list[tuple[Speaker, re.Pattern[str]]] = [
    (role, re.compile(rf"(?:{names})\Z", re.IGNORECASE)) for role, names in _NAMES.items()
]


class Line(NamedTuple):
    """A line that begins somebody's words."""

    speaker: Speaker
    style: str
    """How it is marked: "##", "**", ":"; one document keeps to one."""
    about: str
    """What the line says beyond the role: a time, a model."""
    rest: str
    """Words that follow on the same line."""


_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_BOLD = re.compile(r"^\*\*([^*\n]{1,60})\*\*[ \t]*(:?)[ \t]*(.*)$")
_PLAIN = re.compile(
    r"^(\[?)([A-Za-zА-Яа-я\u3040-\u30ff\u4e00-\u9fff][\w .-]{0,30})(\]?)[:：][ \t]*(.*)$"
)
_ABOUT = re.compile(r"[\s:–—·|-]*[(\[]([^()\[\]]{1,120})[)\]][\s:]*\Z|\s+[-–—·|]\s+(.{1,80})\Z")
_LEAD = re.compile(
    r"\A[^\w\s]*\s*(?:\d{1,5}[.):]\s*)?(?:turn|message)?\s*#?\d{0,5}[:.]?\s*", re.IGNORECASE
)


def role_of(name: str) -> Speaker | None:
    """Return the role that a name stands for, None if it is none."""
    bare = _LEAD.sub("", name.strip()).strip().strip(":").strip()
    for role, pattern in _ROLES:
        if pattern.match(bare):
            return role
    return None


def role_line(line: str) -> Line | None:
    """Return what a line says of who speaks next, None if it is no such line."""
    if heading := _HEADING.match(line):
        name, about = _split(heading.group(2).replace("**", ""))
        role = role_of(name)
        return Line(role, heading.group(1), about, "") if role else None
    if bold := _BOLD.match(line):
        inner, colon, rest = bold.groups()
        if not colon and not inner.rstrip().endswith(":") and rest:
            return None
        name, about = _split(inner)
        role = role_of(name)
        return Line(role, "**", about, rest) if role else None
    if plain := _PLAIN.match(line):
        role = role_of(plain.group(2))
        return Line(role, ":", "", plain.group(4)) if role else None
    return None


def _split(name: str) -> tuple[str, str]:
    match = _ABOUT.search(name)
    if not match:
        return name, ""
    return name[: match.start()], (match.group(1) or match.group(2) or "").strip()


class Turn(NamedTuple):
    """What somebody said, with the line that began it."""

    line: Line
    text: str
    number: int
    """The line in the file, from 1."""


_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")


def turns(text: str) -> list[Turn]:
    """Cut a text into turns by the style that names both a user and an assistant most often.

    Lines inside fences begin nothing. Empty if no style names both.
    """
    lines = text.split("\n")
    marks = _marks(lines)
    styles = {line.style for _number, line in marks}

    def both(style: str) -> bool:
        roles = {line.speaker for _number, line in marks if line.style == style}
        return {"user", "assistant"} <= roles

    usable = [style for style in sorted(styles) if both(style)]
    if not usable:
        return []
    best = max(usable, key=lambda style: sum(line.style == style for _n, line in marks))
    chosen = [(number, line) for number, line in marks if line.style == best]
    found: list[Turn] = []
    for place, (number, line) in enumerate(chosen):
        end = chosen[place + 1][0] if place + 1 < len(chosen) else len(lines)
        body = "\n".join([line.rest, *lines[number + 1 : end]]).strip("\n")
        body = re.sub(r"(?:\n|\A)\s*(?:---+|\*\*\*+|===+)\s*\Z", "", body).strip("\n")
        found.append(Turn(line, body, number + 1))
    return found


def _marks(lines: list[str]) -> list[tuple[int, Line]]:
    marks: list[tuple[int, Line]] = []
    fence = ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match:
            mark = match.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and line.strip() == mark:
                fence = ""
        elif not fence and line[:1] not in (" ", "\t", "") and (found := role_line(line)):
            marks.append((number, found))
    return marks
