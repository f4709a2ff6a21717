"""Opening session files: packed ones (`.gz`, `.zst`) are unpacked while they are read.

The first bytes tell, not the name. A packed file that breaks off gives what could be unpacked; the
reader is told by `Unpacked.broken`.
"""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

from checkpoint.errors import ReadError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class Unpacked(io.RawIOBase):
    """A stream that ends where the packed one breaks, instead of raising."""

    def __init__(self, inner: Any, breaks: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._inner = inner
        self._breaks = breaks
        self.broken = ""
        """Why the packed file could not be read to its end; "" while it could."""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        view = memoryview(into)
        try:
            piece = self._inner.read(len(view))
        except self._breaks as error:
            self.broken = str(error) or type(error).__name__
            return 0
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def open_bytes(path: Path) -> BinaryIO:
    """Open a session file for reading, unpacked.

    A packed stream cannot seek; `broken_off` tells afterwards whether it ended early.

    Raises:
        ReadError: there is no such file, it cannot be opened, or it is packed with zstd and the
            `zstandard` package is not there.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise ReadError(f"{path}: no such file") from None
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        start = file.peek(4)[:4]
    except OSError as error:
        file.close()
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from error
    if start.startswith(_GZIP):
        inner = gzip.GzipFile(fileobj=file)
        return _buffered(Unpacked(_Both(inner, file), (OSError, EOFError, zlib.error)))
    if start == _ZSTD:
        return _buffered(_zstd(path, file))
    return file


def broken_off(file: BinaryIO) -> str:
    """Return why a packed file ended early, "" if it did not or is not packed."""
    return str(getattr(getattr(file, "raw", None), "broken", ""))


class _Both:
    """Closes the packed file along with what unpacks it."""

    def __init__(self, inner: Any, file: BinaryIO) -> None:
        # One step at a time: a longer read would lose what it had when the stream breaks.
        self.read = getattr(inner, "read1", inner.read)
        self._closing = (inner, file)

    def close(self) -> None:
        for thing in self._closing:
            thing.close()


def _buffered(raw: Unpacked) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(raw, 1 << 18))


def _zstd(path: Path, file: BinaryIO) -> Unpacked:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        file.close()
        raise ReadError(
            f"{path}: packed with zstd, which needs the package `zstandard`; "
            "install `session-checkpoint[zstd]`, or unpack the file"
        ) from None
    inner = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return Unpacked(_Both(inner, file), (zstandard.ZstdError, OSError))
