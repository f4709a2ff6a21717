"""Checkpoints in git: written, listed, found, read, shared, pruned.

One ref a session, `refs/checkpoints/<agent>/<session>`; a commit's parent is the session's previous
checkpoint, never a code commit. HEAD, index, work tree, configuration and hooks of the repository
are never touched. Fetched checkpoints lie apart, under `refs/checkpoints-remotes/`.
"""

from __future__ import annotations

from checkpoint.store.checkpoints import Checkpoint
from checkpoint.store.share import Exchange
from checkpoint.store.store import Store

__all__ = ["Checkpoint", "Exchange", "Store"]
