"""A fault in an extractor costs its own facts of one message, never the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoint.extractors import extractors
from checkpoint.extractors._base import EXTRACTORS
from checkpoint.model import Message
from checkpoint.pipeline import summarise
from checkpoint.settings import Settings, shipped
from checkpoint.state import Fact


def test_an_extractor_that_raises_is_a_problem(monkeypatch: pytest.MonkeyPatch, demo_session: Path):
    usual = summarise(demo_session, settings=shipped()).state

    def broken(message: Message, settings: Settings) -> Iterator[Fact]:
        raise ValueError("sk-secret text of the session")
        yield

    monkeypatch.setitem(EXTRACTORS, "zz_broken", broken)
    extractors.cache_clear()
    try:
        state = summarise(demo_session, settings=shipped()).state
    finally:
        monkeypatch.undo()
        extractors.cache_clear()

    mine = [one for one in state.problems if one.what.endswith("failed: ValueError")]
    assert [(one.severity, one.count) for one in mine] == [("error", usual.session.messages)]
    state.problems = [one for one in state.problems if one not in mine]
    assert state == usual
