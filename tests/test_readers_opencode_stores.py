"""opencode's stores: beside a writer, damaged, read on from a cursor, all of them found."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from checkpoint.errors import ReadError
from checkpoint.model import Cursor
from checkpoint.readers import identify
from tests.test_readers_opencode import FIXTURES, OPENCODE, T, heard, message, text


@pytest.fixture
def store(tmp_path: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A database in WAL mode whose writer still has it open: nothing is in the main file yet."""
    path = tmp_path / "opencode.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.executescript(
        "CREATE TABLE project(id TEXT); CREATE TABLE account(id TEXT, secret TEXT);"
        "CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,"
        " version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
        " data TEXT);"
        "CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
        "INSERT INTO session VALUES('ses_one', NULL, '/k', 'Kettle', '1.2.1', NULL, 1, 2);"
    )
    yield path, writer
    writer.close()


def put(writer: sqlite3.Connection, number: int, role: str, words: str) -> None:
    one = message(number, role, text(words))
    info, part = one["info"], one["parts"][0]
    writer.execute(
        "INSERT INTO message VALUES(?, 'ses_one', ?, ?)",
        (info.pop("id"), info["time"]["created"], json.dumps(info)),
    )
    writer.execute(
        "INSERT INTO part VALUES(?, ?, 'ses_one', ?)",
        (part.pop("id"), f"msg_{number:04d}", json.dumps(part)),
    )


