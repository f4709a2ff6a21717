"""From a session file to a committed checkpoint: the fold law, going on, pivots, secrets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkpoint.errors import CheckpointError, ReadError
from checkpoint.pipeline import (
    checkpoint_state,
    dump,
    load_state,
    neighbours,
    pivots,
    save,
    save_at_pivots,
    summarise,
)
from checkpoint.settings import shipped
from checkpoint.state import SCHEMA_VERSION, State
from checkpoint.store import Store

from .conftest import Git

SETTINGS = shipped()


def whole(path: Path, **more: Any) -> str:
    return dump(summarise(path, settings=SETTINGS, **more).state)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_the_demo_session_gives_what_it_tells(demo_session: Path):
    state = summarise(demo_session, settings=SETTINGS).state
    assert state.session.agent == "claude-code"
    assert state.session.branch == "faster-forecast"
    assert "below 2 seconds" in state.goals[0].text
    assert any("api.py" in one.text for one in state.instructions)
    assert {"16", "AMD EPYC 7343 16-Core Processor"} <= {one.value for one in state.hardware}
    assert any(one.value == "8" and one.name == "OMP_NUM_THREADS" for one in state.settings)
    assert any("node_factors" in one.text for one in state.root_causes)
    assert any(one.sha.startswith("e90d2f7") for one in state.accomplished)
    assert any("8085" in one.command for one in state.processes)
    assert [one.kind for one in state.pivots if one.kind != "gap"] == ["compaction"]
    assert state.problems == []


def test_the_same_session_gives_the_same_bytes_in_any_process(demo_session: Path):
    code = (
        "import sys; from pathlib import Path; from checkpoint.pipeline import *;"
        "from checkpoint.settings import shipped;"
        "sys.stdout.write(dump(summarise(Path(sys.argv[1]), settings=shipped()).state))"
    )
    given = {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(demo_session)],
        env=given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == whole(demo_session)


def test_a_state_is_the_same_after_it_was_stored(demo_session: Path):
    text = whole(demo_session)
    assert dump(load_state(text, "here")) == text


@pytest.mark.parametrize("until", [0, 3, 17, 10_000])
def test_until_stops_after_the_message_of_that_number(demo_session: Path, until: int):
    full = summarise(demo_session, settings=SETTINGS).state.session.messages
    summary = summarise(demo_session, settings=SETTINGS, until=until)
    assert summary.state.session.messages == min(until + 1, full)
    assert bool(summary.settled.cursor.kind) == (until >= full), "a stopped reading has no cursor"


@pytest.mark.parametrize("cut", [1, 2, 9, 20, 33, 47, 55])
def test_reading_in_pieces_gives_the_same_bytes(tmp_path: Path, demo_session: Path, cut: int):
    part = tmp_path / "part.jsonl"
    part.write_bytes(b"".join(lines(demo_session)[:cut]))
    first = summarise(part, settings=SETTINGS)
    part.write_bytes(demo_session.read_bytes())
    after = summarise(part, settings=SETTINGS, since=load_state(dump(first.settled), "here"))
    assert after.continued
    assert after.fell_back == ""
    assert dump(after.state) == whole(part)
    assert dump(after.settled) == dump(summarise(part, settings=SETTINGS).settled)


def test_what_was_not_understood_is_counted_once_when_going_on(tmp_path: Path, demo_session: Path):
    part = tmp_path / "part.jsonl"
    strange = [b'{"type":"never-seen","uuid":"%d"}\n' % n for n in range(3)]
    begin, end = lines(demo_session)[:20], lines(demo_session)[20:]
    text = [*begin, strange[0], b"{torn\n", *end[:5], strange[1], *end[5:], strange[2]]
    part.write_bytes(b"".join(text[:24]))
    first = summarise(part, settings=SETTINGS)
    part.write_bytes(b"".join(text))
    after = summarise(part, settings=SETTINGS, since=load_state(dump(first.settled), "here"))
    assert sum(one.count for one in after.state.problems) == 4
    assert dump(after.state) == whole(part)


def test_a_session_whose_past_changed_is_read_as_a_whole(tmp_path: Path, demo_session: Path):
    part = tmp_path / "part.jsonl"
    part.write_bytes(b"".join(lines(demo_session)[:40]))
    first = summarise(part, settings=SETTINGS)
    part.write_bytes(demo_session.read_bytes().replace(b"40 seconds", b"50 seconds"))
    after = summarise(part, settings=SETTINGS, since=load_state(dump(first.settled), "here"))
    assert not after.continued
    assert after.fell_back
    assert dump(after.state) == whole(part)


def secrets() -> dict[str, str]:
    """Values that must never be kept, made here so that no scanner stumbles over this file."""
    return {
        "github": "gh" + "p_" + "k3J8sLq02mZxT7vB9nRcY4wE6uHdAfG1pQiO",
        "aws": "AK" + "IA" + "Q7ZXJ4M2N8P5R3T6",
    }


@pytest.mark.parametrize("name", secrets())
@pytest.mark.parametrize("place", ["output", "command", "said"])
def test_a_secret_is_masked_wherever_it_stood(
    tmp_path: Path, demo: ModuleType, demo_session: Path, name: str, place: str
):
    secret = secrets()[name]
    records = [json.loads(line) for line in lines(demo_session)]
    texts = {
        "output": lambda r: r["message"]["content"][0].update(content=f"token={secret}"),
        "command": lambda r: r["message"]["content"][0]["input"].update(
            command=f"export API_TOKEN={secret} && python -m pytest -q"
        ),
        "said": lambda r: r["message"].update(content=f"Always use the token {secret} for it."),
    }
    kinds = {"output": "tool_result", "command": "tool_use", "said": ""}
    for record in records:
        content = record.get("message", {}).get("content")
        kind = content[0]["type"] if isinstance(content, list) else ""
        usual = kind == kinds[place] and (kind != "tool_use" or content[0]["name"] == "Bash")
        if content is not None and usual and not (kind == "" and isinstance(content, list)):
            texts[place](record)
    path = tmp_path / "secret.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert secret not in whole(path)


def test_lone_surrogates_do_not_break_the_state(tmp_path: Path, demo_session: Path):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(demo_session.read_bytes().replace(b"below 2 seconds", rb"below \ud83d 2"))
    whole(path).encode("utf-8")


def test_a_pivot_is_summed_up_as_if_the_session_ended_there(demo_session: Path):
    full = whole(demo_session)
    seen = []
    for summary in pivots(demo_session, settings=SETTINGS):
        state = load_state(dump(summary.state), "here")
        seen.append(state.session.messages)
        until = whole(demo_session, until=state.session.messages - 1)
        assert dump(state) == (full if len(seen) == 2 else until)
    assert len(seen) == 2, "the compaction, and the end"


REFUSED = [
    ("", "not the state"),
    ("[]", "not the state"),
    (json.dumps({"schema_version": SCHEMA_VERSION + 1}), "newer version"),
    (json.dumps({"schema_version": SCHEMA_VERSION, "goals": [{"id": 1}]}), "damaged at goals.0"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_a_state_that_cannot_be_read_says_why(text: str, why: str):
    with pytest.raises(CheckpointError, match=why):
        load_state(text, "here")


def test_the_messages_around_an_evidence_are_shown_masked(tmp_path: Path, demo_session: Path):
    secret = secrets()["github"]
    path = tmp_path / "secret.jsonl"
    path.write_bytes(demo_session.read_bytes().replace(b"below 2 seconds", secret.encode()))
    said = neighbours(path, settings=SETTINGS, around=[0], reach=1)
    assert sorted(said) == [0, 1]
    assert "over 40 seconds" in said[0]
    assert secret not in "".join(said.values())


def test_saving_twice_makes_one_commit(repository: Path, demo_session: Path, git: Git):
    store = Store.open(repository)
    first = save(demo_session, store=store, settings=SETTINGS)
    assert first.checkpoint is not None
    assert store.read(first.checkpoint, "checkpoint.md").decode() == first.text
    again = save(demo_session, store=store, settings=SETTINGS)
    assert again.checkpoint is None
    assert len(store.list()) == 1
    assert git("rev-list", "--count", first.checkpoint.ref, at=repository) == "1"


def test_a_later_save_reads_what_is_new_and_gives_the_same(
    tmp_path: Path, repository: Path, demo_session: Path
):
    path = tmp_path / "growing.jsonl"
    store = Store.open(repository)
    for end in (10, 11, 30, 56):
        path.write_bytes(b"".join(lines(demo_session)[:end]))
        saved = save(path, store=store, settings=SETTINGS)
        assert saved.checkpoint is not None
        assert saved.summary.continued == (end > 10)
        assert dump(checkpoint_state(store, saved.checkpoint)) == whole(path)
    assert saved.summary.read < saved.summary.state.session.messages


def test_a_damaged_checkpoint_is_replaced_by_a_full_reading(repository: Path, demo_session: Path):
    store = Store.open(repository)
    state = summarise(demo_session, settings=SETTINGS).state
    store.write(
        agent=state.session.agent,
        session=state.session.id,
        files={"checkpoint.md": b"x", "state.json": b"{}"},
        subject="damaged",
        body="",
        reason="test",
        messages=1,
        continues="",
    )
    saved = save(demo_session, store=store, settings=SETTINGS)
    assert saved.checkpoint is not None
    assert not saved.summary.continued


def test_a_checkpoint_for_each_pivot(repository: Path, demo_session: Path):
    store = Store.open(repository)
    made = [one.checkpoint for one in save_at_pivots(demo_session, store=store, settings=SETTINGS)]
    assert [one.reason for one in made if one] == ["pivot-compaction", "pivot-end"]
    assert len(store.list()) == 2
    again = [one.checkpoint for one in save_at_pivots(demo_session, store=store, settings=SETTINGS)]
    assert again == [None, None], "nothing is told twice"


def test_the_repository_is_left_alone(repository: Path, demo_session: Path, git: Git):
    (repository / "README").write_text("changed\n", encoding="utf-8")
    (repository / "staged").write_text("x\n", encoding="utf-8")
    git("add", "staged", at=repository)
    watched = [".git/HEAD", ".git/index", ".git/config", "README", "staged"]

    def look() -> list[Any]:
        files = [(repository / name).read_bytes() for name in watched]
        return [*files, git("status", "--porcelain", at=repository), git("branch", at=repository)]

    before = look()
    save(demo_session, store=Store.open(repository), settings=SETTINGS)
    assert look() == before


def test_no_file_is_read_error(tmp_path: Path):
    with pytest.raises(ReadError, match="no such file"):
        summarise(tmp_path / "nowhere.jsonl", settings=SETTINGS)


def test_an_empty_state_is_a_state():
    assert load_state(dump(State()), "here") == State()
