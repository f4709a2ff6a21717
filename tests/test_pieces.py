"""Reading any fixture of any agent in pieces gives the bytes of reading it whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkpoint.model import Message
from checkpoint.pipeline import dump, load_state, standing, summarise
from checkpoint.readers import identify
from checkpoint.settings import shipped

SETTINGS = shipped()
READERS = Path(__file__).parent / "fixtures" / "readers"
LINES = sorted(READERS.rglob("session.jsonl"))
FILES = sorted(path for path in READERS.rglob("session.*") if path.is_file())


def _name(path: Path) -> str:
    return "/".join(path.parts[-3:-1])


@pytest.mark.parametrize("path", LINES, ids=_name)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_line_file_that_grew(path: Path, tmp_path: Path, share: float):
    lines = path.read_bytes().splitlines(keepends=True)
    agent = path.parts[-3]  # the beginning alone may not tell whose it is
    part = tmp_path / "session.jsonl"
    part.write_bytes(b"".join(lines[: max(1, int(len(lines) * share))]))
    first = summarise(part, settings=SETTINGS, agent=agent)
    part.write_bytes(path.read_bytes())
    since = load_state(dump(first.settled), "here")
    after = summarise(part, settings=SETTINGS, agent=agent, since=since)
    whole = summarise(part, settings=SETTINGS, agent=agent)
    assert dump(after.state) == dump(whole.state)
    assert dump(after.settled) == dump(whole.settled)


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_session_that_did_not_change(path: Path):
    first = summarise(path, settings=SETTINGS)
    whole = dump(first.state)
    since = load_state(dump(first.settled), "here")
    assert dump(summarise(path, settings=SETTINGS, since=since).state) == whole


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_every_quote_stands_in_the_message_that_it_cites(path: Path):
    """Masked quotes are left out: what they stood for is gone on purpose."""
    said = {message.number: _bare(message) for message in identify(path).read(path)}
    state = summarise(path, settings=SETTINGS).state
    lost = [
        (one.message, one.quote)
        for _, item in standing(state)
        for one in item.evidence
        if "[redacted" not in one.quote and "".join(one.quote.split()) not in said[one.message]
    ]
    assert lost == []


def _bare(message: Message) -> str:
    """Return all that a message holds, without white space."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for one in value.values():
                yield from strings(one)
        elif isinstance(value, list | tuple):
            for one in value:
                yield from strings(one)

    return "".join("".join(strings(msgspec.to_builtins(message))).split())
