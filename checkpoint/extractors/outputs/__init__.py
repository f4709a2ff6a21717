"""Tool outputs: one file a tool, found by its command first, by its content second.

`@output` registers a function of `(run, text)` that yields claims. A parser sees one simple command
(see `checkpoint.extractors._shell.Run`) and the text that its whole call printed, clean of ANSI and
carriage returns. When a call ran several commands, each command's parser gets the whole text and
takes only what bears its mark.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from checkpoint.extractors._shell import Run


@dataclass(slots=True)
class Claim:
    """A fact without its message: the extractor adds evidence, host and authority."""

    kind: str
    """As in `checkpoint.state.Fact.kind`: "hardware", "software", "measurement", "task", ..."""
    quote: str
    """The line of the output that shows it, verbatim."""
    fields: dict[str, Any] = field(default_factory=dict)


Parse = Callable[[Run, str], Iterator[Claim]]


@dataclass(frozen=True, slots=True)
class Output:
    """One parser and what it goes by."""

    name: str
    commands: tuple[str, ...]
    """Names of programs: the base name of the first word, or "git log" with its subcommand."""
    signatures: tuple[str, ...]
    """Literal pieces of text of which one must stand in an output for the parser to be tried when
    no command named it (a script, a log that was shown). () means by command only."""
    parse: Parse
    beside: bool = False
    """It speaks of the run ("took 3 s"), not of what it printed: generic parsers still look."""


OUTPUTS: dict[str, Output] = {}


def output(
    *, commands: tuple[str, ...] = (), signatures: tuple[str, ...] = (), beside: bool = False
) -> Callable[[Parse], Parse]:
    """Register a parser under its function's name."""

    def register(function: Parse) -> Parse:
        name = function.__name__
        if name in OUTPUTS:
            raise AssertionError(f"two output parsers are called {name}")
        OUTPUTS[name] = Output(name, commands, signatures, function, beside)
        return function

    return register


@cache
def outputs() -> tuple[Output, ...]:
    """Import all siblings and return their parsers in order of name."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return tuple(OUTPUTS[name] for name in sorted(OUTPUTS))
