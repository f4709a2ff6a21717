"""The store: listing, finding, and what foreign commits may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoint.errors import StoreError
from checkpoint.store import Checkpoint, Store
from tests.conftest import Git
from tests.test_store import saved


@pytest.fixture
def stored(repository: Path) -> tuple[Store, dict[str, Checkpoint]]:
    """Two sessions that begin alike, of three checkpoints and one, and one of another agent."""
    store = Store.open(repository)
    return store, {
        "a1": saved(store, "1", "abc-first"),
        "a2": saved(store, "2", "abc-first"),
        "a3": saved(store, "3", "abc-first"),
        "b1": saved(store, "4", "abc-second"),
        "c1": saved(store, "5", "xyz", agent="codex"),
    }


def test_nothing_there_says_what_makes_one(repository: Path) -> None:
    with pytest.raises(StoreError, match="no checkpoint here yet; `checkpoint save` makes one"):
        Store.open(repository).find("latest")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("abc-first", "a3"),
        ("abc-f", "a3"),
        ("abc-first~0", "a3"),
        ("abc-f~2", "a1"),
        ("abc-s", "b1"),
        ("x", "c1"),
    ],
)
def test_by_session(name: str, key: str, stored: tuple[Store, dict[str, Checkpoint]]) -> None:
    store, made = stored
    assert store.find(name) == made[key]


def test_by_id_and_commit(stored: tuple[Store, dict[str, Checkpoint]]) -> None:
    store, made = stored
    for one in made.values():
        assert store.find(one.id) == one
        assert store.find(one.id[:9]) == one
        assert store.find(one.commit) == one
        assert store.find(one.commit[:10].upper()) == one
    assert store.find(f"{made['a3'].id}~1") == made["a2"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "abc",
            r"'abc' may be any of \w+ \(claude abc-.*, \w+ \(claude abc-.*; give more of its name",
        ),
        ("abc-first~3", r"goes back too far; the session's first checkpoint is \w+, 2 before"),
        ("nothing", r"'nothing'; there is \w+ \(.*`checkpoint log` shows all"),
        ("", "called ''"),
        ("~1", "called '~1'"),
        ("--all", "called '--all'"),
        ("\x1b[2Jx", r"called '\[2Jx'"),
    ],
)
def test_unclear_names(name: str, words: str, stored: tuple[Store, dict[str, Checkpoint]]) -> None:
    with pytest.raises(StoreError, match=words):
        stored[0].find(name)


def test_list_narrows(stored: tuple[Store, dict[str, Checkpoint]]) -> None:
    store, made = stored
    of_a = [made["a3"], made["a2"], made["a1"]]
    assert set(store.list()) == set(made.values())
    assert store.list(session="abc-first") == of_a
    assert store.list(agent="claude", session="abc-first", limit=2) == of_a[:2]
    assert store.list(agent="codex") == [made["c1"]]
    assert store.list(agent="cod") == store.list(session="abc") == []
    assert store.latest("codex") == made["c1"]
    assert store.latest("codex", "abc-first") is None


def test_a_file_that_is_not_there(stored: tuple[Store, dict[str, Checkpoint]]) -> None:
    store, made = stored
    for name in ("gone.md", "../x", "./state.json", "-p", ""):
        with pytest.raises(StoreError, match=r"no file .*; it has checkpoint.md, state.json"):
            store.read(made["a1"], name)


def test_foreign_commits_under_our_refs(repository: Path, git: Git) -> None:
    """By hand, or by a hostile remote: no trailers, nonsense in them, a tag, a blob, code."""
    tree = git("rev-parse", "HEAD^{tree}", at=repository)
    odd = (
        "odd\x1b[31m\u202e subject\n\nCheckpoint-Id: ../../x\nCheckpoint-Messages: 9e9\n"
        "Checkpoint-Agent: a\nCheckpoint-Session: s\u200b\x07\n"
        "Checkpoint-Continues: \n"
    )
    commit = git("commit-tree", tree, "-m", odd, at=repository)
    git("update-ref", "refs/checkpoints/a/s", commit, at=repository)
    git("update-ref", "refs/checkpoints/a/code", "HEAD", at=repository)
    git("update-ref", "refs/checkpoints/a/blob", "HEAD:README", at=repository)
    git("tag", "-a", "-m", "x", "t", at=repository)
    git("update-ref", "refs/checkpoints/a/tag", "refs/tags/t", at=repository)
    store = Store.open(repository)
    made = saved(store)
    found = store.list()
    assert {one.commit for one in found} == {made.commit, commit}
    (foreign,) = (one for one in found if one.commit == commit)
    assert (foreign.id, foreign.messages, foreign.session) == (commit[:12], 0, "s")
    assert foreign.subject == "odd [31m subject"
    with pytest.raises(StoreError, match="it has README"):
        store.read(foreign, "state.json")
    # and a session whose ref holds such a thing goes on from it
    assert saved(store, "next", "code", agent="a").parent == git("rev-parse", "HEAD", at=repository)


def test_a_hand_made_ref_in_the_way_is_told(repository: Path, git: Git) -> None:
    git("update-ref", "refs/checkpoints/claude", "HEAD", at=repository)
    with pytest.raises(StoreError, match=r"cannot lock ref|exists; cannot create"):
        saved(Store.open(repository))


def test_a_symbolic_ref_moves_no_branch(repository: Path, git: Git) -> None:
    before = git("rev-parse", "main", at=repository)
    git("symbolic-ref", "refs/checkpoints/claude/s1", "refs/heads/main", at=repository)
    store = Store.open(repository)
    with pytest.raises(StoreError, match="only stands for refs/heads/main; git symbolic-ref"):
        saved(store)
    store.prune(keep=0)
    assert git("rev-parse", "main", at=repository) == before


@pytest.mark.parametrize(
    "text",
    [
        "---\ndiff --git a b",
        "# heading",
        "\n\nCheckpoint-Id: forged",
        "x\r\n\r\nCheckpoint-Agent: forged\n \nCheckpoint-Session: forged",
        "\u2028Checkpoint-Id: forged\x1cCheckpoint-Id: forged\x85",
        "Signed-off-by: x <y@example.org>\n(cherry picked from commit abc)",
        "\ud800\x00",
        " \t\n",
    ],
)
def test_hostile_text_comes_back_as_it_was_told(text: str, repository: Path) -> None:
    store = Store.open(repository)
    made = saved(
        store, subject=text, body=text, agent=text, session=text, reason=text, continues=text
    )
    assert store.list() == [made]
    assert store.find(made.id) == made
    assert "\n" not in made.subject + made.session + made.reason
