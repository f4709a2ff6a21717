"""Quantities: a number with its unit, exact, as it stands in the text.

One pass over a text that holds a digit. Versions, addresses, hashes, dates, times of day and line
numbers are no quantities. Units, their dimensions, scales ("M", "million") and what may stand
behind "per" are in `config/units.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
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
    """The number as printed; of a range the lower end."""
    unit: str
    """As printed; "" if it bears none."""
    dimension: str
    """time, rate, transfer, bytes, share, ... of `config/units.yaml`; "" without a unit; with
    " each" behind it if it is counted a thing ("time each": ms/step)."""
    start: int
    end: int
    upper: str = ""
    """Of a range the upper end: "10" of "5-10 minutes"."""
    spread: str = ""
    """What stood behind a ±."""
    scale: str = ""
    """ "M" of "9.4M tok/s", "million"; "" without."""

    def normal(self) -> Decimal | None:
        """Return the value in the base unit of its dimension, or None if it cannot be told."""
        if self.dimension == "time":
            clock = duration(self.text)
            if clock is not None:
                return clock
        number = decimal(self.value)
        factor = _unit(self.unit)
        if number is None:
            return None
        if factor is None or self.dimension == "count":
            times = scales().get(self.unit, factor[1] if factor else None)
            return None if times is None else number * times * self._scaled()
        return number * factor[1] * self._scaled()

    def _scaled(self) -> Decimal:
        return scales().get(self.scale, Decimal(1))


def normalise(quantity: Quantity) -> tuple[str, Decimal] | None:
    """Return (dimension, value in its base unit); None if it bears no unit that is known."""
    value = quantity.normal()
    return None if value is None or not quantity.dimension else (quantity.dimension, value)


@cache
def _given() -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = read_yaml(folder("config") / "units.yaml")
    return given


@cache
def units() -> dict[str, tuple[str, Decimal]]:
    """Return each unit's dimension and factor to the base unit, by spelling."""
    return {
        str(spelling): (dimension, Decimal(str(factor)))
        for dimension, spellings in _given().items()
        if dimension not in ("scale", "per")
        for spelling, factor in spellings.items()
    }


@cache
def scales() -> dict[str, Decimal]:
    """Return what "k", "M", "million" multiply by."""
    return {str(k): Decimal(str(v)) for k, v in _given()["scale"].items()}


@cache
def _per() -> dict[str, Decimal]:
    return {str(k): Decimal(str(v)) for k, v in _given()["per"].items()}


@cache
def _unit(spelled: str) -> tuple[str, Decimal] | None:
    """Return dimension and factor of a unit, compound ones too: `ms/step`, `docs per second`."""
    known = units().get(spelled) or units().get(spelled.casefold())
    if known or not spelled:
        return known
    base, _, below = re.sub(r"[ -]per[ -]", "/", spelled).partition("/")
    of = _per().get(below, _per().get(below.casefold())) if below else None
    inner = units().get(base) or units().get(base.casefold())
    if "/" in below and inner is None:  # tok/s/user
        first = below.partition("/")[0]
        return ("rate each", Decimal(1)) if _per().get(first) else None
    if of is None:
        outer = units().get(spelled.rpartition("/")[0]) if below else None
        return (f"{outer[0]} each", outer[1]) if outer else None
    if of:
        if inner and inner[0] == "bytes":
            return "transfer", inner[1] / of
        if inner and inner[0] not in ("count", "share", "ratio"):
            return f"{inner[0]} each", inner[1] / of
        return "rate", (inner[1] if inner else Decimal(1)) / of
    return (f"{inner[0]} each", inner[1]) if inner else None


def dimension(unit: str) -> str:
    """Return the dimension of a unit as it is printed, "" if it is none."""
    known = _unit(unit)
    return known[0] if known else ""


_N = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![,\d])"  # 9,412,000.5
    r"|\d{1,3}(?:[\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)"  # 9 412 000,5
    r"|\d{1,3}(?: \d{3}){2,}(?:,\d+)?(?!\d)|\d{1,3} 000(?!\d)"  # with plain spaces
    r"|\d{1,3}(?:\.\d{3})+,\d+(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?![.\d])"  # 9.412.000,5
    r"|\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?(?!\d)"
)
_SECONDS = r"(?: ?\d+(?:\.\d+)?s)"
_CLOCKED = (
    rf"[dh](?:(?: ?\d+h)?(?: ?\d+m){_SECONDS}?|(?: ?\d+h)?{_SECONDS}| ?\d+h)"
    r"|h|m ?\d+(?:[.,]\d+)?s"
)
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
_GAP = "[ \u00a0\u202f]"


