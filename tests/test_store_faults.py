"""The store: many writers at once, killed ones, and repositories that refuse."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checkpoint.errors import StoreError
from checkpoint.store import Store
from tests.conftest import Git
from tests.test_store import WRITER, save, saved

WRITERS = 12


def fsck(git: Git, repository: Path) -> str:
    """Everything that is wrong with the repository; objects without a ref are not."""
    found = subprocess.run(
        ["git", "fsck", "--full", "--strict", "--no-dangling"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    words = [one for one in found.stderr.splitlines() if not one.startswith(("notice", "Checking"))]
    return "\n".join([*words, found.stdout.strip()]).strip() + ("" if not found.returncode else "!")


# At once


def test_many_writers_of_one_session_lose_nothing(repository: Path, git: Git) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(lambda n: saved(Store.open(repository), f"{n}"), range(WRITERS)))
    stored = Store.open(repository).list()
    assert {one.commit for one in stored} == {one.commit for one in made}
    assert set(stored) == set(made)
    parents = [one.parent for one in stored]
    assert parents == [one.commit for one in stored[1:]] + [""]
    assert fsck(git, repository) == ""


def test_many_writers_of_the_same_state_make_one_commit(repository: Path) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(lambda _: save(Store.open(repository)), range(WRITERS)))
    (stored,) = Store.open(repository).list()
    assert {one for one in made if one is not None} == {stored}


@pytest.mark.parametrize("outside", [False, True])
def test_many_writers_of_many_sessions(outside: bool, repository: Path, tmp_path: Path) -> None:
    folder = repository
    if outside:  # all of them make the store
        folder = tmp_path / "plain"
        folder.mkdir()
    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(lambda n: saved(Store.open(folder), "x", f"s{n}"), range(WRITERS)))
    store = Store.open(folder)
    assert set(store.list()) == set(made)
    assert [one.name[0] for one in store.repository.git_dir.parent.iterdir()].count(".") in (0, 1)


def test_writers_in_processes_beside_gc(repository: Path, git: Git) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(repository), "s1", f"text {n}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(4)
    ]
    while any(one.poll() is None for one in writers):
        # the worst gc there is: sweeps objects that have no ref yet
        # (which may itself stumble over writers)
        gc = ["git", "gc", "--quiet", "--prune=now"]
        subprocess.run(gc, cwd=repository, check=False, stderr=subprocess.DEVNULL)
    made = {one.communicate()[0].strip() for one in writers}
    assert [one.returncode for one in writers] == [0] * 4
    assert {one.commit for one in Store.open(repository).list()} == made
    assert fsck(git, repository) == ""


# Killed


@pytest.mark.parametrize(
    "times", [8, pytest.param(200, marks=pytest.mark.stress)], ids=["few", "many"]
)
def test_killed_at_any_point(times: int, repository: Path, git: Git) -> None:
    """Our process and the git it started, with SIGKILL."""
    store = Store.open(repository)
    known = {saved(store, "before").commit}
    for n in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(repository), "s1", f"text {n}"],
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(random.Random(n).uniform(0.05, 0.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        stored = store.list()
        assert known <= {one.commit for one in stored}
        known = {one.commit for one in stored}
    if times > 100:
        assert len(known) > times / 10  # the kills did not all come before anything happened
    assert fsck(git, repository) == ""
    after = saved(store, "after")
    assert store.latest("claude", "s1") == after
    assert known < {one.commit for one in store.list()}


def test_fast_import_dies_halfway(
    repository: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(repository)
    first = saved(store)
    real = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *fast-import*)\n'
        f'  head -c 400 | "{real}" "$@"\n  kill -9 $$;; esac\nexec "{real}" "$@"\n'
    )
    wrapper.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(StoreError, match="git fast-import: "):
            save(store, "two")
    assert store.list() == [first]
    assert fsck(git, repository) == ""
    assert list((repository / ".git").glob("fast_import_crash_*")) == []
    assert saved(store, "two").parent == first.commit


def test_lock_of_a_killed_writer_is_removed(repository: Path) -> None:
    store = Store.open(repository)
    first = saved(store)
    lock = repository / ".git" / f"{first.ref}.lock"
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    assert saved(store, "two").parent == first.commit
    assert not lock.exists()


def test_lock_of_a_living_writer_is_waited_for(repository: Path) -> None:
    store = Store.open(repository)
    first = saved(store)
    lock = repository / ".git" / f"{first.ref}.lock"
    lock.touch()
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(saved, store, "two")
        time.sleep(0.5)
        assert not second.done()
        assert lock.exists()
        lock.unlink()
        assert second.result(timeout=10).parent == first.commit


def test_locked_index_does_not_matter(repository: Path) -> None:
    (repository / ".git" / "index.lock").touch()
    made = saved(Store.open(repository))
    assert made.dirty == "0"
    assert (repository / ".git" / "index.lock").exists()


# Mended


def lose(git: Git, repository: Path, name: str) -> None:
    """Remove a loose object, as a gc at the wrong moment or a failing disk would."""
    oid = git("rev-parse", name, at=repository)
    (repository / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


@pytest.mark.parametrize(
    ("lost", "kept"),
    [("{0}^{{tree}}", 1), ("{0}:checkpoint.md", 1), ("{0}", 0)],
    ids=["tree", "file", "commit"],
)
def test_session_goes_on_from_its_newest_whole_checkpoint(
    lost: str, kept: int, repository: Path, git: Git, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store.open(repository)
    elsewhere = saved(store, "elsewhere", "s2")
    first, second = saved(store, "one"), saved(store, "two")
    lose(git, repository, lost.format(second.commit))
    assert elsewhere in store.list()  # one broken session does not hide the others
    if lost == "{0}:checkpoint.md":  # nobody needs it to go on; what is there stays
        assert saved(store, "three").parent == second.commit
        return
    third = saved(store, "three")
    assert third.parent == (first.commit if kept else "")
    assert set(store.list(session="s1")) == ({third, first} if kept else {third})
    assert "the session goes on from" in caplog.text
    note = (repository / ".git" / "checkpoint-mended").read_text()
    assert note.split()[1:] == [third.ref, second.commit, first.commit if kept else "deleted"]
    assert fsck(git, repository) == ""


def test_a_session_with_a_hole_hides_nothing(repository: Path, git: Git) -> None:
    store = Store.open(repository)
    made = [saved(store, f"{n}") for n in range(3)]
    elsewhere = saved(store, "elsewhere", "s2")
    lose(git, repository, made[1].commit)
    assert {elsewhere, made[2]} <= set(store.list())
    assert store.latest("claude", "s1") == made[2]
    assert store.find("s2") == elsewhere


def test_nothing_is_mended_while_a_gc_moves_objects(repository: Path, git: Git) -> None:
    store = Store.open(repository)
    made = saved(store)
    lose(git, repository, made.commit)
    (repository / ".git" / "gc.pid").write_text("1 here")
    with pytest.raises(StoreError, match="missing object"):
        save(store, "two")
    assert git("rev-parse", made.ref, at=repository) == made.commit


def test_a_pack_too_while_a_gc_runs(repository: Path, git: Git) -> None:
    store = Store.open(repository)
    (repository / ".git" / "gc.pid").write_text("1 here")
    first, second = saved(store, "one"), saved(store, "two")
    packs = repository / ".git" / "objects" / "pack"
    assert {one.suffix for one in packs.iterdir()} <= {".pack", ".idx", ".rev"}
    for one in ("{0}", "{0}^{{tree}}", "{0}:checkpoint.md"):
        lose(git, repository, one.format(second.commit))
    assert store.list() == [second, first]
    assert store.read(second, "checkpoint.md") == b"# two\n"
    assert fsck(git, repository) == ""


# Refused


def _without_override() -> None:
    """Let permissions bind root too, in the child: no CAP_DAC_OVERRIDE after exec."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP


