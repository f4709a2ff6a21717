"""Search over all checkpoints of a repository, our own and fetched ones.

The index lies in the user's cache, a file for each repository. It learns each checkpoint once; it
is made anew where checkpoints it knows are gone. Where it cannot be kept it is made in memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import CheckpointError
from checkpoint.pipeline.lines import line, standing
from checkpoint.pipeline.saving import checkpoint_state
from checkpoint.store import Checkpoint, Store

_FORM = 1
"""Of the index; another one is made anew."""
_SCHEMA = """
CREATE TABLE checkpoints (commit_id TEXT PRIMARY KEY);
CREATE TABLE facts (
  row INTEGER PRIMARY KEY, agent TEXT, session TEXT, item TEXT, kind TEXT, text TEXT,
  message INTEGER, commit_id TEXT, UNIQUE (agent, session, item, text));
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
"""
_WORD = re.compile(r"[^\W_]+(?:[_.\-/][^\W_]+)*")


@dataclass(frozen=True)
class Hit:
    """A fact that was found, in the newest checkpoint that says it so."""

    checkpoint: Checkpoint
    kind: str
    id: str
    """The fact's short name: `checkpoint why ID`."""
    text: str
    message: int


def search(
    store: Store, query: str, *, kind: str = "", limit: int = 20, cache: Path | None = None
) -> list[Hit]:
    """Return the facts that hold all words of a query, the best first; without any, some of them.

    Args:
        store: whose checkpoints.
        query: words; the last one may be a beginning.
        kind: only facts of this kind ("root cause", "measurement", ...), by its beginning.
        limit: how many at most.
        cache: instead of the user's cache folder.

    Raises:
        CheckpointError: the query holds no word, or this Python's SQLite has no full-text search.
    """
    if not query.strip():
        raise CheckpointError("nothing to search for; give some words")
    stored = store.list(remote=True)
    with closing(_opened(store, cache)) as index:
        _learn(index, store, stored)
        rows = list(_rows(index, query, kind, limit))
    by_commit = {one.commit: one for one in stored}
    return [
        Hit(by_commit[commit], found, item, text, message)
        for commit, found, item, text, message in rows
        if commit in by_commit
    ]


def _opened(store: Store, cache: Path | None) -> sqlite3.Connection:
    base = os.environ.get("XDG_CACHE_HOME")
    folder = cache or (Path(base) if base else Path.home() / ".cache") / "checkpoint"
    place = os.fsencode(os.path.realpath(store.repository.common_dir))
    path = folder / "search" / f"{hashlib.sha256(place).hexdigest()[:20]}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _prepared(sqlite3.connect(path, timeout=10))
    except (sqlite3.DatabaseError, OSError):
        try:
            path.unlink(missing_ok=True)  # damaged: it can be made anew
            return _prepared(sqlite3.connect(path, timeout=10))
        except (sqlite3.DatabaseError, OSError):
            return _in_memory()


def _in_memory() -> sqlite3.Connection:
    try:
        return _prepared(sqlite3.connect(":memory:"))
    except sqlite3.DatabaseError as error:
        raise CheckpointError(f"SQLite cannot search here ({error}); it lacks FTS5") from error


def _prepared(index: sqlite3.Connection) -> sqlite3.Connection:
    if index.execute("PRAGMA user_version").fetchone()[0] == _FORM:
        return index
    with index:
        for table in ("checkpoints", "facts", "words"):
            index.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA.strip().split(";\n"):
            index.execute(statement)
        index.execute(f"PRAGMA user_version = {_FORM}")
    return index


def _learn(index: sqlite3.Connection, store: Store, stored: Sequence[Checkpoint]) -> None:
    """Take in the checkpoints that the index does not know, the oldest first."""
    known = {row[0] for row in index.execute("SELECT commit_id FROM checkpoints")}
    with index:
        if known - {one.commit for one in stored}:
            for table in ("checkpoints", "facts", "words"):
                index.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            known = set()
        for one in reversed(stored):
            if one.commit not in known:
                _take_in(index, store, one)


def _take_in(index: sqlite3.Connection, store: Store, one: Checkpoint) -> None:
    try:
        facts = list(standing(checkpoint_state(store, one)))
    except CheckpointError:
        facts = []  # damaged, or of a newer version: it is in the log all the same
    for kind, item in facts:
        text = line(item)
        row = index.execute(
            "INSERT INTO facts (agent, session, item, kind, text, message, commit_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET commit_id = excluded.commit_id "
            "RETURNING row",
            (one.agent, one.session, item.id, kind, text, item.last, one.commit),
        ).fetchone()[0]
        there = index.execute("SELECT 1 FROM words WHERE rowid = ?", (row,)).fetchone()
        if there is None:
            index.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row, text))
    index.execute("INSERT OR IGNORE INTO checkpoints VALUES (?)", (one.commit,))


_Row = tuple[str, str, str, str, int]
_COLUMNS = "facts.commit_id, facts.kind, facts.item, facts.text, facts.message"


def _rows(index: sqlite3.Connection, query: str, kind: str, limit: int) -> Iterator[_Row]:
    words = [f'"{word}"' for word in _WORD.findall(query)]
    like = kind.replace("-", " ").replace("%", "") + "%"
    found: list[_Row] = []
    for joined in _asked(words):
        found = index.execute(
            f"SELECT {_COLUMNS} FROM words JOIN facts ON facts.row = words.rowid "  # noqa: S608
            "WHERE words MATCH ? AND facts.kind LIKE ? ORDER BY bm25(words), facts.row DESC "
            "LIMIT ?",
            (joined, like, limit),
        ).fetchall()
        if found:
            break
    if not found:  # a part of a word, or a writing without spaces
        pattern = "%" + re.sub(r"([%_\\])", r"\\\1", query.strip()) + "%"
        found = index.execute(
            f"SELECT {_COLUMNS} FROM facts WHERE text LIKE ? ESCAPE '\\' AND kind LIKE ? "  # noqa: S608
            "ORDER BY row DESC LIMIT ?",
            (pattern, like, limit),
        ).fetchall()
    yield from found


def _asked(words: Sequence[str]) -> Iterable[str]:
    if not words:
        return []
    whole = " AND ".join([*words[:-1], f"{words[-1]}*"])
    return [whole, " OR ".join(words)] if len(words) > 1 else [whole]
