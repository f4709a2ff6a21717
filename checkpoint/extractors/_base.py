"""What an extractor is: a pure function of one message that yields facts.

`@extractor` registers a function of `(message, settings)`. An extractor looks at structure first
(calls, parsed outputs), at prose last, and never at code, diffs, file contents or quoted documents
for cue words. Everything that spans messages is the fold's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Fact

Extract = Callable[[Message, Settings], Iterator[Fact]]

EXTRACTORS: dict[str, Extract] = {}


def extractor(function: Extract) -> Extract:
    """Register `function` under its name; two of one name are a mistake of ours."""
    name = function.__name__
    if name in EXTRACTORS:
        raise AssertionError(f"two extractors are called {name}")
    EXTRACTORS[name] = function
    return function
