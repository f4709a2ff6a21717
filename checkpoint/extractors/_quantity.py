"""Quantities: a number with its unit, exact, as it stands in the text.

One pass over a text that holds a digit. Versions, addresses, hashes, dates and line numbers are no
quantities. Units and their dimensions are in `config/units.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from checkpoint.resources import folder
from checkpoint.settings import read_yaml


@dataclass(slots=True, frozen=True)
class Quantity:
    """One figure of a text."""

    text: str
    """Verbatim: "94.0 tok/s"."""
    value: str
    """The number as printed."""
    unit: str
    """As printed; "" if it bears none."""
    dimension: str
    """time, rate, bytes, share, ... of `config/units.yaml`; "" without a unit."""
    start: int
    end: int

    def normal(self) -> Decimal | None:
        """Return the value in the base unit of its dimension, or None if it cannot be told."""
        number = decimal(self.value)
        factor = units().get(self.unit) or units().get(self.unit.casefold())
        if number is None or factor is None:
            return duration(self.text) if self.dimension == "time" else None
        return number * factor[1]


@cache
def units() -> dict[str, tuple[str, Decimal]]:
    """Return each unit's dimension and factor to the base unit, by spelling."""
    found: dict[str, tuple[str, Decimal]] = {}
    given: dict[str, Any] = read_yaml(folder("config") / "units.yaml")
    for dimension, spellings in given.items():
        for spelling, factor in spellings.items():
            found[str(spelling)] = (dimension, Decimal(str(factor)))
    return found


@cache
def _pattern() -> re.Pattern[str]:
    spelled = sorted(units(), key=lambda u: (-len(u), u))
    alternation = "|".join(re.escape(u) for u in spelled)
    return re.compile(
        r"(?<![\w.#@/:-])(?<![\d],)(?P<sign>[-+±]?)(?P<value>\d+(?:[,  ]\d{3})+(?:\.\d+)?|"
        r"\d+(?:[.,]\d+)?)"
        r"(?:(?P<clock>h(?: ?\d+m)?(?: ?\d+(?:\.\d+)?s)?|m ?\d+(?:\.\d+)?s)(?![\w/])"
        rf"|(?P<gap>[  -]?)(?P<unit>{alternation})(?![\w/]|\.\w)|(?![\w:/-]|[.,]\d))"
    )


def find(text: str) -> list[Quantity]:
    """Return the quantities of a text, in order, those without a unit too."""
    if not any(c.isdigit() for c in text):
        return []
    return list(_found(text))


def _found(text: str) -> Iterator[Quantity]:
    known = units()
    for match in _pattern().finditer(text):
        value, unit = match["value"], match["unit"] or ""
        if match["clock"]:
            yield Quantity(match.group(), value + match["clock"], match["clock"][-1], "time",
                           match.start(), match.end())  # fmt: skip
            continue
        dimension = known[unit][0] if unit else ""
        if match["gap"] == "-" and dimension not in ("count", "time"):
            unit, dimension = "", ""
        yield Quantity(match.group(), match["sign"].strip("+±") + value, unit, dimension,
                       match.start(), match.end())  # fmt: skip


def decimal(value: str) -> Decimal | None:
    """Return a printed number: "9,412,000", "38,2", "1 234.5"; None if it is none.

    One comma with other than three digits behind it is a decimal comma.
    """
    text = re.sub(r"[  ]", "", value)
    if "," in text and "." not in text and not re.fullmatch(r"-?\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", ".") if text.count(",") == 1 else text.replace(",", "")
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


_DURATION = re.compile(r"(?:(\d+)h)? ?(?:(\d+)m)? ?(?:(\d+(?:\.\d+)?)s)?")


def duration(text: str) -> Decimal | None:
    """Return "14m32.1s" in seconds; None if it is no duration."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (Decimal(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds
