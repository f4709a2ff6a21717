"""The store for a directory without a repository: a bare one in the user's data directory."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from checkpoint.errors import StoreError
from checkpoint.store.git import Git
from checkpoint.store.place import Repository


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's data directory, as the XDG specification says."""
    base = environ.get("XDG_DATA_HOME", "")
    # the specification: a relative path is invalid and to be ignored
    return Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"


def bare_path(directory: Path, data_home: Path | None) -> Path:
    """Return where the store of a directory lies; the same path for the same directory."""
    real = Path(os.path.realpath(directory))
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", real.name).strip(".-")[:40] or "root"
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    return (data_home or data_folder()) / "checkpoint" / "stores" / f"{slug}-{digest}.git"


def bare(path: Path) -> Repository:
    """Describe the bare repository at a path, which need not exist yet."""
    return Repository(path, path, work_tree=False, algorithm="sha1")


def create(path: Path, directory: Path) -> None:
    """Make the bare repository unless it is there; whoever comes second finds the first one's.

    Raises:
        StoreError: it cannot be made.
    """
    if (path / "HEAD").is_file():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=path.parent))  # mode 0700
    except OSError as error:
        raise StoreError(
            f"{path.parent}: the store outside a repository cannot be made ({error.strerror}); "
            "set XDG_DATA_HOME to a folder that can be written"
        ) from error
    try:
        Git(made).run(
            "init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(made),
            config={"init.defaultBranch": "main"},
        )  # fmt: skip
        (made / "description").write_text(f"Checkpoints of {os.path.realpath(directory)!r}\n")
        made.rename(path)
    except OSError as error:
        if not (path / "HEAD").is_file():
            raise StoreError(f"{path}: cannot be made ({error.strerror})") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