READ_ONLY = f"""{WRITER.partition("store =")[0]}
from checkpoint.errors import StoreError
store = Store.open(Path(sys.argv[1]))
print(store.writable(), len(store.list()))
try:
    store.write(agent="a", session="s", files={{"x": b"x"}}, subject="", body="", reason="",
                messages=0)
except StoreError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="drops a capability of Linux")
def test_read_only_repository(repository: Path, git: Git) -> None:
    made = saved(Store.open(repository))
    folders = [one for one in (repository / ".git").rglob("*") if one.is_dir()]
    folders.append(repository / ".git")
    for one in folders:
        one.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(repository)],
            preexec_fn=_without_override,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        for one in folders:
            one.chmod(0o755)
    said = done.stdout.splitlines()
    assert said[0] == "False 1"
    assert "cannot be written from here; save from outside the sandbox" in said[1]
    assert str(repository) in said[1]
    assert Store.open(repository).list() == [made]
    assert fsck(git, repository) == ""


FULL = """
mount -t tmpfs -o size=400k tmpfs "$1" && cd "$1" && git init --quiet --template= . && "$2" -c "$3"
git fsck --full --strict --no-dangling
"""

FILL = f"""{WRITER.partition("store =")[0]}
import os
from checkpoint.errors import StoreError
store = Store.open(Path.cwd())
made = []
try:
    for n in range(50):
        made.append(store.write(agent="a", session="s", files={{"x": os.urandom(30000)}},
                                subject="", body="", reason="", messages=n))
