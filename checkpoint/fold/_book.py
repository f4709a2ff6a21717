"""The lists of the state as books: found by key, added to, with evidence and short names."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Generic, TypeVar

from checkpoint.state import Evidence, Fact, Item

T = TypeVar("T", bound=Item)

EVIDENCE = 4
"""How many evidences an item keeps: the first, and the latest."""


def name(kind: str, key: str) -> str:
    """Return the short name of the item `key` of a kind: the same in every run."""
    return f"{kind[:1]}{blake2b(f'{kind}:{key}'.encode(), digest_size=4).hexdigest()}"


def evidence(fact: Fact) -> Evidence:
    """Return the evidence that a fact carries."""
    return Evidence.model_construct(
        message=fact.message, id=fact.id, role=fact.role, at=fact.at, quote=fact.quote
    )


def affirm(item: Item, fact: Fact) -> None:
    """Add a fact's evidence to an item that it says again or changes."""
    if item.evidence and item.evidence[-1].message == fact.message:
        if item.evidence[-1].quote != fact.quote and len(item.evidence) < EVIDENCE:
            item.evidence.append(evidence(fact))
        return
    item.evidence.append(evidence(fact))
    item.seen += 1
    if len(item.evidence) > EVIDENCE:
        del item.evidence[1]


class Book(Generic[T]):
    """One list of the state; the index is made from the list, so it needs no keeping."""

    def __init__(self, kind: str, items: list[T]) -> None:
        self.kind = kind
        self.items = items
        self._by_key = {item.key: item for item in items}

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def get(self, key: str) -> T | None:
        """Return the item of this key, or None."""
        return self._by_key.get(key)

    def add(self, item: T) -> T:
        """Append an item; its key must be new."""
        self._by_key[item.key] = item
        self.items.append(item)
        return item

    def remove(self, item: T) -> None:
        """Take an item out."""
        self._by_key.pop(item.key, None)
        del self.items[next(i for i, own in enumerate(self.items) if own is item)]

    def unused(self, key: str) -> str:
        """Return `key`, with a number if it is taken."""
        if key not in self._by_key:
            return key
        number = 2
        while f"{key}#{number}" in self._by_key:
            number += 1
        return f"{key}#{number}"
