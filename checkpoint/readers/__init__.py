"""Readers: one file an agent. A new reader is one new file here and its fixture folder.

Files whose name begins with an underscore are shared parts, not readers.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from checkpoint.errors import AmbiguousFormatError, ReadError
from checkpoint.readers._base import Found, Head, Problems, Reader, Reading

__all__ = ["Found", "Problems", "Reader", "Reading", "by_name", "identify", "readers"]


@cache
def readers() -> dict[str, Reader]:
    """Return all readers by name, in order of name.

    Every `Reader` subclass with a `name` that a module of this folder defines is one; two of one
    name are a mistake of ours.
    """
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for thing in vars(loaded).values():
            if not (isinstance(thing, type) and issubclass(thing, Reader)):
                continue
            if thing.__module__ != loaded.__name__ or "name" not in vars(thing):
                continue
            if thing.name in found:
                raise AssertionError(f"two readers are called {thing.name}")
            found[thing.name] = thing()
    return dict(sorted(found.items()))


def by_name(name: str) -> Reader:
    """Return the reader called `name`.

    Raises:
        ReadError: there is none; the message lists those that there are.
    """
    try:
        return readers()[name]
    except KeyError:
        known = ", ".join(readers())
        raise ReadError(f"no reader is called {name!r}; choose one of: {known}") from None


def identify(path: Path, agent: str | None = None) -> Reader:
    """Return the one reader that claims `path`, or the one called `agent` without asking it.

    Raises:
        ReadError: the file cannot be opened, is empty, or nobody claims it.
        AmbiguousFormatError: two or more claim it.
    """
    head = Head.of(path)
    if agent:
        return by_name(agent)
    if not head.is_dir and not head.start.strip(b"\x00 \t\r\n"):
        raise ReadError(f"{path}: the file is empty; there is no session in it")
    claims = [reader for reader in readers().values() if reader.identify(head)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = ", ".join(reader.name for reader in claims)
        raise AmbiguousFormatError(f"{path}: claimed by {names}; choose one with --agent")
    what = "directory" if head.is_dir else "file"
    raise ReadError(
        f"{path}: no known agent writes such a {what}; `checkpoint readers` lists the formats, "
        "--agent NAME reads it as that one"
    )
