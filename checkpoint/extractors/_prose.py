"""Prose in blocks and sentences, with code, diffs, tables and quotations set apart.

A line scanner, not a Markdown parser: it must keep up with tens of megabytes. Every text it gives
is a verbatim piece of the message, so that it can stand as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["heading", "paragraph", "item", "quote", "code", "table"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_BOLD_HEADING = re.compile(r"[ \t]*(?:\d+[.)][ \t]+)?\*\*([^*]{2,90}?):?\*\*:?[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|(\d{1,3})[.)、]|[a-z][.)])[ \t]+(?=\S)")
_CHECKBOX = re.compile(r"\[([ xX~/-])\][ \t]+")
_RULE = re.compile(r"[ \t]*([-*_=─═][ \t]*){3,}$")
_CODE_LINE = re.compile(
    r"(?: {4}|\t)\S|[ \t]*(?:\$ |::[a-z][\w-]*\{|>>> |diff --git|@@ |\+\+\+ |--- a/|"
    r"index [0-9a-f]{6,}|"
    r"File \"|at [\w.$<>]+\(|Traceback |#include|import \w+$|from \w+ import |def \w+\(|"
    r"class \w+[(:])"
)
_SENTENCE = re.compile(
    r"(?<=[.!?])[\"'”’)\]*_`]*[ \t\n]+(?=[A-ZÀ-ÖØ-ÞА-ЯЁ0-9\"'“‘(\[*_`~+/@#¿¡✅❌⚠-]|[a-z]*[/.A-Z_])"
    r"|(?<=[.!?])[ \t]+(?=(?:also|and|but|so|then|now|please|pls|use|do|don't|never|always|it|"
    r"we|i)\b)"
    r"|(?<=[。！？])[”」』）]*\s*|\n(?=[ \t]*\S)(?<=[:：]\n)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|etc|no|fig|resp|incl|excl|max|min|al|z\.b|d\.h|u\.a|bzw|ca)\.|"
    r"\b[A-Z]\.|\d\.)$",
    re.IGNORECASE,
)
MAX_BLOCK = 6_000
"""Longer blocks of prose are dumps, not words; they are left out."""


@dataclass(slots=True, frozen=True)
class Block:
    """A paragraph, list item, heading, ... of a text."""

    kind: Kind
    text: str
    """Verbatim, without list marks; paragraphs may hold line breaks."""
    heading: str = ""
    """The nearest heading above."""
    above: tuple[str, ...] = ()
    """The headings above that one, outermost first."""
    lead: str = ""
    """Of a list item: the line that introduces the list."""
    number: int = 0
    """Of an item in an ordered list."""
    depth: int = 0
    """Of an item: 0 for the outermost."""
    checked: str = ""
    """Of an item with a check box: "x" done, " " open, "-" dropped or begun."""


@lru_cache(maxsize=256)
def blocks(text: str) -> tuple[Block, ...]:
    """Cut a text into blocks, in order. Blank lines part paragraphs."""
    return tuple(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:  # noqa: C901 - one pass over the lines
    heading = ""
    leads: dict[int, str] = {}  # depth of the items -> the line that introduces them
    path: list[tuple[int, str]] = []
    fence = ""
    pending: list[str] = []
    pending_kind: Kind = "paragraph"
    item: tuple[int, int, str] | None = None
    indents: list[int] = []

    def flush() -> Iterator[Block]:
        nonlocal pending, item, leads
        if pending:
            body = "\n".join(pending).strip()
            if body and len(body) <= MAX_BLOCK:
                number, depth, checked = item or (0, 0, "")
                above = tuple(title for _, title in path[:-1])
                yield Block(
                    pending_kind,
                    body,
                    heading,
                    above,
                    leads.get(depth) or leads.get(0, "") if item else "",
                    number,
                    depth,
                    checked,
                )
                last = pending[-1].rstrip()
                announces = last.strip() if last.endswith((":", "：", ":**")) else ""
                if pending_kind == "paragraph":
                    leads = {0: announces}
                elif item:
                    leads = {d: told for d, told in leads.items() if d <= depth}
                    leads[depth + 1] = announces
        pending, item = [], None

    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = ""
            continue
        if mark:
            yield from flush()
            fence = mark.group(1)
            continue
        if not line.strip():
            yield from flush()
            continue
        found = _HEADING.match(line) or (_BOLD_HEADING.match(line) if not pending else None)
        if found:
            yield from flush()
            heading, leads, indents = found.group(1).strip().strip("*:").strip(), {}, []
            marks = len(line.lstrip()) - len(line.lstrip().lstrip("#")) or 7  # bold is innermost
            path = [(level, title) for level, title in path if level < marks]
            path.append((marks, heading))
            yield Block("heading", found.group(1).strip() or line.strip(), heading)
            continue
        if line.lstrip().startswith(">"):
            yield from flush()
            yield Block("quote", line.strip(), heading)
            continue
        if line.lstrip().startswith("|") or line.lstrip()[:1] in "│┃┌├└┏┣┗╭╰":
            yield from flush()
            pending_kind = "table"
            yield Block("table", line.strip(), heading, lead=leads.get(0, ""))
            continue
        if _RULE.match(line):
            yield from flush()
            continue
        start = _ITEM.match(line)
        if start:
            yield from flush()
            indent = len(start.group(1).expandtabs(4))
            while indents and indents[-1] > indent:
                indents.pop()
            if not indents or indents[-1] < indent:
                indents.append(indent)
            body = line[start.end() :]
            box = _CHECKBOX.match(body)
            checked = ""
            if box:
                checked, body = box.group(1).lower(), body[box.end() :]
            pending_kind, pending = "item", [body]
            item = (int(start.group(2) or 0), len(indents) - 1, checked)
            continue
        if not pending and _CODE_LINE.match(line):
            continue
        if not pending:
            pending_kind, item, indents = "paragraph", None, []
        pending.append(line)
    yield from flush()


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Cut a block's text into sentences, each a verbatim piece of it."""
    if len(text) < 40 and "\n" not in text:
        stripped = text.strip()
        if not re.search(r"[.!?。！？]\s*\S", stripped):
            return (stripped,) if stripped else ()
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        head = text[start : match.start()]
        if _ABBREVIATION.search(head) or head.count("`") % 2:
            continue
        pieces.append(text[start : match.end()].strip())
        start = match.end()
    pieces.append(text[start:].strip())
    return tuple(piece for piece in pieces if piece)


_MARKUP = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_UNDERLINED = re.compile(r"(?<!\w)__(?=\S)([^_`\n]* [^_`\n]*)(?<=\S)__(?!\w)")
"""`__init__` is a name: only what holds a space is emphasis."""
_SPAN = re.compile(r"(`[^`\n]*`)")


def plain(text: str) -> str:
    """Return one line without Markdown emphasis and list marks; code spans keep their marks."""
    if "*" in text or "__" in text:
        pieces = _SPAN.split(text)  # every second one is code, and stays as it is
        pieces[::2] = [_UNDERLINED.sub(r"\1", _MARKUP.sub("", piece)) for piece in pieces[::2]]
        text = "".join(pieces)
    line = " ".join(text.split())
    return line.removeprefix("- ").strip()


_CODE_SPAN = re.compile(r"`[^`\n]*`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”")


def uncoded(text: str) -> str:
    """Return the text with code spans and quotations blanked out.

    No cue words are looked for there.
    """
    if "’" in text:
        text = text.replace("’", "'")
    if "`" not in text and '"' not in text and "“" not in text:
        return text
    return _CODE_SPAN.sub(lambda m: " " * len(m.group()), text)
