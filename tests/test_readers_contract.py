"""What every reader promises, over every tests/fixtures/readers/<reader>/<case>/session.*."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from checkpoint.errors import ReadError
from checkpoint.model import Cursor, Message, Text, ToolCall
from checkpoint.readers import Reading, by_name, readers
from checkpoint.readers._base import Head

FIXTURES = Path(__file__).parent / "fixtures" / "readers"
CASES = [
    pytest.param(folder.parent.name, path, id=f"{folder.parent.name}-{folder.name}")
    for folder in sorted(FIXTURES.glob("*/*"))
    for path in sorted(folder.glob("session*"))[:1]
]
LINES = [case for case in CASES if case.values[0] in ("claude-code", "codex", "opencode")]
CUTS = (0, 0.3, 0.7, 0.99)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


def _copy(path: Path, into: Path) -> Path:
    """Copy a session where the reader may do as it likes, with what lies beside it."""
    target = into / "case"
    shutil.copytree(path.parent, target)
    return target / path.name


def _cut(path: Path, part: float) -> None:
    for one in [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]:
        raw = one.read_bytes()
        one.write_bytes(raw[: int(len(raw) * part)])


def _bare(value: Any) -> Any:
    """Leave out what is empty, so that a snapshot shows what was read."""
    if isinstance(value, dict):
        found = {key: _bare(one) for key, one in value.items()}
        return {key: one for key, one in found.items() if one not in ("", None, False, [], {})}
    if isinstance(value, list):
        return [_bare(one) for one in value]
    return value


def _encoded(message: Message) -> bytes:
    return msgspec.json.encode(message)


def _again(reading: Reading) -> Cursor:
    """Return the cursor as a state keeps it: through JSON."""
    return msgspec.json.decode(msgspec.json.encode(reading.cursor), type=Cursor)


def _counts(reading: Reading) -> dict[str, int]:
    return {problem.what: problem.count for problem in reading.problems}


@pytest.mark.parametrize("name", list(readers()))
def test_a_reader_has_a_case(name: str):
    assert list((FIXTURES / name).glob("*/session*")), f"tests/fixtures/readers/{name}/ is empty"


@pytest.mark.parametrize("folder", sorted(one.name for one in FIXTURES.iterdir()))
def test_a_fixture_folder_has_a_reader(folder: str):
    assert folder in readers()


@pytest.mark.parametrize(("agent", "path"), CASES)
def test_claimed_by_its_own_reader_and_no_other(agent: str, path: Path, tmp_path: Path):
    head = Head.of(_copy(path, tmp_path))
    assert [name for name, one in readers().items() if one.identify(head)] == [agent]


@pytest.mark.parametrize(("agent", "path"), CASES)
def test_reads(agent: str, path: Path, tmp_path: Path, golden: SnapshotAssertion):
    reading = by_name(agent).read(_copy(path, tmp_path))
    messages = list(reading)
    found = {
        "head": reading.head,
        "messages": messages,
        "problems": list(reading.problems),
        "cursor": {"kind": reading.cursor.kind, "number": reading.cursor.number},
    }
    text = msgspec.json.encode(found).decode().replace(f"{tmp_path}/", "")
    assert _bare(json.loads(text)) == golden


@pytest.mark.parametrize(("agent", "path"), CASES)
def test_messages_are_numbered_and_can_be_written_anywhere(agent: str, path: Path, tmp_path: Path):
    messages = list(by_name(agent).read(_copy(path, tmp_path)))
    assert [message.number for message in messages] == list(range(len(messages)))
    assert messages
    for message in messages:
        assert message.at is None or message.at.utcoffset() is not None
        for part in message.parts:
            texts = [part.text] if isinstance(part, Text) else []
            texts += [part.output, part.target] if isinstance(part, ToolCall) else []
            for text in texts:
                assert "\x00" not in text
                text.encode("utf-8")


@pytest.mark.parametrize(("agent", "path"), CASES)
def test_two_readings_are_the_same(agent: str, path: Path, tmp_path: Path):
    copy = _copy(path, tmp_path)
    first, second = by_name(agent).read(copy), by_name(agent).read(copy)
    assert [_encoded(one) for one in first] == [_encoded(one) for one in second]
    assert list(first.problems) == list(second.problems)
    assert first.cursor == second.cursor


@pytest.mark.parametrize("part", CUTS)
@pytest.mark.parametrize(("agent", "path"), CASES)
def test_survives_being_cut(agent: str, path: Path, part: float, tmp_path: Path):
    copy = _copy(path, tmp_path)
    _cut(copy, part)
    for reader in readers().values():
        reader.identify(Head.of(copy))
    with contextlib.suppress(ReadError):  # which says that the file cannot be opened, and why
        messages = list(by_name(agent).read(copy))
        assert [message.number for message in messages] == list(range(len(messages)))


JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    "",
    "x",
    "\x00",
    [],
    [[None]],
    {},
    {"a": {}},
    "9-9-9",
)


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place inside a JSON value, as its holder and key."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in list(inside):
        yield value, key
        if isinstance(one, dict | list):
            yield from _slots(one)


def _spoiled(text: str, chance: random.Random) -> str:
    """Put strange values into the JSON of a text, a value a line at most."""
    found = []
    for line in [text] if text.startswith(("{\n", "[\n")) else text.split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        slots = list(_slots(value)) if isinstance(value, dict | list) else []
        if slots and chance.random() < 0.5:
            holder, key = chance.choice(slots)
            holder[key] = chance.choice(JUNK)
            line = json.dumps(value)
        found.append(line)
    return "\n".join(found)


@pytest.mark.parametrize(
    ("agent", "path"),
    [one for one in CASES if one.values[1].suffix in (".json", ".jsonl", ".traj")],
)
def test_survives_strange_values(agent: str, path: Path, tmp_path: Path):
    copy = _copy(path, tmp_path)
    text = copy.read_text(encoding="utf-8", errors="replace")
    for seed in range(12):
        copy.write_text(_spoiled(text, random.Random(seed)), encoding="utf-8", errors="replace")
        for reader in readers().values():
            reader.identify(Head.of(copy))
        with contextlib.suppress(ReadError):
            for message in by_name(agent).read(copy):
                _encoded(message)


@pytest.mark.parametrize(("agent", "path"), CASES)
def test_goes_on_where_it_stopped(agent: str, path: Path, tmp_path: Path):
    copy = _copy(path, tmp_path)
    whole = by_name(agent).read(copy)
    messages = [_encoded(one) for one in whole]
    number = whole.cursor.number
    rest = by_name(agent).read(copy, _again(whole))
    assert [_encoded(one) for one in rest] == messages[number:]
    assert rest.fell_back == ""
    assert rest.head == whole.head
    assert rest.cursor == whole.cursor


@pytest.mark.parametrize("part", [0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize(("agent", "path"), LINES)
def test_pieces_are_the_whole(agent: str, path: Path, part: float, tmp_path: Path):
    """Reading a growing file piece by piece gives the messages and problems of reading it whole."""
    copy = _copy(path, tmp_path)
    whole = by_name(agent).read(copy)
    if copy.suffix != ".jsonl":
        pytest.skip("rewritten as a whole")
    messages = [_encoded(one) for one in whole]
    raw = copy.read_bytes()
    copy.write_bytes(raw[: int(len(raw) * part)])
    first = by_name(agent).read(copy)
    settled = [_encoded(one) for one in first if one.settled]
    before = {problem.what: problem.count for problem in first.problems.settled}
    copy.write_bytes(raw)
    second = by_name(agent).read(copy, _again(first))
    rest = [_encoded(one) for one in second]
    if second.fell_back:
        assert rest == messages
        return
    assert first.cursor.number == len(settled)
    assert settled + rest == messages
    counts = _counts(second)
    for what, count in before.items():
        counts[what] = counts.get(what, 0) + count
    assert counts == _counts(whole)
    assert second.head == whole.head


@pytest.mark.parametrize(("agent", "path"), LINES)
def test_a_rewritten_past_is_noticed(agent: str, path: Path, tmp_path: Path):
    copy = _copy(path, tmp_path)
    first = by_name(agent).read(copy)
    messages = [_encoded(one) for one in first]
    cursor = _again(first)
    if cursor.kind != "bytes" or not cursor.offset:
        pytest.skip("nothing is settled")
    raw = copy.read_bytes()
    copy.write_bytes(raw[: cursor.offset - 2] + b" " + raw[cursor.offset - 2 :])
    second = by_name(agent).read(copy, cursor)
    assert len(list(second)) == len(messages)
    assert second.fell_back
