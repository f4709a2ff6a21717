"""Checkpoints as the commands that read them name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from checkpoint.errors import StoreError

if TYPE_CHECKING:
    from checkpoint.store import Checkpoint, Store


def stored(directory: Path, asked: str | None) -> tuple[Store, Checkpoint]:
    """Return the store of a directory and the checkpoint that is meant; None is the latest.

    Raises:
        StoreError: there is no such checkpoint, or none at all.
    """
    from checkpoint.store import Store

    store = Store.open(directory.resolve())
    if asked:
        return store, store.find(asked)
    last = store.latest()
    if last is None:
        raise StoreError(
            f"{directory.resolve()}: no checkpoint here yet; `checkpoint save` makes one"
        )
    return store, last
