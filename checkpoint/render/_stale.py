"""Figures that no longer hold, marked wherever an older sentence still gives them."""

from __future__ import annotations

import re

from checkpoint.state import State

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)*(?:-[\w.]+)?")


class Stale:
    """Marks old figures and versions in sentences that were said before they were replaced."""

    def __init__(self, state: State) -> None:
        self._stale = {
            value: (int(since), now) for value, (since, now) in state.working.stale.items()
        }
        self._replaced = [(old, new, int(at)) for old, new, at in state.working.replaced]

    def mark(self, text: str, message: int) -> str:
        """Return `text` with "(94.0 → now 96.1)" behind it for each figure that it outlived."""
        notes: list[str] = []
        for found in _NUMBER.findall(text):
            known = self._known(found)
            if known is None or message >= known[0]:
                continue
            now = f"{found} → now {known[1]}" if known[1] else f"{found} was retracted"
            if now not in notes:
                notes.append(now)
        for old, new, at in self._replaced:
            if message < at and _telling(old) and old.casefold() in text.casefold():
                notes.append(f"{old} → {new}")
        return f"{text} ({'; '.join(notes[:3])})" if notes else text

    def _known(self, found: str) -> tuple[int, str] | None:
        """Look a figure or version up, as it stands or without grouping and trailing zeros."""
        plain = found.replace(",", "")
        bare = plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain
        return self._stale.get(found) or self._stale.get(bare)

    def outlived(self, values: list[str], message: int) -> bool:
        """Whether any of the values no longer holds, seen from a sentence of this message."""
        for value in values:
            match = _NUMBER.search(value)
            known = self._known(match.group()) if match else None
            if known is not None and message < known[0]:
                return True
        return False


def _telling(old: str) -> bool:
    return any(c.isdigit() for c in old) or len(old) > 6
