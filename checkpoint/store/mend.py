"""Put right what killed processes and other people's gc left behind, in our own refs only."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

from checkpoint.store.git import Git
from checkpoint.store.place import Repository

_STALE_LOCK_S = 10.0
"""git holds the lock of a ref for milliseconds; one this old was left by a killed process."""

_STALE_GC_S = 12 * 3600.0
"""As git itself: a gc that began longer ago is dead."""

_FAR = 200  # checkpoints of a session that are looked through for one that is whole

_log = logging.getLogger(__name__)


def break_stale_lock(repository: Repository, ref: str) -> None:
    """Remove the lock of one of our refs if its owner is long gone.

    Only below `refs/checkpoints*`, where nobody but this program writes.
    """
    lock = repository.common_dir / f"{ref}.lock"
    try:
        if abs(time.time() - lock.stat().st_mtime) > _STALE_LOCK_S:  # abs: clocks jump
            lock.unlink()
            _log.warning("%s: removed; whoever held it is gone", lock)
    except OSError:
        return  # none there, or not ours to remove: git names it when the time is up


def gc_runs(repository: Repository) -> bool:
    """Say whether a gc is at work in the repository."""
    try:
        began = (repository.common_dir / "gc.pid").stat().st_mtime
    except OSError:
        return False
    return abs(time.time() - began) < _STALE_GC_S


def secure(git: Git, repository: Repository, commit: str) -> bool:
    """Copy a checkpoint's objects into a new pack; False if some are gone already.

    A gc deletes no pack that came after it began, and none that has a `.keep` beside it. The mark
    goes at once: the ref has moved, so the next gc sees that the objects are needed.
    """
    names = _objects(git, commit)
    if not names:
        return False
    pack = git.ask("pack-objects", "--stdout", "-q", stdin=names)
    if pack.code != 0:
        return False
    kept = git.ask("index-pack", "--stdin", "--keep=checkpoint", stdin=pack.out)
    if kept.code != 0:
        return False
    name = kept.text.strip().rpartition("\t")[2]
    keep = repository.common_dir / "objects" / "pack" / f"pack-{name}.keep"
    keep.unlink(missing_ok=True)
    return True


def mend_ref(git: Git, repository: Repository, ref: str) -> None:
    """Take a ref back to its newest whole checkpoint if objects of its tip are gone.

    Where none is whole the ref goes, so that the session can be saved again. What it pointed to is
    written down in `checkpoint-mended` in the git directory: should the objects come back (a disk
    that was not mounted), `git update-ref` brings the ref back.
    """
    answer = git.ask("rev-parse", "--quiet", "--verify", ref)
    if answer.code != 0 or gc_runs(repository):
        return  # no such ref; or objects are on the move and only seem to be missing
    broken = answer.text
    listed = git.ask("rev-list", "--first-parent", f"--max-count={_FAR}", broken)
    commits = listed.text.split()  # as far as they could be read
    whole = next((one for one in commits if _objects(git, one)), "")
    if whole == broken:
        return
    try:
        with (repository.common_dir / "checkpoint-mended").open("a", encoding="utf-8") as notes:
            notes.write(f"{datetime.now(UTC).isoformat()} {ref} {broken} {whole or 'deleted'}\n")
    except OSError:
        return  # without a note nothing is moved
    order = ["--no-deref", ref, whole] if whole else ["--no-deref", "-d", ref]
    if git.ask("update-ref", *order, broken).code == 0:
        _log.warning(
            "%s: objects of %s are gone; the session goes on from %s",
            ref,
            broken,
            whole or "nothing",
        )


def _objects(git: Git, commit: str) -> bytes:
    """Return the names of a checkpoint's objects, one a line; nothing if any is not there."""
    listed = git.ask("ls-tree", "-r", "-z", "--full-tree", commit)
    rows = [one.partition(b"\t")[0].split(b" ") for one in listed.out.split(b"\0") if one]
    asked = [commit.encode(), f"{commit}^{{tree}}".encode(), *(one[2] for one in rows)]
    form = "--batch-check=%(objectname)"
    known = git.ask("cat-file", form, stdin=b"\n".join(asked) + b"\n")
    whole = listed.code == known.code == 0 and b" missing" not in known.out
    return known.out if whole else b""
