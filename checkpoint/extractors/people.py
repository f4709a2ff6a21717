"""People: what a person wants, orders, corrects, allows and answers, wherever they speak.

Only messages of origin `person` and a person's words inside tool results count. Pasted logs, code,
quotations and documents are not a person's words; of a long message with a pasted document the
person's own words are taken to be what stands before the document's first heading and after its
last block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from checkpoint.extractors._base import extractor
from checkpoint.extractors._cues import find
from checkpoint.extractors._prose import Block, blocks, plain, sentences, uncoded
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

GOAL = 420
"""Longest text of a goal, in characters."""
BRIEF = 700
"""In a longer message "must" and "you can" may describe a thing, not give a rule."""
DOCUMENT = 1_500
"""A longer message with headings or code is a pasted document with words around it."""

_LOG = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d?/\d\d?/\d\d(?:\d\d)?\b|\[?\d\d?:\d\d(?::\d\d|"
    r"[AP]M)|[○●◉◌◯├└│]|\w*(?:Error|Exception|Warning)\b ?[:(]|"
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL|panic|error|warning|fatal|"
    r"npm ERR!)\b[:\] ]|"
    r"File \"|at [\w.$<>/]+[( ]|Traceback |goroutine \d|thread '|#\d+ |\d+ \||[│|]|[{}\[\]()]+,?$|"
    r"[\w./-]+:\d+(?::\d+)?:? |[-+*/=<>]{3,}|\S+@\S+:\S*[$#] |[$%#] \w|E {2,})"
)
_NAME = r"[\w+/%-]+(?:\.[\w+/%-]+)*"  # no full stop behind it: a sentence ends there
_INSTEAD = re.compile(
    rf"(?:\buse |\bwith |\bto |\b)(?P<new>{_NAME}(?: {_NAME}){{0,3}}?),? "
    rf"(?:instead of|rather than|in place of) (?P<old>{_NAME}(?: {_NAME}){{0,2}})",
    re.IGNORECASE,
)
_INTERRUPT = re.compile(r"^\s*\[Request (?:interrupted|cancelled)[^\]]*\]\s*", re.IGNORECASE)


def log_like(text: str) -> bool:
    """Whether most lines of a block look like a program's output."""
    lines = [line for line in text.split("\n") if line.strip()]
    hits = sum(1 for line in lines if _LOG.match(line) or len(line) > 1_200)
    return hits * 2 > len(lines)


def own_words(text: str) -> list[Block]:
    """Return the blocks of a person's message that are their words."""
    found = [
        part
        for b in blocks(text)
        if b.kind in ("paragraph", "item", "heading")
        for part in _unlogged(b)
        if not log_like(part.text)
    ]
    if len(text) <= DOCUMENT:
        return found
    headings = [i for i, b in enumerate(found) if b.kind == "heading"]
    if not headings and len(found) <= 12:
        return found
    first = headings[0] if headings else 3
    before = found[:first] if first else found[:1]
    last = found[-1:] if found and found[-1].kind == "paragraph" and len(found) > first + 1 else []
    return [*before, *(b for b in last if len(b.text) < 400 and b not in before)] or found[:2]


def _unlogged(block: Block) -> list[Block]:
    """Cut a block of several lines where a program's output stands between a person's lines."""
    lines = block.text.split("\n")
    if len(lines) < 2 or not any(_LOG.match(line) for line in lines):
        return [block]
    pieces: list[list[str]] = [[]]
    for line in lines:
        if _LOG.match(line):
            # words may follow on a pasted line: "... forcing exit. What takes that much time?"
            behind = [s for s in sentences(line)[1:] if not _LOG.match(s) and s.count(" ") > 2]
            pieces += [[s] for s in behind]
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [replace(block, text="\n".join(piece)) for piece in pieces if piece]


@extractor
def people(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield what a person said: `said` once a message, `instruction` for each rule."""
    if message.role == "user" and message.origin == "person" and not message.subagent:
        text = _INTERRUPT.sub("", message.said())
        if text.strip():
            yield from _spoken(message, text, settings, "message")
    for call in message.calls():
        if call.person.strip() and not message.subagent:
            kind = "refusal" if call.refused else "answer"
            yield from _spoken(message, call.person, settings, kind)


def _spoken(message: Message, text: str, settings: Settings, where: str) -> Iterator[Fact]:
    if "acknowledgement" in find(settings, " ".join(text.split())[:300]):
        yield _said(message, text, where, acknowledgement=True, goal="", replaced=False)
        return
    goal: list[str] = []
    rules: list[str] = []
    replaced = False
    named = asks = why = False
    own = own_words(text)
    brief = len(text) <= BRIEF
    for block in own:
        if block.kind == "heading" and len(own) > 1:
            continue
        for sentence in sentences(block.text):
            cues = find(settings, uncoded(sentence))
            asked = "asks" in cues
            # What a person says when refusing a call is a correction, whatever its words.
            told = not asked and not sentence.rstrip().endswith(("?", "？"))
            if told and {"not_fixed", "complaint"} & cues.keys() and "hedge" not in cues:
                yield fact(message, "outcome", "", sentence, Authority.PERSON,
                           text=plain(sentence), good=False)  # fmt: skip
            rule = "instruction" in cues or "lift" in cues or where == "refusal"
            rule = rule or (
                brief and told and bool({"instruction_short", "lift_short"} & cues.keys())
            )
            rule = rule and not (sentence.endswith((":", "：")) and len(sentence) < 60)
            replaced = replaced or "goal_replaced" in cues
            if rule and not (asked and "standing" not in cues):
                rules.append(sentence)
                yield _rule(message, sentence, cues, where)
                if "goal_named" not in cues:
                    continue
            why = why or "asks_why" in cues
            named = named or "goal_named" in cues
            asks = asks or asked
            goal.append(sentence)
    for old, new, quote in _instead(own):
        yield fact(message, "instead", old, quote, Authority.PERSON, old=old, new=new)
    yield _said(
        message,
        text,
        where,
        acknowledgement=False,
        goal=_shorten(goal or ([] if where != "message" else rules)),
        replaced=replaced,
        named=named,
        asks=asks and not named,
        why=why,
        rules=len(rules),
        pasted=not own,
    )


def _rule(message: Message, sentence: str, cues: dict[str, re.Match[str]], where: str) -> Fact:
    return fact(
        message,
        "instruction",
        "",
        sentence,
        Authority.PERSON,
        text=plain(sentence),
        standing="standing" in cues,
        lift="lift" in cues or "lift_short" in cues,
        where=where,
    )


def _said(message: Message, text: str, where: str, **fields: Any) -> Fact:
    start = text.strip()
    return fact(
        message, "said", "", start, Authority.PERSON, text=plain(start)[:600], where=where, **fields
    )


def _shorten(goal: list[str]) -> str:
    """Join sentences up to `GOAL` characters, whole ones first."""
    joined = ""
    for sentence in goal:
        line = plain(sentence)
        if joined and len(joined) + len(line) > GOAL:
            break
        joined = f"{joined} {line}".strip()
    return joined[:GOAL]


def _instead(own: list[Block]) -> Iterator[tuple[str, str, str]]:
    for block in own:
        for match in _INSTEAD.finditer(block.text):
            yield match["old"].rstrip("."), match["new"], match.group(0)
