"""One checkpoint as one file, to hand on without a remote.

The file is JSON: unlike a git bundle it can be read, searched and checked before it is taken in,
and it needs none of the session's earlier checkpoints. It holds `format`, `version`, the trailers
by name, `subject`, `body`, `at` and `files`, each either `{"text": ...}` or `{"base64": ...}`.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from checkpoint.errors import StoreError
from checkpoint.store.checkpoints import SUBJECT_LONGEST, Checkpoint, one_line
from checkpoint.store.commit import legal_name

FORMAT = "session-checkpoint"
VERSION = 1
LARGEST_BYTES = 256 * 1024 * 1024

_TRAILERS = (
    "Id",
    "Agent",
    "Session",
    "Continues",
    "Messages",
    "Reason",
    "Head",
    "Branch",
    "Dirty",
    "Version",
)


@dataclass(frozen=True, slots=True)
class Brought:
    """A checkpoint as a file brought it: checked for form, not for truth."""

    id: str
    agent: str
    session: str
    subject: str
    body: str
    stamp: int
    trailers: Mapping[str, str]
    files: Mapping[str, bytes]


def export(checkpoint: Checkpoint, files: Mapping[str, bytes], body: str, path: Path) -> None:
    """Write a checkpoint to a file; an existing one is replaced whole or not at all.

    Raises:
        StoreError: the file cannot be written.
    """
    record = {
        "format": FORMAT,
        "version": VERSION,
        "trailers": {key: str(getattr(checkpoint, key.lower())) for key in _TRAILERS},
        "subject": checkpoint.subject,
        "body": body,
        "at": checkpoint.at.isoformat(),
        "files": {name: _packed(content) for name, content in files.items()},
    }
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    made = ""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            made = file.name
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)  # noqa: PTH105 - a name, not a path
    except OSError as error:
        if made:
            Path(made).unlink(missing_ok=True)
        raise StoreError(f"{path}: cannot be written ({error.strerror})") from error


def load(path: Path) -> Brought:
    """Read what `export` wrote; every part of it is foreign.

    Raises:
        StoreError: it is no exported checkpoint, damaged, too large, or of a newer version.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise StoreError(f"{path}: larger than {LARGEST_BYTES >> 20} MB; no checkpoint is")
        record = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: not an exported checkpoint (no valid JSON)") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise StoreError(f"{path}: not a checkpoint that `checkpoint export` wrote")
    if record.get("version") != VERSION:
        raise StoreError(
            f"{path}: written in format {record.get('version')!r}, and this program reads "
            f"{VERSION}; update it"
        )
    return _brought(path, record)


def _packed(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def _brought(path: Path, record: Mapping[str, Any]) -> Brought:
    said = record.get("trailers")
    trailers = {
        key: one_line(value)
        for key in _TRAILERS
        if isinstance(said, dict) and isinstance(value := said.get(key), str)
    }
    if not re.fullmatch(r"[0-9A-Za-z]{4,64}", trailers.get("Id", "")):
        raise StoreError(f"{path}: damaged, the checkpoint has no usable id; export it again")
    if not trailers.get("Agent") or not trailers.get("Session"):
        raise StoreError(f"{path}: damaged, agent or session is missing; export it again")
    return Brought(
        id=trailers["Id"],
        agent=trailers["Agent"],
        session=trailers["Session"],
        subject=one_line(str(record.get("subject", "")), SUBJECT_LONGEST),
        body=str(record.get("body", "")),
        stamp=_stamp(path, record.get("at")),
        trailers=trailers,
        files=_files(path, record.get("files")),
    )


def _stamp(path: Path, said: object) -> int:
    try:
        at = datetime.fromisoformat(str(said))
        return max(0, int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()))
    except (ValueError, OverflowError) as error:
        raise StoreError(f"{path}: damaged, its time is {said!r}; export it again") from error


def _files(path: Path, said: object) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, packed in said.items() if isinstance(said, dict) else ():
        content: bytes | None = None
        if isinstance(packed, dict) and isinstance(packed.get("text"), str):
            content = packed["text"].encode("utf-8", "replace")
        elif isinstance(packed, dict) and isinstance(packed.get("base64"), str):
            try:
                content = base64.b64decode(packed["base64"], validate=True)
            except binascii.Error:
                content = None
        if content is None or not legal_name(name):
            raise StoreError(f"{path}: damaged, the file {name!r} cannot be used; export it again")
        files[name] = content
    if not files:
        raise StoreError(f"{path}: damaged, no files in it; export it again")
    return files
