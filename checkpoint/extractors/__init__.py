"""Extractors: one file a kind of fact. A new extractor is one new file here and its fixtures.

Files whose name begins with an underscore are shared parts, not extractors.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from checkpoint.extractors._base import EXTRACTORS, Extract
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Fact

__all__ = ["Failed", "extract", "extractors"]

Failed = Callable[[str, Exception], None]
"""Told of an extractor that raised: its name and what it raised."""


@cache
def extractors() -> tuple[Extract, ...]:
    """Import all siblings and return their extractors in order of name."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return tuple(EXTRACTORS[name] for name in sorted(EXTRACTORS))


def extract(message: Message, settings: Settings, failed: Failed | None = None) -> Iterator[Fact]:
    """Yield the facts of one message: extractors in order of name, each in order of the text.

    Where `failed` is given, an extractor that raises costs only the rest of its own facts of this
    message: a fault of ours in one strange text must not cost the user the whole checkpoint.
    """
    for function in extractors():
        try:
            yield from function(message, settings)
        except Exception as error:
            if failed is None:
                raise
            failed(function.__module__.rpartition(".")[2], error)