@cache
def _pattern() -> re.Pattern[str]:
    unbound = sorted((u for u in (*units(), *_per()) if re.match(rf"[{_CJK}]", u)), key=len)
    short = "|".join(reversed(unbound)) or "(?!)"
    words = sorted(scales(), key=lambda s: -len(s))
    glued = "|".join(w for w in words if len(w) == 1)
    apart = "|".join(w for w in words if len(w) > 1)
    letters = rf"(?:[^\W\d_{_CJK}]|[µμ])+"
    pm = rf"(?:{_GAP}?(?:±|\+/-|\+-){_GAP}?"
    return re.compile(
        rf"(?<![^\W{_CJK}])(?<![.#@/:\-])(?<!\d,)(?P<sign>[-+−±]?)(?P<money>[$€£]?)(?P<value>{_N})"
        rf"(?:(?P<clock>{_CLOCKED})(?![\w/])|"
        rf"(?:{_GAP}?[-–—…]{_GAP}?(?P<upper>{_N})|{_GAP}(?:to|bis){_GAP}(?P<to>{_N}))?"
        rf"{pm}(?P<pm>(?:{_N})%?))?"
        rf"(?P<scale>(?:{glued}|{_GAP}?(?:{apart})\.?)(?=[ \u00a0])|[千万萬亿億]+)?"
        rf"(?:(?P<gap>{_GAP}?|-)(?P<unit>(?:{short})(?:/(?:{short}))?|[%％‰×]|°[CF]|[$€](?![\w])|"
        r"(?:percentage points|times (?:faster|slower)|"
        rf"{letters}(?:/{letters}){{0,2}}(?:[ -]per[ -][a-zA-Z]+)?)"
        r"(?![\d_]|/[\w]|\.[\w])))?"
        rf"{pm}(?P<late>(?:{_N}){_GAP}?(?:%|{letters})?))?)"
    )


_DIGIT = re.compile(r"\d")


def find(text: str) -> list[Quantity]:
    """Return the quantities of a text, in order, those without a unit too."""
    if _DIGIT.search(text) is None:
        return []
    return list(_joined(text, _found(text)))


def parse(text: str) -> Quantity | None:
    """Return the quantity that a whole text is ("94.0 tok/s", "6:03"); None if it is none."""
    bare = text.strip()
    found = find(bare)
    if len(found) == 1 and found[0].text.lstrip("+±") == bare.lstrip("~≈<>+± "):
        return found[0]
    if ":" in bare and duration(bare) is not None:
        return Quantity(bare, bare, "", "time", 0, len(bare))
    return None


_GLUED = re.compile(r"[\w/:]|-[\w]|[.,]\d")
_PARAMETERS = re.compile(r"[ -](?:param|trainable|model|token|sample|weight|dense|active)")
_DECADE = re.compile(r"(?:19|20)\d0")


def _found(text: str) -> Iterator[Quantity]:
    for match in _pattern().finditer(text):
        quantity = _clock(match) if match["clock"] else _plain(match, text)
        if quantity is not None:
            yield quantity


def _clock(match: re.Match[str]) -> Quantity:
    clock = match["clock"]
    return Quantity(match.group(), match["value"] + clock, clock[-1], "time",
                    match.start(), match.end())  # fmt: skip


def _plain(match: re.Match[str], text: str) -> Quantity | None:
    sign = "-" if match["sign"] in ("-", "−") else ""
    value, scale = sign + match["value"], (match["scale"] or "").strip(" .\u00a0\u202f")
    upper = match["upper"] or match["to"] or ""
    unit, dimension, end = _measured_in(match, text)
    if not unit and match["money"]:
        unit, dimension = match["money"], "money"
        if len(match["value"]) < 2 and not scale:
            return None  # $1 is the first argument of a script
        end = match.end("scale") if scale else match.end("value")
    elif not unit:
        if upper or value.count(".") > 1:
            return None  # 5-10, 10.0.0.1: lines, days, addresses
        end = match.end("scale") if scale else match.end("pm") if match["pm"] else end
        if not scale and _GLUED.match(text, end):
            return None
        unit, dimension = (scale, "count") if scale else ("", "")
        scale = ""
        if dimension and _unit(unit) is None and len(unit) == 1:
            return Quantity(text[match.start() : end], value, unit, dimension,
                            match.start(), end, scale="")  # fmt: skip
    if unit == "s" and match["gap"] == "" and _DECADE.fullmatch(match["value"]):
        return None  # the 1990s
    spread = match["pm"] or (match["late"] if end == match.end() and match["late"] else "") or ""
    return Quantity(
        text[match.start() : end], value, unit, dimension, match.start(), end, upper, spread, scale
    )


