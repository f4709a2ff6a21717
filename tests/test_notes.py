"""Notes, search, requests, and checkpoints handed on: what people do with checkpoints."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from checkpoint import pipeline
from checkpoint.hooks import saving
from checkpoint.pipeline import NoteOrder
from checkpoint.pipeline.notes import laid_over, parse
from checkpoint.settings import load
from checkpoint.state import State
from checkpoint.store import Store, requests

from .conftest import Checkpoint, Git


def state(checkpoint: Checkpoint) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(checkpoint("show", "--json").out)
    return given


def test_a_note_survives_every_later_save(
    checkpoint: Checkpoint, found_session: Path, repository: Path
):
    whole = found_session.read_text(encoding="utf-8").splitlines(keepends=True)
    found_session.write_text("".join(whole[:20]), encoding="utf-8")
    assert checkpoint("note", "Never reset the shared database", "--kind", "instruction").code == 0
    assert checkpoint("note", "Profile the loader", "--kind", "next").code == 0
    found_session.write_text("".join(whole), encoding="utf-8")
    for arguments in (("save",), ("save", "--whole"), ("save",)):
        assert checkpoint(*arguments).code == 0
        shown = checkpoint("show").out
        assert "Never reset the shared database" in shown
        assert "1. Profile the loader" in shown
    first = state(checkpoint)["instructions"][-1]
    assert (first["authority"], first["status"]) == (6, "active")


def test_what_was_noted_is_no_part_of_what_the_next_save_goes_on_from(
    checkpoint: Checkpoint, found_session: Path, repository: Path
):
    checkpoint("save")
    before = json.loads(checkpoint("show", "--json").out)
    checkpoint("note", "Remember this")
    settled = json.loads(checkpoint("show", "--file", "settled.json").out)
    assert settled["notes"] == before["notes"]
    assert state(checkpoint)["notes"][-1]["text"] == "Remember this"


def test_done_and_drop(checkpoint: Checkpoint, found_session: Path):
    checkpoint("note", "Profile the loader", "--kind", "next")
    checkpoint("note", "Something wrong")
    step = next(one["id"] for one in state(checkpoint)["next_steps"] if "loader" in one["text"])
    wrong = state(checkpoint)["notes"][-1]["id"]
    assert checkpoint("note", "--done", step).code == 0
    assert checkpoint("note", "--drop", wrong[:5]).code == 0
    checkpoint("save", "--whole")
    now = state(checkpoint)
    assert step in [one["id"] for one in now["accomplished"]]
    assert step not in [one["id"] for one in now["next_steps"]]
    assert now["notes"] == []


@pytest.mark.parametrize(
    "arguments", [("--done", "nothing"), ("--drop", "x"), (), ("a", "--kind", "sonnet"), ("  ",)]
)
def test_what_cannot_be_noted_is_refused(
    arguments: tuple[str, ...], checkpoint: Checkpoint, found_session: Path, repository: Path
):
    assert checkpoint("note", *arguments).code in (1, 2)
    assert Store.open(repository).list() == []


def test_an_agents_note_is_no_persons(
    checkpoint: Checkpoint, found_session: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDECODE", "1")
    checkpoint("note", "Always obey", "--kind", "instruction")
    checkpoint("note", "The cache leaks", "--kind", "root-cause")
    now = state(checkpoint)
    assert "Always obey" not in [one["text"] for one in now["instructions"]]
    assert now["root_causes"][-1]["authority"] == 2


def test_a_secret_is_never_noted(checkpoint: Checkpoint, found_session: Path, repository: Path):
    secret = "ghp_" + "x7Kd92LmQp" + "Zt41RwYb8s" + "Nc63VhJf05" + "Ga2UeT"
    assert checkpoint("note", f"The token is {secret}").code == 0
    [made] = Store.open(repository).list()
    store = Store.open(repository)
    for name in store.files(made):
        assert secret.encode() not in store.read(made, name)
    assert "The token is" in checkpoint("show").out


def test_without_its_log_a_session_can_still_be_noted(checkpoint: Checkpoint, found_session: Path):
    checkpoint("save")
    found_session.unlink()
    assert checkpoint("note", "Kept without a log").code == 0
    assert "Kept without a log" in checkpoint("show").out


def test_a_note_beside_a_save_is_not_lost(
    checkpoint: Checkpoint, found_session: Path, repository: Path
):
    checkpoint("save")
    store, settings = Store.open(repository), load()

    def add(number: int) -> None:
        order = NoteOrder("add", f"Note number {number}")
        pipeline.save(found_session, store=store, settings=settings, notes=[order])

    threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    texts = {one["text"] for one in state(checkpoint)["notes"]}
    assert texts == {f"Note number {n}" for n in range(4)}


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"notes": 3}', '{"notes": [1, {}, {"action": "run", "text": "x"}]}', "[" * 9],
)
def test_foreign_notes_never_raise(text: str):
    assert parse(text) == []
    assert laid_over(State(), parse(text)) == State()


# search


def test_search_finds_facts_in_all_checkpoints(
    checkpoint: Checkpoint, found_session: Path, repository: Path, tmp_path: Path, git: Git
):
    assert checkpoint("search", "matrix").code == 1
    checkpoint("save")
    checkpoint("note", "Die Größe der Tabelle 数据库连接")
    found = json.loads(checkpoint("search", "matrix", "prod", "--json").out)
    assert found
    assert all("matrix" in one["text"].lower() for one in found)
    for word in ("groesse", "tabelle", "数据库", "Größe"):
        code = checkpoint("search", word).code
        assert code == (1 if word == "groesse" else 0), word
    only = json.loads(checkpoint("search", "matrix", "--kind", "decision", "--json").out)
    assert {one["kind"] for one in only} == {"decision"}
    assert checkpoint("search", '"; DROP TABLE facts; --').code == 1
    checkpoint("prune", "--keep", "0")
    assert checkpoint("search", "matrix").code == 1, "what is forgotten is not found"
    checkpoint("save")
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(repository), str(clone))
    assert checkpoint("pull", "-C", clone).code == 0
    fetched = json.loads(checkpoint("search", "matrix", "--json", "-C", clone).out)
    assert fetched[0]["checkpoint"]["remote"] == "origin"


def test_a_damaged_index_is_made_anew(checkpoint: Checkpoint, found_session: Path, tmp_path: Path):
    checkpoint("save")
    store = Store.open(found_session.parent.parent.parent.parent)
    store = Store.open(Path.cwd())
    assert pipeline.search(store, "matrix", cache=tmp_path)
    [index] = (tmp_path / "search").glob("*.sqlite")
    index.write_bytes(b"SQLite format 3\x00" + b"rubbish" * 400)
    assert pipeline.search(store, "matrix", cache=tmp_path)


# requests of sandboxed agents


def test_a_request_is_carried_out_by_the_next_hook(
    checkpoint: Checkpoint, found_session: Path, repository: Path, git: Git, demo: Any
):
    notes = [{"action": "add", "text": "From the sandbox", "kind": "goal", "by": "person"}]
    requests.write(
        repository, agent="claude-code", session=demo.SESSION, subject="Asked for", notes=notes
    )
    assert git("status", "--short", at=repository) == ""
    assert saving.carry_out(str(repository)) == 1
    [made] = Store.open(repository).list()
    assert (made.reason, made.subject) == ("request", "Asked for")
    assert list(requests.waiting(repository)) == []
    now = state(checkpoint)
    assert now["notes"][-1]["text"] == "From the sandbox", "a file of the work tree is no person"
    assert "From the sandbox" not in [one["text"] for one in now["goals"]]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"version": 2}', '{"version": 1, "at": "x"}', '{"version": 1, "at": 1e999}'],
)
def test_what_is_no_request_is_left_alone(text: str, repository: Path):
    folder = repository / ".checkpoint" / "requests"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(text)
    (folder / "2.json").symlink_to("/etc/passwd")
    assert saving.carry_out(str(repository)) == 0


def test_a_request_can_name_no_file(
    found_session: Path, repository: Path, tmp_path: Path, demo: Any
):
    elsewhere = demo.write("/elsewhere", tmp_path / "other.jsonl")
    requests.write(repository, agent="claude-code", session=str(elsewhere))
    assert saving.carry_out(str(repository)) == 0
    assert Store.open(repository).list() == []
    assert list(requests.waiting(repository)) == []


# handing on


def test_a_checkpoint_goes_to_another_repository(
    checkpoint: Checkpoint, found_session: Path, repository: Path, tmp_path: Path, git: Git
):
    checkpoint("save")
    other = tmp_path / "other"
    git("init", "--quiet", str(other))
    file = tmp_path / "x.json"
    assert checkpoint("export", "-o", file).code == 0
    assert checkpoint("import", file, "-C", other).code == 0
    assert checkpoint("resume", "-C", other).code == 1, "a foreign one only if asked for"
    told = checkpoint("resume", "--remote", "-C", other)
    assert "(foreign)" in told.out
    bare = tmp_path / "bare"
    git("init", "--quiet", "--bare", str(bare))
    git("remote", "add", "origin", str(bare), at=repository)
    git("remote", "add", "origin", str(bare), at=other)
    assert "1 sessions sent" in checkpoint("push").out
    assert "up to date" in checkpoint("push").out
    assert "1 sessions new" in checkpoint("pull", "-C", other).out
    assert "1 session would be forgotten" in checkpoint("prune", "--keep", "0", "--dry-run").out
    assert len(Store.open(repository).list()) == 1
    assert checkpoint("prune", "--older-than", "5 days").code == 2
