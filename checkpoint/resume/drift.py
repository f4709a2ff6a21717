"""Drift: what changed in the world since a checkpoint was made."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from checkpoint.discover import sessions
from checkpoint.render import clean
from checkpoint.resume.picking import age
from checkpoint.state import Process, State
from checkpoint.store import Checkpoint, Store
from checkpoint.store.place import position

SHOWN = 6
"""So many files or processes are named; the others are counted."""
FILES, PROCESSES = 300, 8
"""So many are looked at, the last ones."""
SLACK_S = 2.0
PORT_S = 0.2
"""How long a port is waited for."""


@dataclass(frozen=True)
class Drift:
    """What changed, in lines for a person or an agent; "" or empty where nothing did."""

    age: str
    """How long ago the session's last message was."""
    head: str = ""
    branch: str = ""
    dirty: str = ""
    changed: tuple[str, ...] = ()
    """Files of the session that were written since its last message."""
    gone: tuple[str, ...] = ()
    """Files of the session that are no longer there."""
    processes: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    """Sessions of this directory that say more than their last checkpoint, if they have one."""
    diverged: bool = field(default=False, compare=False)
    """The commit of then is no ancestor of the one that is checked out, and the branch differs."""

    def lines(self) -> Iterator[str]:
        """Yield what changed, one thing a line."""
        yield from (one for one in (self.head, self.branch, self.dirty) if one)
        for what, listed in (
            ("Changed since", self.changed),
            ("Gone since", self.gone),
            ("Processes left running then", self.processes),
            ("Sessions with newer messages, not in this record", self.newer),
        ):
            if listed:
                more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
                yield f"{what}: {', '.join(listed[:SHOWN])}{more}"


def drift(
    store: Store,
    checkpoint: Checkpoint,
    state: State,
    *,
    look_for_sessions: bool = True,
    now: datetime | None = None,
) -> Drift:
    """Compare a checkpoint with the world as it is now.

    Args:
        store: of the directory in which the work goes on.
        checkpoint: what is gone on from.
        state: what it holds.
        look_for_sessions: whether newer sessions without a checkpoint are looked for.
        now: instead of the clock.
    """
    now = now or datetime.now(UTC)
    ended = state.session.ended or checkpoint.at
    head = branch = dirty = ""
    diverged = False
    if store.kind == "repository":
        there = position(store.directory, store.git, store.repository)
        head, related = _head(store, checkpoint.head, there.head)
        if checkpoint.branch != there.branch:
            then, today = checkpoint.branch or "(detached)", there.branch or "(detached)"
            branch = f"Branch then {then}, now {today}"
        diverged = not related and bool(branch)
        dirty = _dirty(checkpoint.dirty, there.dirty)
    changed, gone = _files(state, store.directory, ended)
    return Drift(
        age=age(ended, now),
        head=head,
        branch=branch,
        dirty=dirty,
        changed=tuple(changed),
        gone=tuple(gone),
        processes=tuple(_processes(state)),
        newer=tuple(_newer(store, checkpoint, now)) if look_for_sessions else (),
        diverged=diverged,
    )


def _head(store: Store, then: str, now: str) -> tuple[str, bool]:
    """Return what became of HEAD, and whether the commit of then leads to the one of now."""
    if not then or then == now:
        return "", True
    short, today = then[:10], now[:10] or "(no commit)"
    known = store.git.ask("cat-file", "-e", f"{then}^{{commit}}").code == 0
    if not known:
        return f"HEAD then {short}, which this repository does not have; now {today}", False
    if now and store.git.ask("merge-base", "--is-ancestor", then, now).code == 0:
        count = store.git.ask("rev-list", "--count", f"{then}..{now}").text.strip() or "?"
        commits = "1 commit" if count == "1" else f"{count} commits"
        return f"HEAD moved from {short} to {today}: {commits} since", True
    return f"HEAD then {short} is not part of what is checked out now ({today})", False


def _dirty(then: str, now: str) -> str:
    if then == now or not now or not then:
        return ""
    return f"Files with uncommitted changes: {then} then, {now} now"


def _files(state: State, directory: Path, ended: datetime) -> tuple[list[str], list[str]]:
    """Return the files of the session that were written since, and those that are gone."""
    base = Path(state.session.directory) if state.session.directory else directory
    if not base.is_dir():
        base = directory  # another machine's, or the work tree was moved: by relative path
    since = ended.timestamp() + SLACK_S
    changed, gone = [], []
    worked = [
        one
        for one in state.files
        if one.host == "local" and one.status in ("created", "edited", "renamed")
    ]
    for one in sorted(worked, key=lambda file: file.last)[-FILES:]:
        path = _placed(one.path, base, state.session.directory)
        if path is None:
            continue
        try:
            written = path.stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            gone.append(one.path)
        except (OSError, ValueError):
            continue
        else:
            if written > since:
                changed.append(one.path)
    return changed[::-1], gone[::-1]


def _placed(name: str, base: Path, recorded: str) -> Path | None:
    """Return where a file of the session lies now; None if that cannot be known."""
    path = Path(name)
    if name.startswith("~/"):
        return Path.home() / name[2:]
    if not path.is_absolute():
        return base / path
    if recorded and str(base) != recorded:
        return base / os.path.relpath(name, recorded) if name.startswith(recorded) else None
    return path


def _processes(state: State) -> Iterator[str]:
    running = [one for one in state.processes if one.status == "running"]
    for one in running[-PROCESSES:]:
        command = clean(one.command)
        what = f"{command[:60].rstrip()}…," if len(command) > 60 else f"{command},"
        place = f" port {one.port}" if one.port else f" pid {one.pid}" if one.pid else ""
        yield f"{what}{place} {_alive(one)}"


def _alive(one: Process) -> str:
    if one.host != "local":
        return f"(on {one.host}, not looked at)"
    if one.port.isdigit() and 0 < int(one.port) < 65_536:
        return "answers" if _answers(int(one.port)) else "does not answer"
    if one.pid.isdigit() and int(one.pid) > 0:
        return "is there" if _runs(int(one.pid), one.command) else "is gone"
    return "(not known whether it still runs)"


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PORT_S):
            return True
    except OSError:
        return False


def _runs(pid: int, command: str) -> bool:
    """Say whether a process lives and, where the system tells, is still the same program."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return False
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return True
    words = [Path(word).name for word in line.split("\0") if word]
    return not words or any(word and word in command for word in words[:3])


def _newer(store: Store, checkpoint: Checkpoint, now: datetime) -> Iterator[str]:
    """Yield the sessions of this directory with messages that no checkpoint has."""
    saved: dict[tuple[str, str], float] = {}
    for one in store.list():
        saved.setdefault((one.agent, one.session), one.at.timestamp())
    since = checkpoint.at.timestamp()
    for found in sessions(store.directory):
        last = saved.get((found.agent, found.session), 0.0)
        if found.updated > max(last, since) + SLACK_S:
            before = max(0.0, now.timestamp() - found.updated)
            when = age(datetime.fromtimestamp(time.time() - before, UTC))
            yield f"{found.agent} {found.session} ({when} ago; `checkpoint save` takes it in)"
