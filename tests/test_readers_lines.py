"""Line files: bytes into records, long lines shortened, the place to go on from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from checkpoint.readers import _squeeze
from checkpoint.readers._base import Problems
from checkpoint.readers._jsonl import Lines, own_type, proof


def _lines(path: Path, raw: bytes, start: int = 0) -> tuple[list[Any], Lines, list[str]]:
    path.write_bytes(raw)
    problems = Problems()
    lines = Lines(path, problems, start)
    found = list(lines)
    return found, lines, [f"{one.what} x{one.count}" for one in problems]


@pytest.mark.parametrize(
    ("raw", "expected", "problems", "end"),
    [
        (b"", [], [], 0),
        (b"\n\n", [], [], 2),
        (b'{"a":1}\n', [(0, {"a": 1})], [], 8),
        (b'{"a":1}', [(0, {"a": 1})], [], 7),
        (b'\xef\xbb\xbf{"a":1}\r\n', [(0, {"a": 1})], [], 12),
        (b'\x00\x00{"a":1}\x00\n', [(0, {"a": 1})], [], 11),
        ('{"a":"\u2028\x85"}\n'.encode(), [(0, {"a": "\u2028\x85"})], [], 14),
        (b'{"a":NaN}\n', [(0, {"a": "nan"})], [], 10),
        (b'{"a":"\\ud83d"}\n', [(0, {"a": "?"})], [], 15),
        (b'{"a":"\xff"}\n', [(0, {"a": "\ufffd"})], [], 10),
        (b'{"a":1}\n{"b":', [(0, {"a": 1})], [], 8),
        (b'{"a":\n{"b":2}\n', [(6, {"b": 2})], ["a line is broken x1"], 14),
        (b'[1]\n"x"\n', [], ["a line is no JSON object x2"], 8),
        (b"[" * 3000 + b"\n", [], ["a line is broken x1"], 3001),
    ],
)
def test_reads_lines(tmp_path: Path, raw: bytes, expected: Any, problems: list[str], end: int):
    found, lines, told = _lines(tmp_path / "x.jsonl", raw)
    assert json.loads(json.dumps(found).replace("NaN", '"nan"')) == [list(one) for one in expected]
    assert told == problems
    assert lines.end == end
    assert lines.torn == raw.endswith(b'{"b":')


def test_goes_on_from_any_line(tmp_path: Path):
    raw = b"".join(b'{"n":%d}\n' % number for number in range(200_000))
    found, lines, _told = _lines(tmp_path / "x.jsonl", raw)
    assert [one["n"] for _at, one in found] == list(range(200_000))
    assert lines.end == len(raw)
    for at, one in (found[0], found[777], found[-1]):
        rest, _more, _told = _lines(tmp_path / "x.jsonl", raw, at)
        assert rest[0] == (at, one)
        assert len(rest) == 200_000 - one["n"]


@pytest.mark.parametrize("seed", range(60))
def test_a_shortened_line_is_the_same_line_but_for_its_middle(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_squeeze, "_KEEP", 20)
    chance = random.Random(seed)
    pieces = ["\\", '"', "\n", "a", "\u00e4", "\u4e2d", "\U0001f600", "\x01", "{", "}", ",", ":"]
    text = "".join(chance.choice(pieces) for _ in range(chance.choice([0, 5, 30, 400])))
    record = {"type": "x", text[:3]: [text, {"b": text}, 1, None], "end": True}
    ascii_only = chance.random() < 0.5
    raw = json.dumps(record, ensure_ascii=ascii_only).encode()
    size = len(json.dumps(text, ensure_ascii=ascii_only).encode()) - 2
    squeezer = _squeeze.Squeezer()
    while raw:
        count = chance.randint(1, 50)
        squeezer.feed(raw[:count])
        raw = raw[count:]
    line = squeezer.result()
    assert line is not None
    found = json.loads(line)
    assert list(found) == list(record)
    for kept in (found[text[:3]][0], found[text[:3]][1]["b"]):
        if squeezer.dropped:
            start, _mark, rest = kept.partition("\n[... ")
            assert text.startswith(start)
            assert text.endswith(rest.partition(" bytes left out ...]\n")[2])
            assert len(kept) < len(text) + 40
        else:
            assert kept == text
    assert bool(squeezer.dropped) == (size > 40)


def test_a_line_that_stays_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_squeeze, "MAX_LINE", 1 << 20)
    long = json.dumps({"a": list(range(1_000_000))}).encode()
    raw = b'{"n":1}\n' + long + b'\n{"n":2}\n'
    found, _more, told = _lines(tmp_path / "x.jsonl", raw)
    assert [one for _at, one in found] == [{"n": 1}, {"n": 2}]
    assert told == ["a line is too long and was left out x1"]


def test_a_long_last_line_that_is_not_whole_is_left_for_later(tmp_path: Path):
    raw = b'{"n":1}\n{"a":"' + b"x" * (5 << 20)
    found, lines, told = _lines(tmp_path / "x.jsonl", raw)
    assert (len(found), lines.end, lines.torn, told) == (1, 8, True, [])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", b""),
        (b'{"type":"progress","data":{}}', b"progress"),
        (b'{"uuid":"x","type":"progress","data":{"type":"y"}}', b"progress"),
        (b'{"message":{"type":"progress"},"type":"user"}', b""),
        (b'{"a":"{","type":"progress"}', b""),
        (b'{"type":7}', b""),
    ],
)
def test_tells_the_type_of_a_line_only_where_it_is_sure(line: bytes, expected: bytes):
    assert own_type(line) == expected


def test_a_proof_tells_a_changed_past(tmp_path: Path):
    path = tmp_path / "x"
    path.write_bytes(b"a" * 20_000)
    known = proof(path, 15_000)
    assert known
    assert proof(path, 0) == ""
    assert proof(path, 30_000) == ""
    path.write_bytes(b"a" * 15_000 + b"b" * 9)
    assert proof(path, 15_000) == known
    for place in (0, 4_095, 14_999, 11_000):
        changed = bytearray(b"a" * 20_000)
        changed[place] = 0x62
        path.write_bytes(bytes(changed))
        assert proof(path, 15_000) != known
