"""Where the shipped templates and configuration lie: in the wheel, or beside the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """Return the folder of shipped files called `name` ("templates" or "config").

    A wheel carries them inside the package under an underscore; a checkout has them beside it.
    Inside comes first, so that a stray folder in site-packages never wins.
    """
    inside = _PACKAGE / f"_{name}"
    return inside if inside.is_dir() else _PACKAGE.parent / name
