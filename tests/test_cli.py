"""The commands: what each does, and what it prints where."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import Checkpoint, Git, process


def test_extract_prints_the_document_and_touches_nothing(
    checkpoint: Checkpoint, demo_session: Path, repository: Path, home: Path, git: Git
):
    def files() -> list[str]:
        return sorted(str(p) for root in (repository, home) for p in root.rglob("*"))

    before = files()
    ran = checkpoint("extract", demo_session)
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.startswith("# Checkpoint")
    assert "## Goal" in ran.out
    assert files() == before
    assert git("for-each-ref", "refs/checkpoints", at=repository) == ""


def test_extract_prints_the_state(checkpoint: Checkpoint, demo_session: Path):
    state = json.loads(checkpoint("extract", demo_session, "--format", "json").out)
    assert state == json.loads(checkpoint("extract", demo_session, "--json").out)
    assert state["session"]["source"] == str(demo_session)
    short = json.loads(checkpoint("extract", demo_session, "--json", "--until", 3).out)
    assert short["session"]["messages"] == 4


def test_extract_keeps_to_the_budget(checkpoint: Checkpoint, demo_session: Path):
    full = checkpoint("extract", demo_session).out
    short = checkpoint("extract", demo_session, "--budget", 300).out
    assert len(short) <= 1200 < len(full)


def test_extract_reads_standard_input(demo_session: Path):
    with demo_session.open("rb") as file:
        done = process("extract", "-", "--json", stdin=file)
    assert done.returncode == 0
    state = json.loads(done.stdout)
    assert state["session"]["source"] == "-"
    assert "/tmp" not in state["session"]["id"]


def test_a_template_of_ones_own(checkpoint: Checkpoint, demo_session: Path, tmp_path: Path):
    own = tmp_path / "own.md.j2"
    own.write_text("{{ state.session.messages }} messages\n", encoding="utf-8")
    assert checkpoint("extract", demo_session, "--template", own).out.endswith(" messages\n")
    own.write_text("{{ state.nothing }}\n", encoding="utf-8")
    ran = checkpoint("extract", demo_session, "--template", own)
    assert (ran.code, ran.out) == (1, "")
    assert "nothing" in ran.err


def test_save_takes_the_newest_session_and_says_why(
    checkpoint: Checkpoint, found_session: Path, demo: ModuleType
):
    ran = checkpoint("save")
    assert ran.code == 0, ran.err
    assert demo.SESSION in ran.err
    assert "refs/checkpoints/claude-code/" in ran.out
    again = checkpoint("save")
    assert again.code == 0
    assert "nothing new" in again.out


@pytest.mark.parametrize("form", ["file", "id", "prefix"])
def test_save_takes_what_is_named(
    checkpoint: Checkpoint, found_session: Path, demo: ModuleType, form: str
):
    asked = {"file": found_session, "id": demo.SESSION, "prefix": demo.SESSION[:6]}[form]
    told = json.loads(checkpoint("save", asked, "--json").out)
    assert told["session"] == demo.SESSION
    assert told["agent"] == "claude-code"
    assert told["checkpoint"]


def test_save_at_pivots(checkpoint: Checkpoint, demo_session: Path):
    told = json.loads(checkpoint("save", demo_session, "--at-pivots", "--json").out)
    assert len(told) == 2
    log = json.loads(checkpoint("log", "--json").out)
    assert [one["id"] for one in log] == [one["checkpoint"] for one in reversed(told)]


def test_the_commit_says_what_was_asked(checkpoint: Checkpoint, demo_session: Path):
    checkpoint("save", demo_session, "--reason", "session-end", "-m", "Before the holidays")
    (entry,) = json.loads(checkpoint("log", "--json").out)
    assert entry["subject"] == "Before the holidays"
    assert entry["reason"] == "session-end"


@pytest.fixture
def saved(checkpoint: Checkpoint, demo_session: Path) -> list[str]:
    """Two checkpoints of the demo session: at its compaction, and at its end."""
    told = json.loads(checkpoint("save", demo_session, "--at-pivots", "--json").out)
    return [one["checkpoint"] for one in told]


def test_show_prints_what_was_saved(checkpoint: Checkpoint, saved: list[str], demo_session: Path):
    assert checkpoint("show").out == checkpoint("extract", demo_session).out
    first = checkpoint("show", saved[0])
    assert first.code == 0
    assert first.out != checkpoint("show").out
    assert json.loads(checkpoint("show", "--format", "json").out)["schema_version"] == 1
    assert checkpoint("show", "--file", "checkpoint.md").out == checkpoint("show").out
    assert checkpoint("show", "--file", "nothing").code == 1


def test_log_lists_them(checkpoint: Checkpoint, saved: list[str]):
    ran = checkpoint("log")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["ID", saved[1], saved[0]]
    assert len(checkpoint("log", "-n", 1).out.splitlines()) == 2
    assert json.loads(checkpoint("log", "--agent", "codex", "--json").out) == []


def test_diff_tells_facts_apart(checkpoint: Checkpoint, saved: list[str]):
    assert checkpoint("diff", saved[1], saved[1]).out == ""
    changes = json.loads(checkpoint("diff", saved[0], "--json").out)
    done = [one for one in changes if one["act"] == "done"]
    assert any("astronomical" in one["text"] for one in done)
    assert any(one["act"] == "new" and "e90d2f7" in one["text"] for one in changes) or any(
        "e90d2f7" in one["text"] for one in done
    )
    text = checkpoint("diff", *saved).out
    assert "done:\n" in text
    back = json.loads(checkpoint("diff", saved[1], saved[0], "--json").out)
    assert {one["act"] for one in back} & {"reopened", "gone"}


def test_why_shows_evidence_and_what_was_said_around_it(
    checkpoint: Checkpoint, saved: list[str], demo_session: Path
):
    (goal, *_) = json.loads(checkpoint("show", "--json").out)["goals"]
    ran = checkpoint("why", goal["id"])
    assert ran.code == 0
    assert f"goal {goal['id']}" in ran.out
    assert "> " in ran.out
    assert "around it:" in ran.out
    assert "I'll look at the machine first" in ran.out
    told = json.loads(checkpoint("why", goal["id"][:4], "--json").out)
    assert told[0]["evidence"][0]["message"] == 0
    demo_session.unlink()
    gone = checkpoint("why", goal["id"])
    assert gone.code == 0
    assert "only the quotes are left" in gone.err
    assert "around it:" not in gone.out


def test_resume_prints_a_briefing(checkpoint: Checkpoint, saved: list[str]):
    ran = checkpoint("resume", "--print")
    assert ran.code == 0
    assert "below 2 seconds" in ran.out


def test_sessions_lists_those_of_the_directory(
    checkpoint: Checkpoint, found_session: Path, demo: ModuleType, tmp_path: Path
):
    assert demo.SESSION in checkpoint("sessions").out
    (one,) = json.loads(checkpoint("sessions", "--json").out)
    assert one["session"] == demo.SESSION
    assert json.loads(checkpoint("sessions", "--agent", "codex", "--json").out) == []
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = checkpoint("sessions", "-C", elsewhere)
    assert (ran.code, ran.out) == (0, "")
    assert demo.SESSION in checkpoint("sessions", "-C", elsewhere, "--all").out


PRINTING = [("readers",), ("config", "show"), ("schema",)]


@pytest.mark.parametrize("arguments", PRINTING)
def test_what_needs_no_session(checkpoint: Checkpoint, arguments: tuple[str, ...]):
    plain = checkpoint(*arguments)
    assert plain.code == 0
    assert plain.out
    as_json = [] if arguments == ("schema",) else ["--json"]
    assert json.loads(checkpoint(*arguments, *as_json).out)


GOOSE = Path(__file__).parent / "fixtures" / "readers" / "goose" / "store" / "session.db"


def test_a_session_is_chosen_inside_a_store(checkpoint: Checkpoint, tmp_path: Path):
    store = tmp_path / "with#mark.db"
    store.write_bytes(GOOSE.read_bytes())
    ids = ["20260303_1", "20260304_1"]
    for asked in ids:
        told = json.loads(checkpoint("save", f"{store}#{asked}", "--json").out)
        assert (told["agent"], told["session"]) == ("goose", asked)
        state = json.loads(checkpoint("extract", f"{store}#{asked}", "--json").out)
        assert state["session"]["id"] == asked
    newest = json.loads(checkpoint("extract", store, "--json").out)["session"]["id"]
    assert newest in ids
    ran = checkpoint("extract", f"{store}#nothing")
    assert ran.code == 1
    assert "nothing" in ran.err
