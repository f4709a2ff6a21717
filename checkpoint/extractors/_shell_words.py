"""A command line in pieces: words without quotes, redirections, heredocs, operators.

A tokenizer of our own, one pass in linear time: it takes garbage, half-quoted text and documents
without an end, and never raises. What a shell would expand stays as it is written, except the
variables in `known`. Grammar: POSIX shell, chapter 2 of the standard's shell volume, with the
`[[`, `$'..'`, `&>`, `<<<`, `<(..)` and arrays of bash and zsh.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Piece:
    """One simple command as it was written."""

    start: int
    end: int
    words: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Where each word begins in the text."""
    redirects: list[tuple[str, str, str]] = field(default_factory=list)
    """(descriptor, operator, target) in order; the descriptor is "" or digits."""
    documents: list[str] = field(default_factory=list)
    """Bodies of its heredocs."""


_PLAIN = re.compile(r"[^\s\\'\"`$()<>;&|]+")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;|()\n]|&(?!>)")
_REDIRECT = re.compile(r"(\d{0,3})(<<<|<<-?|<>|<&|>>|>&|>\||[<>](?!\())|(&)(>>?)")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)\\?([A-Za-z_][\w.-]*)\1")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_BRACED = re.compile(r"\$\{[^}\n]*\}")
_EMPTY = re.compile(r"\(\s*\)")
_DEEP = re.compile(r"[^'\"`$()\\<\n#]+")
_DOUBLE = re.compile(r"[^\"\\$`]+")


def pieces(text: str, known: Mapping[str, str]) -> Iterator[tuple[Piece | None, str]]:
    """Yield each simple command with the operator behind it; "" at the end of the text.

    `known` may be filled while iterating: what it holds is put in for `$NAME` and `${NAME}`.
    """
    return _Lexer(text, known).pieces()


