"""The one composer: read -> extract -> redact -> fold, then render -> store.

`summarise` makes a state of a session; `save` commits it, going on from what the last checkpoint
already knows; `compare` tells two states apart; `neighbours` shows what stands around an evidence.
"""

from __future__ import annotations

from checkpoint.pipeline.comparing import Change, compare
from checkpoint.pipeline.lines import line, standing
from checkpoint.pipeline.looking import Looked, lookup, neighbours
from checkpoint.pipeline.notes import KINDS, NoteOrder
from checkpoint.pipeline.saving import (
    Saved,
    annotate,
    checkpoint_state,
    save,
    save_at_pivots,
    write,
)
from checkpoint.pipeline.searching import Hit, search
from checkpoint.pipeline.summary import Summary, dump, load_state, pivots, summarise

__all__ = [
    "KINDS",
    "Change",
    "Hit",
    "Looked",
    "NoteOrder",
    "Saved",
    "Summary",
    "annotate",
    "checkpoint_state",
    "compare",
    "dump",
    "line",
    "load_state",
    "lookup",
    "neighbours",
    "pivots",
    "save",
    "save_at_pivots",
    "search",
    "standing",
    "summarise",
    "write",
]
