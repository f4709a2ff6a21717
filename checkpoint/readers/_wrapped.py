"""Prompts that a program wrote around a person's request, told by their form.

Programs that drive an agent put the agent's name, the directory, the branch, a session's id and
pages of rules before what the person asked for. Nothing in the file marks them, so several signs
must come together; a person's own well-ordered prompt has at most one of them.
"""

from __future__ import annotations

import re

from checkpoint.model import Text

MIN_CHARACTERS = 700
"""Shorter prompts are a person's, whatever they look like."""

_FACTS_WITHIN = 6_000
_FACT = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?\*{0,2}((?:agent|session|git|working|current|loop|run|auto[- ]?run|"
    r"project root|workspace|history file|read-only|platform|os version|repository|iteration)\b"
    r"[\w /-]{0,40}?):\*{0,2}(?=\s|$)",
    re.IGNORECASE | re.MULTILINE,
)
"""What a program knows of its own run and a person would not write down."""
_IDENTITY = re.compile(
    r"\A\s*(?:#[^\n]*\n\s*)?(?:You are|Your name is) (?:\*\*|`)|"
    r"^(?:You are|Your name is) [^\n.]{1,120}\b(?:managed|orchestrated|spawned|powered by)\b",
    re.MULTILINE,
)
_REQUEST = re.compile(
    r"^#{1,4}[ \t]+(?:(?:the|your|current|user|human|customer)(?:['’]s)?[ \t]+){0,2}"
    r"(?:request|message|prompt|query|input|tasks?|assignment|question|issue)[ \t]*:?[ \t]*$|"
    r"^<(user_(?:request|query|message|input|prompt)|request|task|query)>",
    re.IGNORECASE | re.MULTILINE,
)
"""Where such a prompt says that the person's own words begin."""
_REPORT = re.compile(
    r"\A\s*(?:provide|give|write|return|output|reply with)\b[^\n]{0,80}"
    r"\b(?:synopsis|summary|report|title)\b",
    re.IGNORECASE,
)
_SENTINEL = re.compile(r"\b(?:ONLY|exactly)\b[^\n]{0,40}?\b[A-Z]{2,}(?:_[A-Z]{2,})+\b")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


def split_program(text: str) -> list[Text] | None:
    """Return a program's prompt in pieces: its own words injected, the person's request not.

    None if no program wrote it. Without a place that is named as the request all is injected.
    """
    if len(text) < MIN_CHARACTERS or not (_is_frame(text) or _is_report(text)):
        return None
    begins = _request(text)
    if begins is None:
        return [Text(text.strip(), injected=True)]
    start, own, end = begins
    pieces = [(text[:start], True), (text[own:end], False), (text[end:], True)]
    return [Text(words.strip(), injected) for words, injected in pieces if words.strip()]


def _is_frame(text: str) -> bool:
    found = {match.group(1).lower() for match in _FACT.finditer(text[:_FACTS_WITHIN])}
    return len(found) + 2 * bool(_IDENTITY.search(text[:_FACTS_WITHIN])) >= 3


def _is_report(text: str) -> bool:
    """Whether a program asks for a report that it will cut up itself."""
    return _REPORT.match(text) is not None and _SENTINEL.search(text) is not None


def _request(text: str) -> tuple[int, int, int] | None:
    """Return where the request's heading begins, where the request begins and where it ends."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    for match in reversed(list(_REQUEST.finditer(text))):
        inside = sum(start < match.start() for start in fences) % 2
        if inside or not text[match.end() :].strip():
            continue
        tag = match.group(1)
        end = text.find(f"</{tag}>", match.end()) if tag else -1
        return match.start(), match.end(), end if end >= 0 else len(text)
    return None
