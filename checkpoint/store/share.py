"""Exchange checkpoints with other repositories, by explicit refspecs only; forget old ones.

Nothing is configured: a `remote.*.push` of ours would stop a plain `git push` from pushing the
branch, and a fetch refspec into our own refs would let `fetch --prune` delete what was never
pushed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from checkpoint.errors import StoreError
from checkpoint.store.checkpoints import Checkpoint
from checkpoint.store.git import Git
from checkpoint.store.mend import break_stale_lock
from checkpoint.store.place import Repository
from checkpoint.store.refs import LOCAL, fetched_folder

_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a push or a pull did; refs by their name here, sorted."""

    remote: str
    moved: tuple[str, ...] = ()
    """New or further on than before."""
    rejected: tuple[tuple[str, str], ...] = ()
    """Ref and reason; for a push, most often: the remote has checkpoints of it that we lack."""


def _checked(git: Git, remote: str) -> str:
    """Return the remote if git cannot take it for something else.

    Raises:
        StoreError: it looks like an option, or is no remote of this repository and no address.
    """
    known = git.run("remote").text.splitlines()
    if remote in known:
        return remote
    address = re.fullmatch(r"[^\s\x00-\x1f-][^\x00-\x1f]*", remote) and re.search(r"[/:\\]", remote)
    if not address or re.match(r"[A-Za-z0-9+.-]+::", remote):  # `ext::` and its like run commands
        raise StoreError(
            f"{git.directory}: no remote called {remote!r}; "
            + (f"there is {', '.join(known)}" if known else "`git remote add` makes one")
        )
    return remote


def _refs(git: Git, folder: str) -> dict[str, str]:
    """Return the refs below a folder and the commits they point to."""
    out = git.run("for-each-ref", "--format=%(refname) %(objectname)", folder).text
    pairs = (line.partition(" ") for line in out.splitlines())
    return {name: commit for name, _, commit in pairs}


def push(git: Git, remote: str, timeout_s: float = _TIMEOUT_S) -> Exchange:
    """Send our own checkpoints; never forced, no branch, no tag, no hook.

    A session of which the remote has other checkpoints is refused there and told in `rejected`; all
    others go through.

    Raises:
        StoreError: no such remote, or it cannot be reached or refuses altogether.
    """
    _checked(git, remote)
    if not _refs(git, LOCAL):
        return Exchange(remote)
    answer = git.ask(
        "push",
        "--porcelain",
        "--no-verify",
        "--no-follow-tags",
        "--no-signed",
        "--recurse-submodules=no",
        "--",
        remote,
        f"{LOCAL}/*:{LOCAL}/*",
        timeout_s=timeout_s,
    )
    moved: list[str] = []
    rejected: list[tuple[str, str]] = []
    for line in answer.text.splitlines():
        flag, *rest = line.split("\t")
        if len(rest) != 2 or not rest[0].startswith(f"{LOCAL}/"):
            continue
        ref = rest[0].partition(":")[0]
        if flag == "!":
            rejected.append((ref, rest[1]))
        elif flag != "=":
            moved.append(ref)
    if answer.code != 0 and not rejected:
        raise git.failure("push", answer)
    return Exchange(remote, tuple(sorted(moved)), tuple(sorted(rejected)))


def pull(git: Git, remote: str, timeout_s: float = _TIMEOUT_S) -> Exchange:
    """Fetch a remote's checkpoints to `refs/checkpoints-remotes/<remote>/`, beside our own.

    What is gone at the remote stays here. Fetched objects are checked before they are taken in.

    Raises:
        StoreError: no such remote, or it cannot be reached.
    """
    _checked(git, remote)
    folder = fetched_folder(remote)
    before = _refs(git, folder)
    git.run(
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-prune",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--refmap=",  # else a mirror's own refspec would move our refs along
        "--",
        remote,
        f"+{LOCAL}/*:{folder}/*",
        config={"fetch.fsckObjects": "true"},
        timeout_s=timeout_s,
    )
    after = _refs(git, folder)
    return Exchange(remote, tuple(sorted(ref for ref in after if after[ref] != before.get(ref))))


def prune(
    git: Git,
    repository: Repository,
    tips: Sequence[Checkpoint],
    keep: int | None,
    older_than: timedelta | None,
    dry_run: bool,
) -> list[Checkpoint]:
    """Forget whole sessions of our own: their refs go, git's gc frees the space in its own time.

    A session that gets a checkpoint meanwhile stays. Neither other machines' copies nor fetched
    checkpoints are touched. Single checkpoints are never cut out of a session: that would change
    the names of all later ones.

    Args:
        git: on the repository.
        repository: where stale locks may lie.
        tips: the latest checkpoint of each session.
        keep: the newest N sessions stay whatever their age; None spares none for being new.
        older_than: only sessions whose latest checkpoint is older than this go; None sets no age.
        dry_run: only say which would go.

    Returns:
        The latest checkpoints of the sessions that went (or would go), newest first.

    Raises:
        StoreError: no rule was given, or a ref cannot be deleted.
    """
    if keep is None and older_than is None:
        raise StoreError(
            f"{git.directory}: nothing says what may go; give how many sessions to keep, or an age"
        )
    if keep is not None and keep < 0:
        raise StoreError(f"{git.directory}: {keep} sessions cannot be kept; give 0 or more")
    newest = sorted(tips, key=lambda one: one.at, reverse=True)
    going = newest[keep or 0 :]
    if older_than is not None:
        limit = datetime.now(UTC) - older_than
        going = [one for one in going if one.at < limit]
    if dry_run or not going:
        return going
    if _delete(git, going):
        return going
    for one in going:
        break_stale_lock(repository, one.ref)
    gone = [one for one in going if _delete(git, [one])]
    left = _refs(git, LOCAL)
    for one in going:
        if left.get(one.ref) == one.commit:
            raise StoreError(
                f"{git.directory}: {one.ref} cannot be deleted; is another git process running? "
                f"{len(gone)} of {len(going)} sessions went; try again"
            )
    return gone


def _delete(git: Git, tips: Sequence[Checkpoint]) -> bool:
    """Delete refs in one transaction, all or none, and only where they still point to these."""
    orders = b"".join(b"delete %b\0%b\0" % (one.ref.encode(), one.commit.encode()) for one in tips)
    return git.ask("update-ref", "--no-deref", "-z", "--stdin", stdin=orders).code == 0
