"""The worker: takes events from the spool and saves checkpoints, apart from the agent.

`python -m checkpoint.hooks.worker SPOOL`. It takes a lock a session, waits until the transcript
settles, saves incrementally, and takes the event out of the spool only when that is done; so a
worker that is killed leaves its event for the next one. What fails is kept, with the reason, where
`checkpoint doctor` shows it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkpoint.hooks import host, places

SETTLE_STEP, SETTLE_STABLE, SETTLE_MOST = 0.1, 3, 3.0
"""Seconds between looks at the transcript, looks without change that count as settled, and the
longest wait: agents write it asynchronously, and it may lag behind the event."""
STOP_PAUSE, STOP_MESSAGES = 600.0, 20
"""A stop saves at most once in so many seconds, but for so many new messages at once."""
RETAIN = 7 * 86_400.0
"""Events older than this (seconds) are given up, and said to be so in the log."""
FAILED_KEPT = 50
MOST_HEADS = 20
"""Of so many commits at once (a rebase) each has its checkpoint; older ones share."""
MOST_TRIES = 3
"""Workers that may fail at an event before it is put aside; one worker tries it once."""
_SAVED_BY = frozenset({"end", "compaction", "compacted", "stop", "git-post-commit"})
WATCHDOG = 600
"""Seconds after which a worker gives up; its events stay for the next one."""


@dataclass
class Event:
    """One file of the spool."""

    path: Path
    agent: str
    kind: str
    payload: dict[str, Any]
    directory: str
    at: float
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Job:
    """All waiting events of one session: one save answers them."""

    agent: str
    session: str
    events: list[Event]

    @property
    def kinds(self) -> set[str]:
        """What happened."""
        return {event.kind for event in self.events}

    @property
    def directory(self) -> str:
        """Where, as the last event says."""
        return self.events[-1].directory


def main() -> None:
    """Drain the spool that the command line names."""
    if len(sys.argv) != 2:
        return
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    os.environ["CHECKPOINT_IN_WORKER"] = "1"
    if hasattr(signal, "alarm"):
        signal.alarm(WATCHDOG)
    own, here = Path(sys.argv[1]), os.getcwd()
    drain(own)
    for other in (places.folder(here), places.beside(here)):
        if Path(other, "spool") != own:
            drain(Path(other, "spool"))  # what could not be written where it belongs


def drain(spool: Path) -> int:
    """Work until the spool holds nothing that this worker may take.

    Return how many saves it did.
    """
    done = 0
    tried: set[str] = set()
    for _ in range(20):  # events arrive while it works; another worker comes for the rest
        took = False
        for job in _jobs(spool):
            job.events = [one for one in job.events if one.path.name not in tried]
            if not job.events:
                continue
            with _lock(spool.parent / "locks", job) as mine:
                if not mine:
                    continue
                took = True
                job.events = [one for one in job.events if one.path.exists()]
                tried |= {one.path.name for one in job.events}
                done += _work(spool, job) if job.events else 0
        if not took:
            return done
    return done


def _jobs(spool: Path) -> Iterator[Job]:
    """Group the events by session, oldest first; broken and outdated ones are put aside."""
    groups: dict[tuple[str, str], list[Event]] = {}
    try:
        names = sorted(name for name in os.listdir(spool) if name.endswith(".json"))
    except OSError:
        return
    for name in names:
        if name.startswith("."):
            continue
        event = _event(spool / name)
        if event is not None:
            session = host.session(event.payload)
            groups.setdefault((event.agent, session), []).append(event)
    for (agent, session), events in groups.items():
        yield Job(agent, session, events)


def _event(path: Path) -> Event | None:
    try:
        given = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        event = Event(
            path,
            str(given.get("agent") or ""),
            str(given.get("event") or ""),
            dict(given.get("payload") or {}),
            str(given.get("directory") or ""),
            float(given.get("at") or 0.0),
            dict(given.get("environment") or {}),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _put_aside(path, f"not an event: {error}")
        return None
    if time.time() - event.at > RETAIN:
        _put_aside(path, "older than seven days")
        return None
    return event


@contextlib.contextmanager
def _lock(folder: Path, job: Job) -> Iterator[bool]:
    """Hold the session's lock; False if another worker has it. It dies with its owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = hashlib.sha256(f"{job.agent}\0{job.session}".encode()).hexdigest()[:24]
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(descriptor):
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _work(spool: Path, job: Job) -> int:
    """Save the session of a job and take its events out; on failure keep them for later."""
    os.environ.update(job.events[-1].environment)
    saved = 0
    try:
        if not os.path.isdir(job.directory):
            raise FileNotFoundError(f"{job.directory}: the directory of the session is gone")
        os.chdir(job.directory)
        from checkpoint.hooks import saving

        if job.kinds & _SAVED_BY and not (job.kinds <= {"stop"} and _too_soon(spool, job)):
            path = transcript(job)
            if path is not None:
                settle(path)
            for head in _heads(job):
                saved += saving.save(
                    job.directory, job.agent, job.session, path, _reason(job), head
                )
            _remember(spool, job)
        if "start" in job.kinds:
            saved += saving.sweep(job.directory, but=job.session)
        saved += saving.carry_out(job.directory)
    except Exception as error:
        _failed(job, error)
        return saved
    for event in job.events:
        _done(event.path)
    return saved


