"""Figures in a sentence: which were measured, which are old, which are another's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checkpoint.extractors._quantity import Quantity, find

_FROM = re.compile(
    r"(?:\b(?:up|down|improved?|increased?|decreased?|reduced|dropped|rose|fell|grew|went|cut|slowed|"
    r"brought|lowered|raised)\b[^.;]{0,30}?\bfrom |\bfrom |\bwas (?:previously )?|\binstead of |"
    r"\bstatt |\bvon |从|から|с |de )[~≈]?(?P<old>\d[\d.,]*(?:m\d+(?:\.\d+)?s)?)"
)
_TO = re.compile(r"\s*\S{0,12}\s*(?:down |up )?(?:to|→|->|auf|zu|a|à|para|до|到|に|へ)\s+[~≈]?\d")


@dataclass(slots=True, frozen=True)
class Stated:
    """The figures of one sentence."""

    values: tuple[str, ...]
    """As they stand: "94.0 tok/s"."""
    old: tuple[tuple[str, str], ...]
    """(old, now): what the sentence says no longer holds, and what does."""
    measured: bool
    """At least one is a rate, a duration, a share: what one measures, not what a thing has."""


_MEASURED = frozenset({"time", "rate", "share", "transfer", "compute"})
_COMPARED = re.compile(
    r"\b(?:fast|slow|speed|improve|high|low|better|gain|less|more|reduc|overhead|smaller|larger|"
    r"schneller|langsamer|rapid|plus|moins|rápid|быстр|медлен)|倍|提升",
    re.IGNORECASE,
)


def stated(sentence: str, *, improved: bool) -> Stated | None:
    """Return the quantities of a sentence that bear a unit; None if there is none.

    Args:
        sentence: prose.
        improved: it bears a cue of comparison with an earlier value ("up from").
    """
    if not any(c.isdigit() for c in sentence):
        return None
    found = [q for q in find(sentence) if q.unit]
    if not found:
        return None
    values = tuple(q.text for q in found)
    old = tuple(_old(sentence, found)) if improved else ()
    moved = bool(old) and _MOVED.search(sentence) is not None
    return Stated(
        values,
        old,
        moved or any(measurable(q, sentence) and not _set(q, sentence) for q in found),
    )


_MOVED = re.compile(
    r"\b(?:shr[aiu]nk|dropped|fell|cut|reduced|grew|rose|went|took|brought|slimmed|saved|is down|"
    r"sank|sanken|stieg|schrumpfte|fiel|bajó|pasó|redujo|subió|creció|caiu|passou|reduziu|subiu|"
    r"passée?|baissé|tombée?|réduite?|упал\w*|снизил\w*|вырос\w*|сократил\w*)\b|降|减|升|缩|減|縮|増",
    re.IGNORECASE,
)
"""A size that went from one value to another was measured."""
_LIMIT = (
    r"(?:time-?outs?|limits?|intervals?|delays?|deadlines?|ttl|windows?|caps?|budgets?|"
    r"thresholds?|grace|retries|backoff|sleeps?|waits?)"
)
_BEHIND = re.compile(rf"[\s-]*(?:\w+[\s-]){{0,2}}?{_LIMIT}\b", re.IGNORECASE)
_AHEAD = re.compile(
    rf"(?:\b(?:default|hard-?coded|set to|configured to)(?: (?:of|is|to|at|value))*\W{{0,3}}|"
    rf"\b{_LIMIT} (?:of|is|to|at|=|:)|\b(?:every|within|up to|at most|at least|for up to|"
    rf"runs? for|(?:wait|sleep|pause)(?:s|ing)?)) ?[~≈]?$",
    re.IGNORECASE,
)


def _set(quantity: Quantity, sentence: str) -> bool:
    """Whether a duration is one that somebody set ("a 30 s timeout"), not one that was measured."""
    if quantity.dimension != "time":
        return False
    return bool(_BEHIND.match(sentence, quantity.end) or _AHEAD.search(sentence[: quantity.start]))


def measurable(quantity: Quantity, sentence: str) -> bool:
    """Whether a quantity is of a kind that one measures.

    "8x GPU" is a count, "4.5x faster" is not.
    """
    if quantity.dimension == "ratio":
        return _COMPARED.search(sentence) is not None
    return quantity.dimension in _MEASURED or "/" in quantity.unit


def _old(sentence: str, found: list[Quantity]) -> list[tuple[str, str]]:
    """Pair each figure that follows "from" with the one that holds now."""
    pairs: list[tuple[str, str]] = []
    for match in _FROM.finditer(sentence):
        at = match.start("old")
        old = next((q for q in found if q.start <= at < q.end), None)
        plain = old.text if old else match["old"].rstrip(".,")
        if _TO.match(sentence, old.end if old else match.end("old")):
            later = [q for q in found if q.start > at and (old is None or q.start >= old.end)]
            now = later[0].text if later else ""
        else:
            before = [q for q in found if q.end <= at]
            now = before[-1].text if before else ""
        if now and now != plain:
            pairs.append((plain, now))
    return pairs
