"""The world outside the talk: machines, software, settings, processes, files, commands."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkpoint.fold._book import Book, affirm, evidence, name
from checkpoint.state import Command, Fact, Failure, File, HostFact, Past, Process, Setting

if TYPE_CHECKING:
    from checkpoint.fold import Fold


def _host_fact(fold: Fold, fact: Fact, book: Book[HostFact]) -> None:
    fields = fact.fields
    host = fields.get("host") or "local"
    subject, attribute, value = fields["subject"], fields["attribute"], fields["value"]
    key = f"{host}/{subject.casefold()}/{attribute}"
    known = book.get(key)
    if fields.get("removed"):
        if known is not None:
            book.remove(known)
        return
    if known is None:
        book.add(
            HostFact(
                id=name(book.kind, key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                host=host,
                subject=subject,
                attribute=attribute,
                value=value,
            )
        )
        return
    if known.value == value:
        affirm(known, fact)
        return
    if fact.authority < known.authority:
        return
    known.history.append(Past(value=known.value, message=known.last))
    del known.history[:-8]
    fold.state.working.stale[known.value] = [str(fact.message), value]
    fold.state.working.stale.pop(value, None)
    known.value, known.authority = value, fact.authority
    affirm(known, fact)


def hardware(fold: Fold, fact: Fact) -> None:
    """A property of a machine."""
    _host_fact(fold, fact, fold.hardware)


def software(fold: Fold, fact: Fact) -> None:
    """A version of something installed; removed software goes."""
    _host_fact(fold, fact, fold.software)


def setting(fold: Fold, fact: Fact) -> None:
    """A value that was set; the last one holds."""
    fields = fact.fields
    host = fields.get("host") or "local"
    key = f"{host}/{fields.get('form', 'environment')}/{fields['name']}"
    known = fold.set_values.get(key)
    if known is None:
        fold.set_values.add(
            Setting(
                id=name("setting", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                name=fields["name"],
                value=fields["value"],
                host=host,
                form=fields.get("form", "environment"),
            )
        )
        return
    if known.value != fields["value"]:
        known.history.append(Past(value=known.value, message=known.last))
        del known.history[:-8]
        known.value = fields["value"]
    affirm(known, fact)


def process(fold: Fold, fact: Fact) -> None:
    """A program was started, seen, or ended."""
    act = fact.fields.get("act", "start")
    if act == "start":
        _started(fold, fact)
    elif act == "stop":
        _stopped(fold, fact)
    elif act == "gone":
        for found in _matching(fold, fact):
            _end(found, fact, "finished")
    elif act == "seen":
        for found in _matching(fold, fact):
            affirm(found, fact)
            found.pid = found.pid or fact.fields.get("pid", "")


def _started(fold: Fold, fact: Fact) -> None:
    fields = fact.fields
    host, port = fields.get("host") or "local", fields.get("port", "")
    command = fields.get("command", "")
    for known in fold.processes:
        if known.status != "running" or known.host != host:
            continue
        same_place = port and known.port == port
        same_name = fields.get("name") and known.name == fields["name"] and not port
        if same_place or same_name or known.command == command:
            _end(known, fact, "replaced")
    key = fold.processes.unused(
        f"{host}/{port or fields.get('pid') or fields.get('name') or command}"
    )
    fold.processes.add(
        Process(
            id=name("process", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            host=host,
            command=command,
            name=fields.get("name", ""),
            port=port,
            pid=fields.get("pid", ""),
            log=fields.get("log", ""),
        )
    )


def _end(process_: Process, fact: Fact, how: str) -> None:
    process_.status = how  # type: ignore[assignment]
    process_.ended = fact.fields.get("by") or fact.quote[:120]
    affirm(process_, fact)


def _matching(fold: Fold, fact: Fact) -> list[Process]:
    fields = fact.fields
    host = fields.get("host") or "local"
    pid, port, shell = fields.get("pid", ""), fields.get("port", ""), fields.get("name", "")
    pattern = fields.get("pattern", "")
    found = []
    for known in fold.processes:
        if known.status != "running" or known.host != host:
            continue
        by_pid = pid and known.pid in pid.split()
        by_port = port and known.port == port
        by_name = shell and known.name == shell
        by_pattern = pattern and _matches(pattern, known)
        if by_pid or by_port or by_name or by_pattern:
            found.append(known)
    return found


def _matches(pattern: str, known: Process) -> bool:
    text = f"{known.name} {known.command}"
    if pattern in text:
        return True
    try:
        return len(pattern) < 200 and re.search(pattern, text) is not None
    except (re.error, RecursionError):
        return False


def _stopped(fold: Fold, fact: Fact) -> None:
    found = _matching(fold, fact)
    host = fact.fields.get("host") or "local"
    if not found and fact.fields.get("pid"):
        # A process whose number was never printed: if one alone can be meant, it is meant.
        unknown = [
            p for p in fold.processes if p.status == "running" and p.host == host and not p.pid
        ]
        found = unknown if len(unknown) == 1 else []
    for known in found:
        _end(known, fact, "stopped")


_ACTIONS = {
    "created": "created",
    "written": "edited",
    "edited": "edited",
    "deleted": "deleted",
    "renamed": "renamed",
    "read": "read",
    "mentioned": "mentioned",
}
_RANK = {"mentioned": 0, "read": 1, "edited": 2, "created": 3, "renamed": 3, "deleted": 4}


def file(fold: Fold, fact: Fact) -> None:
    """A file was read, made, changed, moved or removed."""
    fields = fact.fields
    host = fields.get("host") or "local"
    path = posixpath.normpath(fields["path"]) if fields["path"] else ""
    if not path or path == ".":
        return
    action = _ACTIONS[fields["act"]]
    known = fold.files.get(f"{host}:{path}") or _by_suffix(fold, host, path)
    if known is None:
        if fields["act"] == "written":
            action = "created"
        key = f"{host}:{path}"
        known = fold.files.add(
            File(
                id=name("file", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                host=host,
                path=path,
                status=action,
                source=fields.get("source", ""),
            )
        )
    else:
        affirm(known, fact)
        if known.status == "deleted" and action in ("created", "edited"):
            known.status = "created"
        elif not (known.status in ("created", "renamed") and action == "edited") and (
            _RANK[action] > _RANK[known.status]
        ):
            known.status = action  # type: ignore[assignment]
        known.source = known.source or fields.get("source", "")
    if action == "read":
        known.reads += 1
    elif action != "mentioned":
        known.edits += 1
        fold.state.working.last_edit = fact.message


def _by_suffix(fold: Fold, host: str, path: str) -> File | None:
    """A relative path and the absolute one that ends with it are the same file."""
    base = posixpath.basename(path)
    for known in fold.files:
        if known.host != host or posixpath.basename(known.path) != base:
            continue
        if known.path.startswith("/") != path.startswith("/"):
            long, short = sorted((known.path, path), key=lambda p: not p.startswith("/"))
            if "/" in short and long.endswith("/" + short.removeprefix("./")):
                return known
    return None


def command(fold: Fold, fact: Fact) -> None:
    """A command worth running again."""
    fields = fact.fields
    host = fields.get("host") or "local"
    key = f"{host}:{fields['command']}"
    known = fold.commands.get(key)
    failed = bool(fields.get("failed"))
    if known is None:
        fold.commands.add(
            Command(
                id=name("command", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                command=fields["command"],
                host=host,
                failed=failed,
                purpose=fields.get("purpose", ""),
            )
        )
    else:
        affirm(known, fact)
        known.failed = failed


def failure(fold: Fold, fact: Fact) -> None:
    """A command failed."""
    fields = fact.fields
    host = fields.get("host") or "local"
    key = f"{host}:{fields['command']}"
    known = fold.failures.get(key)
    if known is None:
        fold.failures.add(
            Failure(
                id=name("failure", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                command=fields["command"],
                host=host,
                error=fields.get("error", ""),
            )
        )
    else:
        affirm(known, fact)
        known.error, known.status = fields.get("error", "") or known.error, "open"


def success(fold: Fold, fact: Fact) -> None:
    """The same command came through: its failure is resolved."""
    host = fact.fields.get("host") or "local"
    known = fold.failures.get(f"{host}:{fact.fields['command']}")
    if known is not None and known.status == "open":
        known.status = "resolved"
        affirm(known, fact)


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "hardware": hardware,
    "software": software,
    "setting": setting,
    "process": process,
    "file": file,
    "command": command,
    "failure": failure,
    "success": success,
}
