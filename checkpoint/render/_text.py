"""Session text as one safe line of Markdown: it cannot open a heading, a fence or a template.

Session text is data. Control, bidirectional and zero-width characters go; white space is folded
to one line; HTML, fences, links to evidence and table bars are escaped, so that what is read is
what was said.
"""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MARK = re.compile(r"\[(?=#\d)")
_START = re.compile(r"^(#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|\d{1,9}[.)]\s|={2,}|-{2,}|\|)")
_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1")


def clean(text: str) -> str:
    """Return one line without invisible characters and terminal codes, white space folded."""
    if not text.isascii() or not text.isprintable():
        text = _INVISIBLE.sub("", _ANSI.sub("", text).replace("\t", " ").replace("\n", " "))
        text = "".join(c for c in text if c.isprintable() or unicodedata.category(c) == "Zs")
    return " ".join(text.split())


def line(text: str, longest: int = 0) -> str:
    """Return session text as safe Markdown prose of one line.

    Args:
        text: what was said.
        longest: cut after so many characters, at a word, with "…"; 0 keeps all.
    """
    text = clean(text)
    if longest and len(text) > longest:
        text = cut(text, longest)
    text = _FENCE.sub(lambda m: "'" * len(m.group()), text)
    if text.count("`") % 2:
        text = text.replace("`", "'")
    pieces: list[str] = []
    at = 0
    for span in _SPAN.finditer(text):
        pieces += [_prose(text[at : span.start()]), _MARK.sub("(", span.group())]
        at = span.end()
    pieces.append(_prose(text[at:]))
    return _START.sub(r"\\\1", "".join(pieces))


def _prose(text: str) -> str:
    return _MARK.sub(r"\\[", _TAG.sub(r"\\<", text))


def cut(text: str, longest: int) -> str:
    """Cut at a word before `longest`, never inside a number, and say so with "…"."""
    if len(text) <= longest:
        return text
    short = text[:longest]
    space = short.rfind(" ")
    if space > longest // 2:
        short = short[:space]
    return short.rstrip(" ,;:(") + "…"


def code(text: str, longest: int = 0) -> str:
    """Return session text as a Markdown code span, whatever backticks it holds."""
    text = clean(text)
    if longest:
        text = cut(text, longest)
    if not text:
        return ""
    runs = [len(m) for m in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    if len(fence) > 2:
        text, fence = text.replace("`", "'"), "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{_MARK.sub('(', text)}{pad}{fence}"


def cell(text: str) -> str:
    """Return session text as a cell of a Markdown table."""
    return re.sub(r"(?<!\\)\|", r"\\|", _prose(_FENCE.sub("'''", clean(text))))


def marks(*messages: int) -> str:
    """Return the evidence mark of a line: "[#12]" or "[#12 #40]", ascending, at most four."""
    numbers = sorted(set(messages))
    if len(numbers) > 4:
        numbers = [numbers[0], *numbers[-3:]]
    return "[" + " ".join(f"#{n}" for n in numbers) + "]"