except StoreError as error:
    print(error)
print(len(made), made[::-1] == store.list())
"""


def test_full_disk(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-m", "true"], check=False).returncode != 0:
        pytest.skip("may not mount a small disk")
    done = subprocess.run(
        [unshare, "-m", "sh", "-c", FULL, "sh", str(tmp_path), sys.executable, FILL],
        capture_output=True,
        text=True,
        check=True,
    )
    said, kept, *rest = done.stdout.splitlines()
    assert "the disk is full; free some space and save again" in said
    assert kept.endswith(" True")
    assert int(kept.split()[0]) > 3
    assert rest == []


def test_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").touch()
    store = Store.open(tmp_path / "plain", data_home=tmp_path / "file")
    with pytest.raises(StoreError, match="set XDG_DATA_HOME to a folder that can be written"):
        save(store)
    assert store.list() == []


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="gone: no such directory"):
        Store.open(tmp_path / "gone")


def test_missing_git(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="git cannot be started; install it"):
        Store.open(repository)


def test_work_tree_whose_repository_is_gone(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {tmp_path}/gone/.git/worktrees/x\n")
    with pytest.raises(StoreError, match="not a git repository: "):
        Store.open(tmp_path / "tree")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away")
def test_repository_of_another_user(repository: Path) -> None:
    os.chown(repository, 12345, 12345)
    os.chown(repository / ".git", 12345, 12345)
    with pytest.raises(StoreError, match=r"git config --global --add safe\.directory"):
        Store.open(repository)


def test_git_that_hangs(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A work tree too large to look through: the checkpoint is written without the count."""
    real = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *" status "*) sleep 20;; esac\nexec "{real}" "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("checkpoint.store.place._STATUS_TIMEOUT_S", 0.2)
    began = time.monotonic()
    made = saved(Store.open(repository))
    assert (made.dirty, made.branch, len(made.head)) == ("", "main", 40)
    assert time.monotonic() - began < 15  # not until the grandchild lets go of the pipes


def test_importing_the_store_is_cheap() -> None:
    heavy = ("git", "pydantic", "typer", "jinja2", "yaml")
    code = f"import sys, checkpoint.store; print([x for x in {heavy!r} if x in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
