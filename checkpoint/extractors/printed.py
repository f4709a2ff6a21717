"""Numbers that tools printed: what later makes a figure in words verified.

Only short outputs are looked at, and only numbers that say something (three digits or more): a
number in a long listing proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

LONGEST = 12_000
"""Longer outputs are listings (characters)."""
MOST = 120
"""An output with more different numbers is a listing."""

_NUMBER = re.compile(r"(?<![\w.:/-])\d[\d,]*(?:\.\d+)?(?![\w]*[:/-]\d)")
_SKIPPED = frozenset({"read", "fetch", "edit", "write", "todo", "search"})


@extractor
def printed(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield the numbers that the message's tools printed, if they are few."""
    for call in message.calls():
        text = call.output
        if call.category in _SKIPPED or not text or len(text) > LONGEST:
            continue
        numbers = {n.replace(",", "") for n in _NUMBER.findall(text)}
        numbers = {n for n in numbers if len(n.replace(".", "").lstrip("0")) >= 3}
        if 0 < len(numbers) <= MOST:
            yield fact(message, "printed", "", "", Authority.OUTPUT, numbers=sorted(numbers))
