"""What the worker does: saves a session, sweeps up those that were missed, carries out requests."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from checkpoint import pipeline
from checkpoint.discover import BESIDE, Listed, choose, sessions
from checkpoint.errors import CheckpointError, ReadError
from checkpoint.hooks import places
from checkpoint.readers import readers
from checkpoint.settings import load
from checkpoint.store import Checkpoint, Store, requests

SWEEP_MOST, SWEEP_DAYS, SWEEP_IDLE_S = 5, 14, 60.0
"""A sweep saves so many sessions at most, none whose last message is older than so many days (their
logs may be gone tomorrow, but a repository's first sweep must not take minutes), and none that
somebody may still be writing (seconds of silence)."""
SLACK_S = 1.0
"""A checkpoint's time has whole seconds."""


def enabled(store: Store) -> bool:
    """Say whether the repository wants checkpoints by hook: `git config checkpoint.enabled`."""
    if not store.exists:
        return True
    answer = store.git.ask("config", "--type=bool", "--get", "checkpoint.enabled")
    return answer.text.strip() != "false"


def save(
    directory: str, agent: str, session: str, path: Path | None, reason: str, head: str = ""
) -> int:
    """Save one session; return how many checkpoints that made (0 or 1).

    Args:
        directory: where the event happened; the store is the one around it.
        agent: the agent's name; "" if the event does not tell, or git called.
        session: the agent's id of the session; "" is the newest of the work tree.
        path: the transcript, where the event names one; else it is looked for.
        reason: why now, for the commit.
        head: the code commit that a git hook saw.

    Raises:
        CheckpointError: the session cannot be read, or the repository cannot be written.
    """
    here = Path(directory)
    store = Store.open(here)
    if not enabled(store):
        return 0
    known = agent if agent in readers() else None
    unread: ReadError | None = None
    if path is not None:
        inner = session if path.is_dir() or _is_database(path) else ""
        try:
            return int(_save(store, here, path, known, inner, reason) is not None)
        except ReadError as error:
            unread = error  # some hosts name a file that is no session
    found = _find(here, known, session) if session or unread is None else None
    if unread is not None and (found is None or found.path == path):
        raise unread
    if found is None:
        places.log(f"worker: {agent or 'git'} {session or '(newest)'}: nothing is written yet")
        return 0
    saved = _save(store, here, found.path, found.agent, found.session, reason, head)
    return int(saved is not None)


def _save(
    store: Store,
    here: Path,
    path: Path,
    agent: str | None,
    session: str,
    reason: str,
    head: str = "",
) -> Checkpoint | None:
    done = pipeline.save(
        path,
        store=store,
        settings=load(here),
        agent=agent,
        session=session,
        reason=reason,
        again=reason == "commit",
        head=head,
    )
    info = done.summary.state.session
    made = done.checkpoint.id if done.checkpoint else "nothing new"
    places.log(f"worker: {info.agent} {info.id}: {reason}: {made}, {info.messages} messages")
    return done.checkpoint


def _is_database(path: Path) -> bool:
    """Say whether a file holds many sessions, so that the one must be named."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError:
        return False


def _find(directory: Path, agent: str | None, session: str) -> Listed | None:
    """Return the session that an event means; None if nothing of it is stored."""
    if not session:
        try:
            found = choose(directory, agent).found
        except ReadError:
            return None
        return None if found.reason == BESIDE else found
    for place in (directory, None):
        for one in sessions(place, agent):
            if one.session == session:
                return one
    return None


def sweep(directory: str, but: str = "") -> int:
    """Save the sessions of this repository that are newer than their last checkpoint.

    Args:
        directory: where a session begins.
        but: the id of the session that begins; it is left alone.

    Returns:
        how many checkpoints were made. What fails is logged and does not stop the others.
    """
    here = Path(directory)
    store = Store.open(here)
    if not enabled(store):
        return 0
    saved: dict[tuple[str, str], float] = {}
    for one in store.list():
        saved.setdefault((one.agent, one.session), one.at.timestamp())
    now = time.time()
    done = tried = 0
    for found in sessions(here):
        last = saved.get((found.agent, found.session), 0.0)
        idle = now - found.updated
        if found.session == but or found.updated <= last + SLACK_S or idle < SWEEP_IDLE_S:
            continue
        if idle > SWEEP_DAYS * 86_400 or tried >= SWEEP_MOST:
            break  # newest first: all that follow are older
        tried += 1
        try:
            made = _save(store, here, found.path, found.agent, found.session, "sweep")
            done += made is not None
        except CheckpointError as error:
            places.log(f"sweep: {found.agent} {found.session}: {error}")
    return done


def carry_out(directory: str) -> int:
    """Carry out what sandboxed agents asked for; return how many requests were answered.

    A request names a session of this repository, and notes that count as the agent's: its file lies
    in the work tree, where anybody may have put it.
    """
    here = Path(directory)
    done = 0
    for request in requests.waiting(here):
        try:
            found = _asked(here, request)
            if found is None:
                places.log(f"request {request.path.name}: no such session of this repository")
            else:
                _request(Store.open(here), here, found, request)
                done += 1
        except CheckpointError as error:
            places.log(f"request {request.path.name}: {error}")
            if time.time() - request.at < SWEEP_DAYS * 86_400:
                continue  # the next hook tries again
        with contextlib.suppress(OSError):
            request.path.unlink()
    return done


def _asked(here: Path, request: requests.Request) -> Listed | None:
    agent = request.agent if request.agent in readers() else None
    for one in sessions(here, agent):
        if request.session in ("", one.session):
            return one
    return None


def _request(store: Store, here: Path, found: Listed, request: requests.Request) -> None:
    settings = load(here)
    done = pipeline.save(
        found.path,
        store=store,
        settings=settings,
        agent=found.agent,
        session=found.session,
        reason="request",
        subject=request.subject,
        notes=[
            pipeline.NoteOrder(order["action"], order["text"], order["kind"], "agent")
            for order in request.notes
        ],
    )
    made = done.checkpoint.id if done.checkpoint else "nothing new"
    places.log(f"request {request.path.name}: {found.agent} {found.session}: {made}")