def _measured_in(match: re.Match[str], text: str) -> tuple[str, str, int]:
    """Return (unit, dimension, end) of a match; unit "" if what stands behind it is no unit."""
    unit, end = match["unit"] or "", match.end("value")
    if not unit:
        return "", "", end
    behind = match.end() if match["late"] else match.end("unit")
    known = _unit(unit)
    if known is None and " per " in unit:
        unit = unit.partition(" per ")[0]
        known, behind = _unit(unit), match.start("unit") + len(unit)
    if known is None and (unit.startswith(("/", "-")) or "/" not in unit):
        known = None
    if known is None:
        return "", "", end
    dimension = known[0]
    if match["gap"] == "-" and dimension not in ("count", "time", "bytes", "ratio"):
        return "", "", end
    if unit == "B" and match["gap"] == "" and _PARAMETERS.match(text, behind):
        dimension = "count"
    if match["scale"] and dimension.split()[0] not in ("rate", "count", "money", "bytes"):
        return "", "", end
    return unit, dimension, behind


def _joined(text: str, found: Iterator[Quantity]) -> Iterator[Quantity]:
    """Join what is one duration in two units: "2 min 14 s", "14分32秒"."""
    last: Quantity | None = None
    for one in found:
        if last is not None and last.dimension == one.dimension == "time":
            factors = _unit(last.unit), _unit(one.unit)
            between = text[last.end : one.start]
            if between in ("", " ") and all(factors) and factors[0][1] > factors[1][1]:  # type: ignore[index]
                whole = text[last.start : one.end]
                last = replace(last, text=whole, value=whole, unit=one.unit, end=one.end)
                continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def decimal(value: str) -> Decimal | None:
    """Return a printed number: "9,412,000", "38,2", "1.234,5", "0,123"; None if it is none.

    One comma with other than three digits behind it is a decimal comma, and so is the comma behind
    a lone zero or behind grouping dots.
    """
    text = re.sub(r"[ \u00a0\u202f]", "", value)
    comma, dot = text.rfind(","), text.rfind(".")
    if comma > dot >= 0 or text.count(".") > 1:
        text = text.replace(".", "").replace(",", ".")
    elif comma >= 0 > dot and (text.count(",") == 1) and not _GROUPED.fullmatch(text):
        text = text.replace(",", ".")
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


_GROUPED = re.compile(r"-?[1-9]\d{0,2},\d{3}")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:[.,]\d+)?)")
_PIECE = re.compile(r"(\d+(?:[.,]\d+)?)[ \u00a0]?([^\W\d_]+)")
_DAY = {"d": Decimal(86400), "m": Decimal(60)}


def duration(text: str) -> Decimal | None:
    """Return "14m32.1s", "2 min 14 s", "1:02:03.5" in seconds; None if it is no duration."""
    bare = text.strip()
    match = _CLOCK.fullmatch(bare)
    if match:
        hours, minutes, seconds = (decimal(part or "0") or Decimal(0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds
    pieces = _PIECE.findall(bare)
    if not pieces or _PIECE.sub("", bare).strip():
        return None
    total = Decimal(0)
    for value, unit in pieces:
        known = _unit(unit)
        factor = known[1] if known and known[0] == "time" else _DAY.get(unit)
        number = decimal(value)
        if factor is None or number is None:
            return None
        total += number * factor
    return total


def change(old: Decimal, new: Decimal) -> str:
    """Return how far `new` is from `old`: "+5.9 %", "-31.1 %"; "" from zero."""
    if not old:
        return ""
    percent = ((new - old) / abs(old) * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{percent:+} %" if percent else "±0 %"