class _Lexer:
    """The place in the text, and the heredocs whose bodies are still to come."""

    def __init__(self, text: str, known: Mapping[str, str]) -> None:
        self.text, self.known = text, known
        self.at, self.size = 0, len(text)
        self.line_end = self.after = -1
        """The end of a line that asked for heredocs, and the place behind their bodies."""
        self.ends: dict[str, list[tuple[int, int]]] | None = None

    def pieces(self) -> Iterator[tuple[Piece | None, str]]:
        text, piece = self.text, None
        while self.at < self.size:
            char = text[self.at]
            if char in " \t\r":
                self.at += 1
            elif char == "\\" and text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = self.size if end < 0 else end
            elif piece is not None and _testing(piece) and char in "&|()<>":
                self._append(piece, char, self.at)
                self.at += 1
                piece.end = self.at
            elif operator := _OPERATOR.match(text, self.at):
                if char == "(" and self._no_group(piece):
                    piece = None
                    continue
                self.at = operator.end()
                yield piece, operator.group()
                if char == "\n" and self.at == self.line_end + 1:
                    self.at = self.after
                piece = None
            else:
                piece = piece or Piece(self.at, self.at)
                self._part(piece)
                piece.end = self.at
        yield piece, ""

    def _no_group(self, piece: Piece | None) -> bool:
        """Skip `name()` of a function and `((..))`; False if a group begins here."""
        if piece is not None and (empty := _EMPTY.match(self.text, self.at)):
            self.at = empty.end()
            return True
        if piece is None and self.text.startswith("((", self.at):
            self.at = self._nested(self.at + 1)
            return True
        return False

    def _append(self, piece: Piece, word: str, place: int) -> None:
        piece.words.append(word)
        piece.places.append(place)

    def _part(self, piece: Piece) -> None:
        """Take a redirection or a word."""
        match = _REDIRECT.match(self.text, self.at)
        if match is None:
            place = self.at
            word = self._word()
            if self.at == place:  # nothing that a word may begin with
                self.at += 1
            else:
                self._append(piece, word, place)
            return
        descriptor, operator = match[1] or "", match[2] or match[3] + match[4]
        self.at = match.end()
        while self.at < self.size and self.text[self.at] in " \t":
            self.at += 1
        target = self._word() if self.at < self.size else ""
        if operator in ("<<", "<<-"):
            if target:
                self._document(piece, target)
        else:
            piece.redirects.append((descriptor, operator, target))

    def _word(self) -> str:
        text, out, start = self.text, [], self.at
        while self.at < self.size:
            if plain := _PLAIN.match(text, self.at):
                out.append(plain.group())
                self.at = plain.end()
                continue
            char = text[self.at]
            follows = text[self.at + 1 : self.at + 2]
            if char in " \t\r\n;|&)":
                break
            if char in "<>" or (char == "(" and self.at > start):
                if char != "(" and follows != "(":
                    break
                if char == "(" and _EMPTY.match(text, self.at):
                    break
                out.append(self._taken(self._nested(self.at + (1 if char == "(" else 2))))
            elif char == "(":
                break
            elif char == "\\":
                out.append("" if follows == "\n" else follows)
                self.at += 2
            elif char == "'":
                out.append(self._quoted(self.at + 1))
            elif char == '"':
                self.at += 1
                self._double(out)
            elif char == "`":
                out.append(self._taken(self._ticked(self.at + 1)))
            else:
                self._dollar(out, follows)
        self.at = min(self.at, self.size)
        return "".join(out)

    def _taken(self, end: int) -> str:
        taken = self.text[self.at : end]
        self.at = end
        return taken

    def _quoted(self, at: int) -> str:
        end = self.text.find("'", at)
        end = self.size if end < 0 else end
        self.at = end + 1
        return self.text[at:end]

    def _ticked(self, at: int) -> int:
        """Return the place behind the closing backtick."""
        while at < self.size and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        return min(at + 1, self.size)

    def _double(self, out: list[str]) -> None:
        text = self.text
        while self.at < self.size:
            if plain := _DOUBLE.match(text, self.at):
                out.append(plain.group())
                self.at = plain.end()
                continue
            char, follows = text[self.at], text[self.at + 1 : self.at + 2]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                out.append(
                    "" if follows == "\n" else follows if follows in '"\\$`' else "\\" + follows
                )
                self.at += 2
            elif char == "`":
                out.append(self._taken(self._ticked(self.at + 1)))
            else:
                self._dollar(out, follows, quoted=True)

    def _dollar(self, out: list[str], follows: str, *, quoted: bool = False) -> None:
        """Take what begins with a dollar sign."""
        if follows == "(":
            out.append(self._taken(self._nested(self.at + 2)))
        elif follows == "'" and not quoted:
            end = self.at + 2
            while end < self.size and self.text[end] != "'":
                end += 2 if self.text[end] == "\\" else 1
            out.append(self.text[self.at + 2 : end].replace("\\n", "\n").replace("\\'", "'"))
            self.at = end + 1
        elif match := _VARIABLE.match(self.text, self.at):
            out.append(self.known.get(match[1] or match[2], match.group()))
            self.at = match.end()
        elif match := _BRACED.match(self.text, self.at):
            out.append(match.group())
            self.at = match.end()
        else:
            out.append("$")
            self.at += 1

    def _nested(self, at: int) -> int:  # noqa: C901 - one pass over the characters
        """Return the place behind the parenthesis that closes what was opened before `at`."""
        text, size = self.text, self.size
        stack = [")"]
        tags: list[str] = []
        while at < size:
            if stack[-1] == '"':
                if plain := _DOUBLE.match(text, at):
                    at = plain.end()
                    continue
            elif plain := _DEEP.match(text, at):
                at = plain.end()
                continue
            char = text[at]
            if char == "\\":
                at += 2
            elif char == '"':
                stack.pop() if stack[-1] == '"' else stack.append('"')
                at += 1
            elif char == "`":
                at = self._ticked(at + 1)
            elif char == "$" and text[at + 1 : at + 2] == "(":
                stack.append(")")
                at += 2
            elif stack[-1] == '"':
                at += 1
            elif char == "'":
                end = text.find("'", at + 1)
                at = size if end < 0 else end + 1
            elif char == "(":
                stack.append(")")
                at += 1
            elif char == ")":
                stack.pop()
                at += 1
                if not stack:
                    return at
            elif char == "#" and text[at - 1] in " \t\n;(":
                end = text.find("\n", at)
                at = size if end < 0 else end
            elif char == "<" and (mark := _HEREDOC.match(text, at)):
                tags.append(mark[2])
                at = mark.end()
            elif char == "\n":
                at += 1
                for tag in tags:
                    found = self._end(tag, at)
                    at = found[1] if found else at
                tags = []
            else:
                at += 1
        return size

    def _document(self, piece: Piece, tag: str) -> None:
        """Take the body of a heredoc, behind this line; one without an end takes the rest."""
        if self.line_end < self.at:
            end = self.text.find("\n", self.at)
            self.line_end = self.size if end < 0 else end
            self.after = min(self.line_end + 1, self.size)
        begin, after = self._end(tag, self.after) or (self.size, self.size)
        piece.documents.append(self.text[self.after : begin].removesuffix("\n"))
        self.after = min(after + 1, self.size) if self.text[after : after + 1] == "\n" else after

    def _end(self, tag: str, at: int) -> tuple[int, int] | None:
        """Return where the line that ends a heredoc begins, and where the tag in it ends."""
        if self.ends is None:
            self.ends = {}
            place = 0
            for line in self.text.split("\n"):
                bare = line.strip()
                if bare and len(bare) < 64:
                    mark = bare.rstrip(")")  # `$(cat <<EOF .. EOF)`: bash takes it
                    left = place + len(line) - len(line.lstrip())
                    self.ends.setdefault(mark, []).append((place, left + len(mark)))
                place += len(line) + 1
        places = self.ends.get(tag, [])
        index = bisect_left(places, (at, 0))
        return places[index] if index < len(places) else None


def _testing(piece: Piece) -> bool:
    """Whether a `[[` is open, in which `&&` and `<` are no operators of the shell."""
    return piece.words[:1] == ["[["] and piece.words[-1] != "]]"
