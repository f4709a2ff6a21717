"""SQLite stores that another program may be writing: opened for reading, never disturbed.

A store in WAL mode can have all of its rows in the `-wal` file, so it is opened in place with
`mode=ro`; where that cannot be done (a read-only directory), a copy of both files is read. Never
`immutable`, which does not see the `-wal`.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from checkpoint.errors import ReadError
from checkpoint.readers._base import Head, Problems

BUSY_S = 5.0
"""How long a writer is waited for."""


class Row(dict[str, Any]):
    """A row by column names, or by number; None for a column that this version does not have."""

    def __missing__(self, key: object) -> Any:
        if isinstance(key, int) and -len(self) <= key < len(self):
            return list(self.values())[key]
        return None


def _row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> Row:
    names = (column[0] for column in cursor.description)
    return Row(zip(names, values, strict=True))


BROKEN = (sqlite3.Error, UnicodeError, OverflowError)
"""What reading a damaged database raises; a message about it may itself not be decodable."""


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading, in one transaction, so that all of its tables agree.

    Raises:
        ReadError: it cannot be opened at all.
    """
    with contextlib.ExitStack() as stack:
        try:
            database = _connect(path)
        except BROKEN:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="checkpoint-"))
            database = _copy(path, Path(folder))
        stack.callback(database.close)
        yield database


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    database = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        database.row_factory = _row
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        database.execute("PRAGMA query_only=1")
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BROKEN:
        database.close()
        raise
    return database


def _copy(path: Path, folder: Path) -> sqlite3.Connection:
    try:
        copied = folder / "store.db"
        shutil.copyfile(path, copied)
        log = path.with_name(path.name + "-wal")
        if log.is_file():
            shutil.copyfile(log, folder / "store.db-wal")
        return _connect(copied)
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from error
    except BROKEN as error:
        raise ReadError(f"{path}: not a database that can be read ({error})") from error


def rows(
    database: sqlite3.Connection,
    query: str,
    values: tuple[Any, ...],
    problems: Problems,
    where: str,
) -> Iterator[Row]:
    """Yield the rows of a query; a damaged database ends them, and that is a problem."""
    try:
        yield from database.execute(query, values)
    except BROKEN as error:
        problems.add(f"the database cannot be read on ({type(error).__name__})", where, "error")


def listing(path: Path, query: str) -> list[Row]:
    """Return the rows of a query over a whole store; none if it cannot be read."""
    try:
        with open_database(path) as database:
            return list(database.execute(query))
    except (ReadError, *BROKEN):
        return []


def columns(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the names of a table's columns; empty if there is no such table."""
    try:
        found = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    except BROKEN:
        return frozenset()
    return frozenset(str(row[0]) for row in found)


def tables_of(head: Head) -> frozenset[str]:
    """Return the names of the tables in a file; empty if it is no readable database."""
    if head.is_dir or not head.is_sqlite():
        return frozenset()
    try:
        stat = head.path.stat()
        log = head.path.with_name(head.path.name + "-wal")
        size = log.stat().st_size if log.is_file() else 0
    except OSError:
        return frozenset()
    return _tables(head.path, (stat.st_mtime_ns, stat.st_size, size))


@lru_cache(maxsize=64)
def _tables(path: Path, version: tuple[int, int, int]) -> frozenset[str]:  # noqa: ARG001
    try:
        with open_database(path) as database:
            found = database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            return frozenset(str(row[0]) for row in found)
    except (ReadError, *BROKEN):
        return frozenset()
