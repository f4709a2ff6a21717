"""Secrets out of text, before anything is keyed, kept, logged, cached or shown.

Three kinds of signs: tokens that their beginning gives away, values that their name gives away, and
random words that the words before them give away. One Aho-Corasick pass tells where a rule could
match; a pattern is tried only there, so the time is linear in the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick

from checkpoint.redact import _patterns as patterns
from checkpoint.redact import _rules, _values
from checkpoint.redact._rules import Rules

__all__ = ["Redactor", "Rules", "Span"]


class Span(NamedTuple):
    """A secret in a text: its place and its kind."""

    start: int
    end: int
    kind: str


_GENERIC = frozenset({"secret", "password", "authorization"})
"""Kinds that say less than a token's own."""


class Redactor:
    """Finds and masks secrets by one set of rules; it holds no state between texts."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._allow = rules.allow
        self._names: dict[str, bool] = {}
        self._endings = tuple("_" + one for one in rules.strong)
        table: dict[str, list[tuple[str, int]]] = {}

        def put(literal: str, what: str, index: int) -> None:
            table.setdefault(literal.lower(), []).append((what, index))

        for index, token in enumerate(rules.tokens):
            for literal in token.starts:
                put(literal, "token", index)
        for index, block in enumerate(rules.blocks):
            put(block.begin, "block", index)
        for literal in rules.strong:
            put(literal, "strong", 0)
        for literal in rules.weak:
            put(literal, "weak", 0)
        for literal in rules.context:
            put(literal, "context", 0)
        for literal, what in (
            ("://", "url"),
            ("bearer ", "bearer"),
            ("basic ", "bearer"),
            ("token ", "bearer"),
            ("apikey ", "bearer"),
            ("-u ", "user"),
            ("sshpass ", "sshpass"),
            ("mysql", "mysql"),
            ("mariadb", "mysql"),
        ):
            put(literal, what, 0)
        for index, literal in enumerate(_encoded(tuple(t.starts for t in rules.tokens))):
            put(literal, "base64", index)
        self._literals = sorted(table)
        self._meanings = [tuple(table[literal]) for literal in self._literals]
        self._automaton = AhoCorasick(self._literals)

    @classmethod
    def shipped(cls, extra: Mapping[str, Any] | None = None) -> Redactor:
        """Return the redactor of the shipped rules, with a user's laid over.

        Raises:
            SettingsError: the user's rules say something wrong.
        """
        return cls(_rules.laid_over(extra)) if extra else _plain()

    def digest(self) -> str:
        """Return a short name of the rules: equal for equal rules."""
        return self._rules.digest

    def spans(self, text: str) -> list[Span]:
        """Return the secrets of a text, in order, none overlapping."""
        if len(text) < 8:
            return []
        found = list(self._found(text))
        if (
            "\\\n" in text or "\\\r\n" in text or '"' in text or "'" in text
        ) and patterns.JOIN.search(text):
            found += self._joined(text)
        if not found:
            return []
        masks = [m.span() for m in patterns.MASK.finditer(text)] if "[redacted:" in text else []
        found = [s for s in found if not any(a < s.end and s.start < b for a, b in masks)]
        found.sort(key=lambda s: (s.start, s.kind in _GENERIC, -s.end))
        kept: list[Span] = []
        for span in found:
            if not kept or span.start >= kept[-1].end:
                kept.append(span)
            elif span.end > kept[-1].end:
                kept[-1] = Span(kept[-1].start, span.end, kept[-1].kind)
        return kept

    def text(self, text: str) -> str:
        """Return the text with each secret replaced by "[redacted:KIND]"."""
        spans = self.spans(text)
        if not spans:
            return text
        pieces: list[str] = []
        at = 0
        for span in spans:
            pieces += [text[at : span.start], f"[redacted:{span.kind}]"]
            at = span.end
        pieces.append(text[at:])
        return "".join(pieces)

    def tree(self, value: Any, name: str = "") -> Any:
        """Mask a JSON-like value: its strings, its keys, and what a secret's name stands over."""
        if isinstance(value, str):
            if (
                name
                and self._named(name)
                and _values.strong_secret(value)
                and not self._allowed(value)
            ):
                return "[redacted:secret]"
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(k)): self.tree(v, str(k)) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(one, name) for one in value]
        return value

    def _named(self, name: str) -> bool:
        known = self._names.get(name)
        if known is None:
            bare = name.lower().replace("-", "_")
            known = bare in self._rules.strong or bare.endswith(self._endings)
            if len(self._names) < 4_096:
                self._names[name] = known
        return known

    def _allowed(self, value: str) -> bool:
        return any(pattern.search(value) for pattern in self._allow)

    def _found(self, text: str) -> Iterator[Span]:
        lowered = text.lower()
        if len(lowered) != len(text):  # a few letters change their length; offsets must not move
            lowered = "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
        hits = self._automaton.find_matches_as_indexes(lowered, overlapping=True)
        for index, start, end in hits:
            for what, rule in self._meanings[index]:
                span = self._at(what, rule, text, start, end)
                if span is not None:
                    yield span

    def _at(self, what: str, rule: int, text: str, start: int, end: int) -> Span | None:
        if what == "token":
            return self._token(rule, text, start)
        if what == "block":
            return self._block(rule, text, start)
        if what == "strong":
            return self._strong(text, start, end)
        if what == "weak":
            return self._weak(text, start, end)
        if what == "context":
            return self._context(text, start, end)
        if what == "base64":
            return self._base64(text, start)
        if what == "url":
            return self._group(
                patterns.URL.match(text, start) or patterns.URL_TOKEN.match(text, start),
                "url-password",
            )
        pattern, kind = {
            "bearer": (patterns.BEARER, "authorization"),
            "user": (patterns.USER, "password"),
            "sshpass": (patterns.SSHPASS, "password"),
            "mysql": (patterns.MYSQL, "password"),
        }[what]
        if what != "mysql" and start and text[start - 1].isalnum():
            return None
        match = pattern.match(text, start)
        if what == "bearer" and match and not self._header(text, start, match["secret"]):
            return None
        return self._group(match, kind)

    def _header(self, text: str, start: int, value: str) -> bool:
        """Whether "Bearer X" is a header's: X looks random, or the header is named before it."""
        named = re.search(
            r"(?:authorization|x-[\w-]*)[\"']?\s*[:=]?\s*[\"']?$",
            text[max(0, start - 30) : start],
            re.I,
        )
        return (bool(named) and len(value) >= 12) or _values.random(value, least=20)

    def _group(self, match: re.Match[str] | None, kind: str) -> Span | None:
        if match is None:
            return None
        value = match["secret"]
        if _values.placeholder(value) or self._allowed(value) or "$" in value[:2]:
            return None
        return Span(match.start("secret"), match.end("secret"), kind)

    def _token(self, index: int, text: str, start: int) -> Span | None:
        token = self._rules.tokens[index]
        match = token.pattern.match(text, start)
        if match is None:
            return None
        if token.lead is not None:
            before = token.lead.search(text, max(0, start - 24), start)
            if before is None:
                return None
            start = before.start()
        elif (
            start
            and (text[start - 1].isalnum() or text[start - 1] in "_/+")
            and "secret" not in token.pattern.groupindex
        ):
            return None
        if match.end() < len(text) and patterns.INSIDE.match(text, match.end()):
            return None
        value = match.group()
        if self._allowed(value) or len(set(value[-16:])) < 5:
            return None
        if "secret" in token.pattern.groupindex:
            return Span(match.start("secret"), match.end("secret"), token.kind)
        return Span(start, match.end(), token.kind)

    def _block(self, index: int, text: str, start: int) -> Span | None:
        block = self._rules.blocks[index]
        if block.pattern.match(text, start) is None:
            return None
        end = block.end.search(text, start, min(len(text), start + block.longest))
        stop = end.end() if end else min(len(text), start + block.longest)
        return Span(start, stop, block.kind)

    def _value(self, text: str, end: int) -> tuple[re.Match[str], str, int, int] | None:
        match = patterns.ASSIGN.match(text, end)
        if match is None:
            return None
        which = "quoted" if match["quoted"] is not None else "bare"
        value = match[which]
        start = match.start(which)
        if which == "bare":
            value = value.rstrip(").]}:")
        return match, value, start, start + len(value)

    def _strong(self, text: str, start: int, end: int) -> Span | None:
        if start and text[start - 1].isalpha() and not _camel(text, start):
            return None
        if patterns.BEFORE_FLAG.search(text, max(0, start - 34), start) and text[end : end + 1] in (
            " ",
            "=",
        ):
            flag = patterns.FLAG.match(text, end)
            if flag and _values.strong_secret(flag["secret"]):
                return self._group(flag, "password")
        found = self._value(text, end)
        if found is None:
            return None
        match, value, at, stop = found
        if match["sign"].strip() in ("is", "ist", "es", "est", "是", "为") and not _values.random(
            value, least=8, bits=2.7
        ):
            return None
        if match["sign"] == "==" or not _values.strong_secret(value) or self._allowed(value):
            return None
        prose = (
            match["quoted"] is None
            and match["sign"] == ":"
            and text[match.start("sign") + 1 : match.start("sign") + 2] == " "
        )
        if prose and not any(c.isdigit() for c in value) and not text[start:end].isupper():
            return None  # "password: required": words after a colon
        return Span(at, stop, "secret" if "pass" not in text[start:end].lower() else "password")

    def _weak(self, text: str, start: int, end: int) -> Span | None:
        if start and text[start - 1].isalpha() and not _camel(text, start):
            return None
        found = self._value(text, end)
        if found is None:
            return None
        match, value, at, stop = found
        if match["sign"] == "==" or _values.placeholder(value) or _values.code(value):
            return None
        if not _values.random(value, least=16) or self._allowed(value):
            return None
        return Span(at, stop, "secret")

    def _context(self, text: str, start: int, end: int) -> Span | None:
        if start and text[start - 1].isalpha() and text[start - 1].isascii():
            return None
        match = patterns.WORD.match(text, end)
        if match is None:
            return None
        value = match["secret"]
        upper = any(c.isupper() for c in value) and any(c.islower() for c in value)
        if not upper or value.count("-") + value.count("_") + value.count("/") > 3:
            return None
        if not _values.random(value, least=20, bits=3.8) or self._allowed(value):
            return None
        return Span(match.start("secret"), match.end("secret"), "secret")

    def _base64(self, text: str, start: int) -> Span | None:
        while start and (text[start - 1].isalnum() or text[start - 1] in "+/_-"):
            start -= 1
            if len(text) - start > 40_000:
                return None
        match = patterns.BASE64.match(text, start)
        if match is None or len(match.group()) > 20_000:
            return None
        raw = match.group().rstrip("=").replace("-", "+").replace("_", "/")
        try:
            plain = base64.b64decode(raw + "=" * (-len(raw) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            return None
        if not plain.isprintable() and "\n" not in plain:
            return None
        for index, token in enumerate(self._rules.tokens):
            for literal in token.starts:
                at = plain.find(literal)
                if at >= 0 and self._token(index, plain, at) is not None:
                    return Span(match.start(), match.end(), token.kind)
        if "PRIVATE KEY-----" in plain:
            return Span(match.start(), match.end(), "private-key")
        return None

    def _joined(self, text: str) -> list[Span]:
        """Find tokens that are split over lines or over strings that are added up."""
        pieces: list[str] = []
        places: list[tuple[int, int]] = []  # (offset in the joined text, offset in the text)
        at = size = 0
        for gap in patterns.JOIN.finditer(text):
            places.append((size, at))
            pieces.append(text[at : gap.start()])
            size += gap.start() - at
            at = gap.end()
        places.append((size, at))
        pieces.append(text[at:])
        whole = "".join(pieces)
        found: list[Span] = []
        for span in self._found(whole):
            start, end = _origin(places, span.start), _origin(places, span.end - 1) + 1
            if end - start > span.end - span.start:  # it crosses a gap
                found.append(Span(start, end, span.kind))
        return found


def _camel(text: str, start: int) -> bool:
    return text[start].isupper() and text[start - 1].islower()


def _origin(places: list[tuple[int, int]], offset: int) -> int:
    low, high = 0, len(places) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if places[middle][0] <= offset:
            low = middle
        else:
            high = middle - 1
    return places[low][1] + offset - places[low][0]


@cache
def _plain() -> Redactor:
    return Redactor(_rules.shipped())


@cache
def _encoded(starts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return what the beginnings of tokens look like inside base64, at each of three alignments."""
    found: set[str] = set()
    for literal in (*(s for group in starts for s in group if len(s) >= 4), "-----BEGIN"):
        for shift in range(3):
            raw = base64.b64encode(b"\0" * shift + literal.encode()).decode().rstrip("=")
            piece = raw[-(-shift * 8 // 6) :][: (len(literal) * 8) // 6 - 1]
            if len(piece) >= 4:
                found.add(piece)
    return tuple(sorted(found))
