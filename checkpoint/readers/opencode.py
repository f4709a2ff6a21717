"""opencode: the JSON of its `export`, its storage tree (to 1.1), its SQLite database (since 1.2).

Messages are ordered by (time created, id): a user message's id may be older than that of a summary
which stands before it. A session's children (subagents) are sessions of their own. Upgrades copy
the older store and never delete it, so a session may stand in two; the newer store counts.

Not in the formats: the branch; in the oldest tree (to 0.6) the session's directory, which is taken
from its messages.

Source: @opencode-ai/sdk types; stores written by releases 0.5.29 to 1.18.33.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkpoint.readers import _opencode_database as database
from checkpoint.readers import _opencode_tree as tree
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._base import Found, Head
from checkpoint.readers._opencode import add, parts_of
from checkpoint.readers._whole import (
    Record,
    WholeReader,
    at_of,
    dict_of,
    load_json,
    records_of,
    text_of,
)


class OpenCode(WholeReader):
    """Reads opencode's sessions, from any of its stores."""

    name = "opencode"
    title = "opencode"

    def identify(self, head: Head) -> bool:
        if head.is_dir:
            return tree.is_tree(head.path)
        if head.is_sqlite():
            return database.is_store(head)
        start = head.start.lstrip()[:4_096]
        if not start.startswith(b"{"):
            return False
        return (b'"ses_' in start and b'"info"' in start) or tree.is_session_file(head)

    def build(self, path: Path, session: str, into: Assembler) -> None:
        head = Head.of(path)
        if head.is_dir or tree.is_session_file(head):
            _fill(*tree.load(path, session, into.problems), into)
        elif head.is_sqlite():
            _fill(*database.load(path, session, into.problems), into)
        else:
            given = dict_of(load_json(path, into.problems))
            about = dict_of(given.get("info"))
            messages = [
                (dict_of(one.get("info")), parts_of(one.get("parts")))
                for one in records_of(given.get("messages"))
            ]
            _fill(about, messages, into)

    def roots(self) -> list[Path]:
        own = os.environ.get("OPENCODE_DB")
        data = os.environ.get("XDG_DATA_HOME")
        base = (Path(data) if data else Path.home() / ".local" / "share") / "opencode"
        places = [base]
        if own and own != ":memory:":
            places.insert(0, Path(own) if os.path.isabs(own) else base / own)
        return places

    def find(self, directory: Path | None = None) -> Iterator[Found]:
        seen: set[str] = set()
        for root in self.roots():
            stores = [root] if root.is_file() else sorted(root.glob("opencode*.db"))
            for store in stores:
                for found in database.find(store, self.name):
                    if found.session not in seen:
                        seen.add(found.session)
                        yield found
            if root.is_dir():
                for place in (root / "storage", *sorted((root / "project").glob("*/storage"))):
                    for found in tree.find(place, self.name):
                        if found.session not in seen:
                            seen.add(found.session)
                            yield found


def _fill(about: Record, messages: list[tuple[Record, list[Record]]], into: Assembler) -> None:
    head = into.head
    head.id = text_of(about.get("id"))
    title = text_of(about.get("title"))
    if not title.startswith(("New session - ", "Child session - ")):
        head.title = title
    head.cwd = text_of(about.get("directory"))
    head.version = text_of(about.get("version"))
    head.parent = text_of(about.get("parentID"))
    head.started = at_of(dict_of(about.get("time")).get("created"))
    revert = text_of(dict_of(about.get("revert")).get("messageID"))
    for info, parts in sorted(messages, key=_order):
        if revert and text_of(info.get("id")) >= revert:
            break  # undone by the person
        add(info, parts, into, child=bool(head.parent) and "(fork" not in title)


def _order(message: tuple[Record, list[Record]]) -> tuple[float, str]:
    info = message[0]
    made: Any = dict_of(info.get("time")).get("created")
    number = float(made) if isinstance(made, int | float) else 0.0
    return number, text_of(info.get("id"))