def test_reads_beside_a_writer(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    put(writer, 0, "user", "make it so")
    writer.execute("BEGIN IMMEDIATE")
    put(writer, 1, "assistant", "not committed yet")
    assert path.stat().st_size <= 4096 < path.with_name("opencode.db-wal").stat().st_size
    reading = identify(path).read(path)
    assert heard(list(reading)) == [(0, "user", "person", "make it so")]
    writer.execute("COMMIT")
    assert len(list(OPENCODE.read(path))) == 2


def test_reads_in_a_folder_that_cannot_be_written(
    store: tuple[Path, sqlite3.Connection], tmp_path: Path
):
    path, writer = store
    put(writer, 0, "user", "make it so")
    folder = tmp_path / "sealed"
    folder.mkdir()
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copy(path.with_name(name), folder / name)
        (folder / name).chmod(stat.S_IRUSR)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert len(list(OPENCODE.read(folder / "opencode.db"))) == 1
    finally:
        folder.chmod(stat.S_IRWXU)


def again(cursor: Cursor) -> Cursor:
    return msgspec.json.decode(msgspec.json.encode(cursor), type=Cursor)


def test_goes_on_at_the_rows_that_are_new(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    for number in range(6):
        put(writer, number, ("user", "assistant")[number % 2], f"words {number}")
    writer.execute("UPDATE part SET data = '{\"type\": \"novel\"}' WHERE id = 'prt_00010'")
    first = OPENCODE.read(path)
    before = [one for one in first if one.settled]
    assert [one.what for one in first.problems.settled] == ["unknown part 'novel'"]
    for number in range(6, 9):
        put(writer, number, ("user", "assistant")[number % 2], f"words {number}")
    # Rows before the cursor are not even looked at.
    writer.execute("UPDATE message SET data = 'broken' WHERE id = 'msg_0001'")
    second = OPENCODE.read(path, again(first.cursor))
    rest = list(second)
    assert (second.fell_back, list(second.problems)) == ("", [])
    assert [one.number for one in [*before, *rest]] == list(range(9))
    assert [one.said() for one in rest][-1] == "words 8"


def test_a_rewritten_past_is_noticed(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    for number in range(4):
        put(writer, number, "user", f"words {number}")
    first = OPENCODE.read(path)
    list(first)
    writer.execute("DELETE FROM message WHERE id = 'msg_0001'")
    second = OPENCODE.read(path, again(first.cursor))
    assert [one.number for one in second] == [0, 1, 2]
    assert second.fell_back == "the messages before the cursor are no longer the same"


def test_a_message_in_work_is_not_settled(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    put(writer, 0, "user", "make it so")
    put(writer, 1, "assistant", "I make")
    put(writer, 2, "user", "faster")
    put(writer, 3, "user", "now")
    writer.execute(
        "UPDATE message SET data = '{\"role\": \"assistant\"}' WHERE id = 'msg_0001'"
    )  # not completed, though the person typed on
    reading = OPENCODE.read(path)
    assert [one.settled for one in reading] == [True, False, False, False]
    assert reading.cursor.number == 1


def test_broken_rows_are_problems(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    put(writer, 0, "user", "make it so")
    writer.execute("INSERT INTO part VALUES('prt_x', 'msg_0000', 'ses_one', '{\"type\": ')")
    writer.execute("INSERT INTO message VALUES('msg_0001', 'ses_one', NULL, X'FF00')")
    reading = OPENCODE.read(path)
    assert "make it so" in [one.said() for one in reading]
    assert list(reading.problems)


def test_which_session(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    writer.execute(
        "INSERT INTO session VALUES('ses_kid', 'ses_one', '/k', 'Kid', '1', NULL, 1, 99)"
    )
    assert OPENCODE.read(path).head.id == "ses_one"
    assert OPENCODE.read(path, session="ses_kid").head.parent == "ses_one"
    assert OPENCODE.read(path.parent).head.id == "ses_one"  # the folder it lies in
    with pytest.raises(ReadError, match="it holds no session 'ses_none'"):
        OPENCODE.read(path, session="ses_none")


@pytest.mark.parametrize("size", [50, 100, 1500, 5000])
def test_a_damaged_database_raises_nothing_but_read_errors(size: int, tmp_path: Path):
    path = tmp_path / "opencode.db"
    path.write_bytes((FIXTURES / "database" / "session.db").read_bytes()[:size])
    with pytest.raises(ReadError, match=r"opencode\.db"):
        identify(path)
    with pytest.raises(ReadError, match=r"opencode\.db"):
        list(OPENCODE.read(path))


def test_account_tables_are_never_read(store: tuple[Path, sqlite3.Connection]):
    path, writer = store
    put(writer, 0, "user", "make it so")
    writer.execute("INSERT INTO account VALUES('a', 'kept-for-itself')")
    reading = OPENCODE.read(path)
    said = repr([list(reading), reading.head, list(reading.problems), list(OPENCODE.find())])
    assert "kept-for-itself" not in said


def test_all_stores_are_found_and_the_newer_counts(home: Path):
    base = home / ".local" / "share" / "opencode"
    shutil.copytree(FIXTURES / "tree" / "session", base)
    shutil.copytree(FIXTURES / "old-tree" / "session" / "project", base / "project")
    trees = {one.session: one for one in OPENCODE.find()}
    assert sorted(trees) == ["ses_36c5a0b1cffeKettleKid00002", "ses_36c5a0b1cffeKettleMain0001"]
    main = trees["ses_36c5a0b1cffeKettleMain0001"]
    assert (main.directory, main.title, main.messages) == ("/home/ada/kettle", "Kettle limit", 5)
    assert main.updated == T / 1000 + 20
    assert trees["ses_36c5a0b1cffeKettleKid00002"].subagent
    assert list(OPENCODE.read(main.path, session=main.session))
    shutil.copy(FIXTURES / "database" / "session.db", base / "opencode.db")
    found = {one.session: one.path.name for one in OPENCODE.find()}
    assert set(found.values()) == {"opencode.db"}
    assert len(found) == 2


def test_the_oldest_tree_tells_the_directory_in_its_messages(home: Path):
    base = home / ".local" / "share" / "opencode"
    shutil.copytree(FIXTURES / "old-tree" / "session", base)
    assert [one.directory for one in OPENCODE.find()] == ["/home/ada/kettle"]
