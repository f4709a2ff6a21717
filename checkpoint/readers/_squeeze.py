"""Keeping what is endlessly long within bounds: lines of a file, texts of a part."""

from __future__ import annotations

import re

from checkpoint.readers._base import MAX_TEXT

LONG_LINE = 4 << 20
"""A line of more bytes is squeezed while it is read."""

MAX_LINE = 48 << 20
"""A line of more bytes even after squeezing is left out."""

_KEEP = MAX_TEXT // 2
_ESCAPE = 6
_HIGH = re.compile(rb"\\u[dD][89abAB]")
_LOW = re.compile(rb"\\u[dD][c-fC-F]")
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/_=-]{256,})")


def kept_text(text: str) -> str:
    """Return a text without NUL, its packed pictures replaced by their kind and size."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if ";base64," in text:
        text = _DATA_URI.sub(_named, text)
    return text


def _named(match: re.Match[str]) -> str:
    media = match.group(1) or "data"
    return f"[{media} {len(match.group(2)) * 3 // 4000} kB]"


def middle_out(text: str, limit: int = MAX_TEXT) -> str:
    """Return a text of more than `limit` characters without its middle."""
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


class Squeezer:
    """Takes a long JSON line in pieces and shortens its long texts, so that it stays valid JSON."""

    def __init__(self) -> None:
        self.dropped = 0
        """Bytes left out so far."""
        self._out = bytearray()
        self._tail = bytearray()
        self._inside = False
        self._odd = False
        self._began = 0
        self._lost = 0
        self._over = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the line."""
        at = 0
        while at < len(piece) and not self._over:
            quote = self._closing(piece, at) if self._inside else piece.find(b'"', at)
            end = len(piece) if quote < 0 else quote
            if self._inside:
                self._body(piece[at:end])
                if quote >= 0:
                    self._close()
            else:
                self._out += piece[at:end]
                if quote >= 0:
                    self._out += b'"'
                    self._inside, self._odd, self._began = True, False, len(self._out)
            self._over = len(self._out) > MAX_LINE
            at = end + 1

    def result(self) -> bytes | None:
        """Return the shortened line; None if it is still too long."""
        return None if self._over else bytes(self._out)

    def _closing(self, piece: bytes, at: int) -> int:
        """Return where the text ends in `piece`, or -1; remembers a backslash at the end of it."""
        start = at
        while (quote := piece.find(b'"', at)) >= 0:
            if not self._escaped(piece, start, quote):
                self._odd = False
                return quote
            at = quote + 1
        self._odd = self._escaped(piece, start, len(piece))
        return -1

    def _escaped(self, piece: bytes, start: int, at: int) -> bool:
        """Whether what stands at `at` is escaped by an odd run of backslashes before it."""
        run = at
        while run > start and piece[run - 1] == 0x5C:
            run -= 1
        odd = (at - run) % 2 == 1
        return odd != self._odd if run == start else odd

    def _body(self, piece: bytes) -> None:
        room = _KEEP - (len(self._out) - self._began)
        if room > 0 and not self._tail:
            self._out += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 4 * _KEEP:
            cut = _safe_start(self._tail, len(self._tail) - 2 * _KEEP)
            self._lost += cut
            del self._tail[:cut]

    def _close(self) -> None:
        if len(self._tail) > _KEEP:
            cut = _safe_start(self._tail, len(self._tail) - _KEEP)
            _trim_end(self._out, self._began)
            self._lost += cut
            self._out += f"\\n[... {self._lost} bytes left out ...]\\n".encode()
            self._tail = self._tail[cut:]
        self._out += self._tail
        self._out += b'"'
        self.dropped += self._lost
        self._tail, self._lost, self._inside = bytearray(), 0, False


def _safe_start(text: bytearray, at: int) -> int:
    """Return the first place from `at` on where neither an escape nor a character is cut."""
    begun = text.rfind(b"\\", max(0, at - _ESCAPE + 1), at)
    if begun >= 0 and _escapes(text, begun, 0):
        at = max(at, begun + (_ESCAPE if text[begun + 1 : begun + 2] == b"u" else 2))
    if _LOW.match(text, at):
        at += _ESCAPE
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _escapes(text: bytearray, at: int, began: int) -> bool:
    """Whether the backslash at `at` begins an escape, and is not the end of one."""
    run = at
    while run > began and text[run - 1] == 0x5C:
        run -= 1
    return (at - run) % 2 == 0


def _trim_end(text: bytearray, began: int) -> None:
    """Take away an escape or a character that is cut at the end of `text`."""
    at = text.rfind(b"\\", max(began, len(text) - _ESCAPE))
    if at >= 0 and _escapes(text, at, began):
        length = _ESCAPE if text[at + 1 : at + 2] == b"u" else 2
        if len(text) - at < length or _HIGH.match(text, at):
            del text[at:]
        high = len(text) - _ESCAPE
        if high >= began and _HIGH.match(text, high) and _escapes(text, high, began):
            del text[high:]
    end = len(text)
    while end > began and text[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end > began and text[end - 1] >= 0xC0:
        del text[end - 1 :]
