"""Files that belong to others: changed all or nothing, and given back as they were.

What a file was before us is kept in the user's state folder with the checksum of what we made of
it. As long as nobody else changed it, taking our part out gives back the very bytes; otherwise only
our part is taken out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from checkpoint.errors import CheckpointError
from checkpoint.hooks import places

OURS = (b"checkpoint-hook", b'"checkpoint"')
"""What shows that we are in a file."""


def read(path: Path) -> bytes | None:
    """Return a file's bytes; None if there is none.

    Raises:
        CheckpointError: it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error


def write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace a file whole; a link stays a link, and its permissions stay.

    Raises:
        CheckpointError: it cannot be written.
    """
    real = Path(os.path.realpath(path))
    try:
        if mode is None:
            mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o644
        real.parent.mkdir(parents=True, exist_ok=True)
        descriptor, hidden = tempfile.mkstemp(dir=real.parent, prefix=".checkpoint-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(hidden, mode)
            os.replace(hidden, real)
        except OSError:
            os.unlink(hidden)
            raise
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be written ({error.strerror}); nothing was changed"
        ) from error


def _record(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]
    return Path(places.state_home()) / "installed" / f"{name}.json"


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def change(path: Path, new: bytes, mode: int | None = None) -> None:
    """Write what we made of a file, and keep what it was.

    Where others changed it since we were in it, what it was without us is not known: then nothing
    is kept, and our part alone will be taken out.

    Raises:
        CheckpointError: it cannot be written.
    """
    before = read(path)
    former = _load(path)
    if former is not None and before is not None and former["made"] == _sum(before):
        original = former["before"]  # we changed it already: the original is older
        folders = former["folders"]
    elif before is not None and any(one in before for one in OURS):
        _record(path).unlink(missing_ok=True)
        write(path, new, mode)
        return
    else:
        original = None if before is None else base64.b64encode(before).decode()
        folders = [str(one) for one in path.parents if not one.exists()]
    kept = {"path": str(path), "made": _sum(new), "before": original, "folders": folders}
    record = _record(path)
    write(record, json.dumps(kept).encode(), 0o600)
    write(path, new, mode)


def give_back(path: Path, without: bytes | None) -> None:
    """Take our part out of a file.

    Args:
        path: the file.
        without: what is left without our part, for a file that others changed since; None: nothing
            is, so the file goes.

    Raises:
        CheckpointError: it cannot be written.
    """
    now, former = read(path), _load(path)
    if now is not None and former is not None and former["made"] == _sum(now):
        before = former["before"]
        without = None if before is None else base64.b64decode(before)
    if without is None:
        path.unlink(missing_ok=True)
        for folder in former["folders"] if former else []:
            try:
                os.rmdir(folder)
            except OSError:
                break  # others put something there
    elif without != now:
        write(path, without)
    _record(path).unlink(missing_ok=True)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        given = json.loads(_record(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    good = isinstance(given, dict) and {"made", "before", "folders"} <= set(given)
    return given if good else None
