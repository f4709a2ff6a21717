"""Which lines a document shows: the most valuable ones, within a budget of tokens.

Each line has a value. Within a section the values fall with each further line, so that a document
holds some of everything that counts before it holds all of one thing. Lines are taken in order of
value while they fit; the rest is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CHARACTERS = 4
"""Of a token."""
FLOOR = 24.0
"""Lines worth less are left out even where there is room: a short session, a short document."""


@dataclass(slots=True)
class Line:
    """One line (or table) of a section."""

    text: str
    value: float
    order: float = 0.0
    """Its place in the section."""


@dataclass(slots=True)
class Section:
    """A heading and its lines."""

    title: str
    level: int = 2
    lines: list[Line] = field(default_factory=list)
    ordered: bool = False
    """The lines are numbered."""
    cut: int = 0
    """How many lines were left out, for want of room or of worth."""
    weight: float = 50.0
    decay: float = 0.95

    def add(self, text: str, rank: float = 0.0, order: float = 0.0) -> None:
        """Add a line; `rank` is added to the section's weight."""
        self.lines.append(Line(text, self.weight + rank, order))


def select(sections: list[Section], budget: int, taken: int) -> list[Section]:
    """Keep what fits.

    Args:
        sections: in the order of the document, with all their lines.
        budget: of the whole document, in tokens.
        taken: characters that stand in the document anyway.

    Returns:
        the sections with the lines that are shown, in order; empty ones are left out.
    """
    offers: list[tuple[float, int, Line]] = []
    for index, section in enumerate(sections):
        ranked = sorted(section.lines, key=lambda one: (-one.value, one.order, one.text))
        factor = 1.0
        for one in ranked:
            one.value *= factor
            factor *= section.decay
            offers.append((-one.value, index, one))
    offers.sort(key=lambda offer: (offer[0], offer[1], offer[2].order, offer[2].text))
    room = budget * CHARACTERS - taken
    kept: set[int] = set()
    opened: set[int] = set()
    for _, index, one in offers:
        if one.value < FLOOR:
            sections[index].cut += 1
            continue
        cost = len(one.text) + 3
        if index not in opened:
            cost += len(sections[index].title) + 7
        if cost > room:
            sections[index].cut += 1
            continue
        room -= cost
        opened.add(index)
        kept.add(id(one))
    shown: list[Section] = []
    for index, section in enumerate(sections):
        section.lines = sorted(
            (one for one in section.lines if id(one) in kept), key=lambda one: (one.order, one.text)
        )
        if section.lines or _has_children(sections, index, kept):
            shown.append(section)
    return shown


def _has_children(sections: list[Section], index: int, kept: set[int]) -> bool:
    level = sections[index].level
    for later in sections[index + 1 :]:
        if later.level <= level:
            return False
        if any(id(one) in kept for one in later.lines):
            return True
    return False
