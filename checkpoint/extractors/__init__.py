"""Extractors: one file a kind of fact. A new extractor is one new file here and its fixtures.

Files whose name begins with an underscore are shared parts, not extractors.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from checkpoint.extractors._base import EXTRACTORS, Extract
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Fact

__all__ = ["extract", "extractors"]


@cache
def extractors() -> tuple[Extract, ...]:
    """Import all siblings and return their extractors in order of name."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return tuple(EXTRACTORS[name] for name in sorted(EXTRACTORS))


def extract(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield the facts of one message: extractors in order of name, each in order of the text."""
    for function in extractors():
        yield from function(message, settings)