def _done(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_suffix(".tries").unlink(missing_ok=True)


def _heads(job: Job) -> list[str]:
    """Return the commits that git hooks saw, each once, in order; [""] of other events."""
    seen = [str(event.payload.get("head") or "") for event in job.events]
    return [one for one in dict.fromkeys(seen) if one][-MOST_HEADS:] or [""]


def _reason(job: Job) -> str:
    for kind, reason in (
        ("end", "session-end"),
        ("git-post-commit", "commit"),
        ("compaction", "compaction"),
        ("compacted", "compaction"),
    ):
        if kind in job.kinds:
            return reason
    return "stop"


def transcript(job: Job) -> Path | None:
    """Return the transcript that the events name, if it is there."""
    for event in reversed(job.events):
        for key in ("transcript_path", "transcriptPath"):
            value = event.payload.get(key)
            if isinstance(value, str) and value and os.path.exists(value):
                return Path(value)
    return None


def settle(path: Path) -> None:
    """Wait until the file's size no longer changes, three seconds at most."""
    until = time.monotonic() + SETTLE_MOST
    size, stable = -1, 0
    while stable < SETTLE_STABLE and time.monotonic() < until:
        try:
            now = path.stat().st_size
        except OSError:
            return
        stable = stable + 1 if now == size else 0
        size = now
        time.sleep(SETTLE_STEP)


def _marker(spool: Path, job: Job) -> Path:
    name = hashlib.sha256(f"{job.agent}\0{job.session}".encode()).hexdigest()[:24]
    return spool.parent / "sessions" / f"{name}.json"


def _too_soon(spool: Path, job: Job) -> bool:
    """Whether a stop came so soon after the last save that it can wait.

    It then leaves nothing behind: the session's end, the next stop or the next sweep will save.
    """
    try:
        last = json.loads(_marker(spool, job).read_text())
        grown = (os.path.getsize(p) if (p := transcript(job)) else 0) - int(last["size"])
        return time.time() - float(last["at"]) < STOP_PAUSE and grown < STOP_MESSAGES * 2_000
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _remember(spool: Path, job: Job) -> None:
    marker = _marker(spool, job)
    marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = transcript(job)
    size = os.path.getsize(path) if path is not None and path.is_file() else 0
    hidden = marker.with_suffix(f".{os.getpid()}")
    hidden.write_text(json.dumps({"at": time.time(), "size": size}))
    os.replace(hidden, marker)


def _failed(job: Job, error: Exception) -> None:
    """Log what went wrong; an event that failed three times is put aside."""
    trace = "".join(traceback.format_exception_only(error)).strip()
    places.log(f"worker: {job.agent or 'git'} {job.session}: {trace}")
    for event in job.events:
        tries = event.path.with_suffix(".tries")
        try:
            count = int(tries.read_text()) + 1 if tries.exists() else 1
            if count >= MOST_TRIES:
                tries.unlink(missing_ok=True)
                _put_aside(event.path, "".join(traceback.format_exception(error)))
            else:
                tries.write_text(str(count))
        except (OSError, ValueError):
            continue


def _put_aside(path: Path, why: str) -> None:
    folder = path.parent.parent / "failed"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.replace(path, folder / path.name)
        (folder / path.name).with_suffix(".txt").write_text(why[-8_000:], encoding="utf-8")
        kept = sorted(p for p in folder.iterdir() if p.suffix == ".json")
        for old in kept[:-FAILED_KEPT]:
            old.unlink(missing_ok=True)
            old.with_suffix(".txt").unlink(missing_ok=True)
    except OSError as error:
        places.log(f"worker: {path.name} cannot be put aside: {error}")


if __name__ == "__main__":
    main()
