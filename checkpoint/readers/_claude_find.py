"""Claude Code: where its sessions lie, and what can be learned of one without reading it whole.

A session lies in the folder named by its first directory, where `-` stands for every character that
is no letter or digit; many directories share such a name, so it only finds candidates.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from checkpoint.model import Text
from checkpoint.readers._base import Found
from checkpoint.readers._claude_origin import plan_title, said
from checkpoint.readers._listing import remembered
from checkpoint.readers._peek import Record, changed, end_of, last_time, objects, start_of
from checkpoint.readers._whole import at_of, dict_of, text_of

_HEAD_BYTES = 65_536
_SLUG_LIMIT = 200
_RANKS = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("last-prompt", "lastPrompt"))


def project_folders() -> list[Path]:
    """Return the `projects` folders, those of `CLAUDE_CONFIG_DIR` first."""
    given = [Path(one.strip()) for one in os.environ.get("CLAUDE_CONFIG_DIR", "").split(",") if one]
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    homes = [*given, Path.home() / ".claude", Path(config) / "claude"]
    return list(dict.fromkeys(home.expanduser() / "projects" for home in homes))


def slug_of(directory: str) -> str:
    """Return the name of the folder for a directory; a long one is followed by a hash there."""
    return re.sub(r"[^a-zA-Z0-9]", "-", unicodedata.normalize("NFC", directory))[:_SLUG_LIMIT]


def find_sessions(agent: str, roots: list[Path], directory: Path | None) -> Iterator[Found]:
    """Yield the sessions under `roots`; of folders that can belong to `directory`, if given."""
    slugs = _slugs(directory) if directory else None
    for root in roots:
        for folder in _folders(root):
            if slugs is None or any(_related(folder.name, slug) for slug in slugs):
                for path in _files(folder):
                    yield from remembered(agent, path, partial(_one, agent, path))


def _slugs(directory: Path) -> set[str]:
    real = directory.resolve()
    return {slug_of(str(one)) for one in (directory.absolute(), real, *_worktrees(real))}


def _worktrees(directory: Path) -> Iterable[Path]:
    """Yield the other work trees of the repository around `directory`, from its own files."""
    top = next((one for one in (directory, *directory.parents) if (one / ".git").exists()), None)
    if top is None:
        return
    yield top
    git = top / ".git"
    try:
        if git.is_file():
            git = top / git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
            common = git.parent.parent  # <repository>/.git/worktrees/<name>
            if common.name == ".git":
                yield common.parent.resolve()
            git = common
        for one in (git / "worktrees").glob("*/gitdir"):
            yield Path(one.read_text("utf-8", "replace").strip()).parent
    except OSError:
        return


def _related(folder: str, slug: str) -> bool:
    """Whether a folder can be that of the directory, of one below it or of one around it."""
    return folder == slug or folder.startswith(f"{slug}-") or slug.startswith(f"{folder}-")


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(one for one in root.iterdir() if one.is_dir())
    except OSError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for one in inside:
        if one.name.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
            yield one
        elif one.name.count("-") == 4 and (one / "subagents").is_dir():
            yield from sorted((one / "subagents").rglob("*.jsonl"))


def _one(agent: str, path: Path) -> Iterator[Found]:
    yield _found(agent, path)


def _found(agent: str, path: Path) -> Found:
    head = objects(start_of(path, _HEAD_BYTES))
    tail = objects(end_of(path))
    messages = [one for one in head if one.get("type") in ("user", "assistant")]
    first = next((one for one in head if "uuid" in one or "sessionId" in one), {})
    stem = path.name.partition(".")[0]
    named = next((text_of(one.get("sessionId")) for one in head if one.get("sessionId")), "")
    side = stem.startswith("agent-") or bool(messages and messages[0].get("isSidechain") is True)
    fork = text_of(dict_of(first.get("forkedFrom")).get("sessionId"))
    started = next((at for one in head if (at := at_of(one.get("timestamp")))), None)
    talk = [one for one in tail if one.get("type") in ("user", "assistant", "system", "attachment")]
    last = last_time(talk or tail) or started
    return Found(
        agent=agent,
        path=path,
        session=stem if stem.startswith("agent-") or stem.count("-") == 4 else named or stem,
        directory=next((text_of(one.get("cwd")) for one in head if one.get("cwd")), ""),
        title=_title(head, tail),
        started=started.timestamp() if started else 0.0,
        updated=last.timestamp() if last else changed(path),
        parent=named if side else fork,
        subagent=side,
        empty=_is_empty(head, tail),
        branch=next(
            (text_of(one.get("gitBranch")) for one in reversed(tail) if one.get("gitBranch")), ""
        ),
    )


def _is_empty(head: list[Record], tail: list[Record]) -> bool:
    """Whether nobody says anything, or it is only the program's own warming up."""
    told = [one for one in (*head, *tail) if one.get("type") in ("user", "assistant")]
    if not told:
        return True
    words = {text_of(dict_of(one.get("message")).get("content")) for one in told
             if one.get("type") == "user"}  # fmt: skip
    return words == {"Warmup"}


def _title(head: list[Record], tail: list[Record]) -> str:
    for kind, key in _RANKS:
        for record in (*reversed(tail), *reversed(head)):
            if record.get("type") == kind and (title := text_of(record.get(key)).strip()):
                return title[:200]
    for record in head:
        if plan := plan_title(record):
            return plan[:200]
        if record.get("type") == "user" and record.get("isSidechain") is not True:
            origin, parts = said(record, dict_of(record.get("message")).get("content"))
            words = [p.text for p in parts if isinstance(p, Text) and not p.injected]
            if origin == "person" and words and "toolUseResult" not in record:
                return words[0].strip().split("\n")[0][:200]
    return ""
