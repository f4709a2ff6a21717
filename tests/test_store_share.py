"""The store: push, pull, prune, export and import."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checkpoint.errors import StoreError
from checkpoint.store import Checkpoint, Exchange, Store
from tests.conftest import Git
from tests.test_store import save, saved, world

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def hub(tmp_path: Path, repository: Path, git: Git) -> Path:
    """A bare repository that is `origin` of `repository` and of `other`."""
    hub = tmp_path / "hub.git"
    git("clone", "--quiet", "--bare", str(repository), str(hub))
    git("clone", "--quiet", str(hub), str(tmp_path / "other"))
    git("remote", "add", "origin", str(hub), at=repository)
    return hub


@pytest.fixture
def other(tmp_path: Path, hub: Path) -> Path:
    """Another clone of the same hub."""
    return tmp_path / "other"


def refs(git: Git, at: Path) -> dict[str, str]:
    lines = git("for-each-ref", "--format=%(refname) %(objectname)", at=at).splitlines()
    return dict(line.split(" ") for line in lines)  # type: ignore[misc]


# Push and pull


def test_nothing_to_share(repository: Path, other: Path, hub: Path, git: Git) -> None:
    before = refs(git, hub), refs(git, other)
    assert Store.open(repository).push("origin") == Exchange("origin")
    assert Store.open(other).pull("origin") == Exchange("origin")
    assert (refs(git, hub), refs(git, other)) == before


def test_push_and_pull_move_checkpoints_only(
    repository: Path, other: Path, hub: Path, git: Git
) -> None:
    for name, value in [("push.followTags", "true"), ("remote.origin.push", "refs/heads/*")]:
        git("config", name, value, at=repository)
    git("commit", "--quiet", "--allow-empty", "-m", "Not pushed", at=repository)
    git("tag", "-a", "-m", "t", "tag", at=repository)
    (other / "README").write_text("in work")
    mine = Store.open(repository)
    first, second = saved(mine, "one"), saved(mine, "two")
    before = refs(git, hub), world(other), world(repository)

    assert mine.push("origin") == Exchange("origin", (first.ref,))
    assert refs(git, hub) == {**before[0], first.ref: second.commit}
    assert mine.push("origin") == Exchange("origin")

    theirs = Store.open(other)
    fetched = "refs/checkpoints-remotes/origin/claude/s1"
    assert theirs.pull("origin") == Exchange("origin", (fetched,))
    assert theirs.pull("origin") == Exchange("origin")
    assert (world(other), world(repository)) == before[1:]

    assert theirs.list() == []
    assert theirs.latest("claude", "s1") is None
    found = theirs.list(remote=True)
    assert [(one.id, one.remote, one.ref) for one in found] == [
        (second.id, "origin", fetched),
        (first.id, "origin", fetched),
    ]
    assert theirs.find("s1~1").id == first.id
    assert theirs.read(found[1], "checkpoint.md") == b"# one\n"
    # pulled back where they came from they are not told twice
    assert mine.pull("origin").moved == (fetched,)
    assert mine.list(remote=True) == [second, first]


def test_two_machines_in_one_session(repository: Path, other: Path, hub: Path, git: Git) -> None:
    mine, theirs = Store.open(repository), Store.open(other)
    made = saved(mine, "mine")
    saved(theirs, "theirs")
    free = saved(theirs, "free", "s2")
    mine.push("origin")
    result = theirs.push("origin")
    assert result.moved == (free.ref,)
    ((ref, why),) = result.rejected
    assert ref == made.ref
    assert "rejected" in why
    assert refs(git, hub)[made.ref] == made.commit
    theirs.pull("origin")
    own, fetched = theirs.list(session="s1", remote=True)
    assert {own.remote, fetched.remote} == {"", "origin"}
    assert theirs.find("s1").remote == ""


def test_pull_keeps_what_the_remote_has_no_more(
    repository: Path, other: Path, hub: Path, git: Git
) -> None:
    made = saved(Store.open(repository))
    Store.open(repository).push("origin")
    for name, value in [("fetch.prune", "true"), ("remote.origin.fetch", "+refs/*:refs/*")]:
        git("config", name, value, at=other)
    own = saved(Store.open(other), "own", "s2")
    Store.open(other).pull("origin")
    git("update-ref", "-d", made.ref, at=hub)
    Store.open(other).pull("origin")
    assert {one.commit for one in Store.open(other).list(remote=True)} == {made.commit, own.commit}
    assert made.ref not in refs(git, other)


@pytest.mark.parametrize("remote", ["nowhere", "--upload-pack=touch x", "", "-x/y", "ext::sh -c x"])
def test_wrong_remotes(remote: str, repository: Path, hub: Path) -> None:
    store = Store.open(repository)
    saved(store)
    for act in (store.push, store.pull):
        with pytest.raises(StoreError, match=r"no remote called .*; there is origin"):
            act(remote)


def test_a_remote_that_is_gone(repository: Path, git: Git, tmp_path: Path) -> None:
    git("remote", "add", "lost", str(tmp_path / "gone.git"), at=repository)
    store = Store.open(repository)
    saved(store)
    for act in (store.push, store.pull):
        with pytest.raises(
            StoreError, match="does not appear to be a git repository; is the remote"
        ):
            act("lost")


def test_outside_a_repository_by_address(tmp_path: Path, hub: Path, git: Git) -> None:
    (tmp_path / "plain").mkdir()
    store = Store.open(tmp_path / "plain")
    made = saved(store)
    assert store.push(str(hub)).moved == (made.ref,)
    assert refs(git, hub)[made.ref] == made.commit


# Prune


@pytest.fixture
def aged(repository: Path) -> tuple[Store, dict[str, Checkpoint]]:
    """Five sessions, a day apart; the newest is "s0" and of two checkpoints."""
    store = Store.open(repository)
    saved(store, "before", "s0", at=NOW - timedelta(days=30))
    return store, {
        f"s{n}": saved(store, "x", f"s{n}", at=NOW - timedelta(days=n)) for n in range(5)
    }


@pytest.mark.parametrize(
    ("rule", "gone"),
    [
        ({"keep": 5}, []),
        ({"older_than": timedelta(days=9)}, []),
        ({"keep": 3}, ["s3", "s4"]),
        ({"keep": 0}, ["s0", "s1", "s2", "s3", "s4"]),
        ({"older_than": timedelta(days=1, hours=12)}, ["s2", "s3", "s4"]),
        ({"keep": 3, "older_than": timedelta(days=3, hours=12)}, ["s4"]),
        ({"keep": 4, "older_than": timedelta(days=1)}, ["s4"]),
    ],
)
def test_prune(
    rule: dict[str, Any],
    gone: list[str],
    aged: tuple[Store, dict[str, Checkpoint]],
    git: Git,
    repository: Path,
) -> None:
    store, made = aged
    going = [made[name] for name in gone]
    before = store.list()
    assert store.prune(**rule, dry_run=True) == going
    assert store.list() == before
    assert store.prune(**rule) == going
    left = {one.session for one in store.list()}
    assert left == set(made) - set(gone)
    assert "s0" not in left or len(store.list(session="s0")) == 2
    assert git("rev-parse", "main", at=repository)


def test_prune_needs_a_rule(repository: Path) -> None:
    with pytest.raises(StoreError, match="nothing says what may go"):
        Store.open(repository).prune()
    with pytest.raises(StoreError, match="-1 sessions cannot be kept"):
        Store.open(repository).prune(keep=-1)


def test_prune_works_on_packed_refs_and_leaves_fetched_ones(
    aged: tuple[Store, dict[str, Checkpoint]], git: Git, repository: Path, hub: Path
) -> None:
    store, made = aged
    store.push("origin")
    store.pull("origin")
    git("pack-refs", "--all", at=repository)
    assert len(store.prune(keep=1)) == 4
    assert {one.session: one.remote for one in store.list(remote=True)} == {
        "s0": "",
        "s1": "origin",
        "s2": "origin",
        "s3": "origin",
        "s4": "origin",
    }
    # the session goes on although its own checkpoints went
    assert saved(store, "again", "s1").parent == ""
    assert made["s1"].ref in refs(git, hub)


# Export and import


def test_export_and_import(repository: Path, other: Path, tmp_path: Path, git: Git) -> None:
    mine, theirs = Store.open(repository), Store.open(other)
    files = {"checkpoint.md": "# Über 会话\r\n".encode(), "odd": b"\xff\x00\n", "empty": b""}
    saved(mine, "one")
    made = saved(mine, files=files, body="Two\n\nparagraphs", continues="s0")
    path = tmp_path / "out.json"
    mine.export(made, path)
    first = path.read_bytes()
    mine.export(made, path)
    assert path.read_bytes() == first
    assert sorted(one.name for one in tmp_path.glob("*out*")) == ["out.json"]

    before = world(other)
    brought = theirs.import_(path)
    assert world(other) == before
    assert {name: theirs.read(brought, name) for name in theirs.files(brought)} == files
    for name in Checkpoint.__slots__:
        if name not in ("commit", "ref", "parent", "remote"):
            assert getattr(brought, name) == getattr(made, name), name
    assert (brought.remote, brought.parent) == ("imported", "")
    assert theirs.list() == []
    assert theirs.import_(path) == brought
    assert theirs.list(remote=True) == [brought]
    assert "Two\n\nparagraphs\n\nCheckpoint-Id" in git(
        "log", "-1", "--format=%B", brought.commit, at=other
    )
    # where it comes from it is known
    assert mine.import_(path) == made
    # and handed on it is the same
    theirs.export(brought, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first


def test_import_outside_a_repository(repository: Path, tmp_path: Path) -> None:
    store = Store.open(repository)
    store.export(saved(store, "one"), tmp_path / "1.json")
    store.export(saved(store, "two"), tmp_path / "2.json")
    (tmp_path / "plain").mkdir()
    plain = Store.open(tmp_path / "plain")
    for name in ("2.json", "1.json"):
        plain.import_(tmp_path / name)
    assert {one.subject for one in plain.list(remote=True)} == {
        "checkpoint: one",
        "checkpoint: two",
    }
    assert save(plain, "two") is not None  # foreign ones do not count as ours


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "x"}, "not a checkpoint that"),
        ({"version": 2}, "written in format 2, and this program reads 1; update it"),
        ({"trailers": None}, "no usable id"),
        ({"trailers": {"Id": "../../x"}}, "no usable id"),
        ({"trailers": {"Id": "abcdef", "Agent": 1}}, "agent or session is missing"),
        ({"at": "yesterday"}, "its time is 'yesterday'"),
        ({"files": {}}, "no files"),
        ({"files": {"../x": {"text": ""}}}, "the file '../x' cannot be used"),
        ({"files": {".git": {"text": ""}}}, "the file '.git' cannot be used"),
        ({"files": {"x": {"base64": "?"}}}, "the file 'x' cannot be used"),
        ({"files": {"x": "text"}}, "the file 'x' cannot be used"),
    ],
)
def test_import_of_damaged_files(
    change: dict[str, Any], words: str, repository: Path, tmp_path: Path, git: Git
) -> None:
    store = Store.open(repository)
    path = tmp_path / "out.json"
    store.export(saved(store), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    before = refs(git, repository)
    with pytest.raises(StoreError, match=words):
        store.import_(path)
    assert refs(git, repository) == before


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b"null", b"[" * 100_000])
def test_import_of_something_else(content: bytes, repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"x\.json: not a"):
        Store.open(repository).import_(path)


def test_paths_that_cannot_be(repository: Path, tmp_path: Path) -> None:
    store = Store.open(repository)
    made = saved(store)
    with pytest.raises(StoreError, match="cannot be written"):
        store.export(made, tmp_path / "gone" / "x.json")
    with pytest.raises(StoreError, match="cannot be written"):
        store.export(made, tmp_path)
    with pytest.raises(StoreError, match="cannot be read"):
        store.import_(tmp_path / "gone.json")
