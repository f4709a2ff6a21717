"""Write one commit to one ref: compare-and-swap, retry, nothing half done.

`git fast-import` takes the files, the commit and the name of the ref in one process, flushes the
objects before the ref, and moves a ref only from the commit it was told of: a writer that was
overtaken starts again from the new tip. Killed at any point it leaves either no ref moved or all in
place; what it may leave behind (`tmp_pack_*`) is git's to sweep. fast-import cannot sign, so a
signed checkpoint goes through `hash-object`, `mktree`, `commit-tree` and `update-ref`.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count

from checkpoint.errors import StoreError
from checkpoint.store.checkpoints import number
from checkpoint.store.git import Git, GitError
from checkpoint.store.mend import break_stale_lock, gc_runs, mend_ref, secure
from checkpoint.store.place import Repository, identity
from checkpoint.store.turn import turn

_DEADLINE_S = 20.0
_TURN_S = 5.0
_TRIES = 8
"""For failures we do not know; those we know are tried until the deadline."""
_HOPELESS = re.compile(
    r"Permission denied|Read-only file system|Operation not permitted|insufficient permission"
    r"|No space left|Disk quota exceeded|File too large"
    r"|exists; cannot create|gpg failed to sign|failed to write commit"
)
_OVERTAKEN = re.compile(
    r"Not updating|cannot lock ref|File exists|[Cc]annot lock|is at [0-9a-f]+ but expected"
    r"|reference already exists|nonexistent object|bad object|Not a valid commit"
)
"""Another writer was faster, holds the lock, or swept away objects that had no ref yet."""

_LOST = re.compile(
    r"missing object|Can't load tree|bad object|[Uu]nable to (read|find)|Could not read"
)
"""Objects of the session's latest checkpoint are gone, or seem to be while a gc moves them."""


@dataclass(frozen=True, slots=True)
class Tip:
    """Where a ref stands."""

    commit: str
    tree: str
    committed: int
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be committed."""

    ref: str
    files: Mapping[str, bytes]
    tree: str
    stamp: int
    """When the state was true: the author's date, seconds since the epoch."""
    message: Callable[[str], bytes]
    """Given the parent ("" for none), because a checkpoint's id depends on it."""
    sign: bool = False
    anew: bool = False
    """Commit even if the ref holds the same tree."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The new commit and what it came after."""

    commit: str
    parent: str


def legal_name(name: str) -> bool:
    """Say whether a file of a checkpoint may be called so: one plain name, no folders."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", name) is not None


def tree_id(files: Mapping[str, bytes], algorithm: str) -> str:
    """Return the name git would give to the tree of these files, without asking git.

    So an unchanged state costs no write at all.
    """

    def named(kind: str, content: bytes) -> bytes:
        # git's own naming, not a defence: the object format is the repository's choice
        digest = hashlib.new(algorithm, usedforsecurity=False)
        digest.update(f"{kind} {len(content)}\0".encode() + content)
        return digest.digest()

    rows = [
        b"100644 " + name.encode() + b"\0" + named("blob", files[name]) for name in sorted(files)
    ]
    return named("tree", b"".join(rows)).hex()


def tip(git: Git, ref: str) -> Tip | None:
    """Return where a ref stands; None if it does not exist.

    Raises:
        StoreError: it is a symbolic ref; writing would move what it stands for, maybe a branch.
    """
    form = "%(refname) %(objectname) %(tree) %(committerdate:unix) %(symref)"
    for line in git.run("for-each-ref", f"--format={form}", ref).text.splitlines():
        name, commit, tree, stamp, symbolic = line.split(" ")
        if name == ref and symbolic:
            raise StoreError(
                f"{git.directory}: {ref} only stands for {symbolic}; "
                f"git symbolic-ref --delete {ref} takes it away"
            )
        if name == ref:
            return Tip(commit, tree, number(stamp))
    return None


def commit(git: Git, repository: Repository, draft: Draft) -> Committed | None:
    """Commit a draft on top of what its ref holds; None if that is the same tree already.

    Raises:
        StoreError: the repository cannot be written, or stays locked.
    """
    until = time.monotonic() + _DEADLINE_S
    who: tuple[str, str] | None = None
    pause = 0.005
    for attempt in count(1):
        try:
            with turn(repository.common_dir, _TURN_S):
                last = tip(git, draft.ref)
                if last is not None and last.tree == draft.tree and not draft.anew:
                    return None
                who = who or identity(git)
                made = _written(git, repository, draft, last, who)
                return Committed(made, last.commit if last else "")
        except GitError as failure:
            if time.monotonic() > until or not _worth_another(failure, attempt):
                raise
            if attempt > 2 and _LOST.search(failure.words):
                mend_ref(git, repository, draft.ref)
        break_stale_lock(repository, draft.ref)
        time.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - spreads writers, hides nothing
        pause = min(pause * 1.6, 0.25)
    return None


def _worth_another(failure: GitError, attempt: int) -> bool:
    """Say whether trying again may help; a gc beside us has many ways to make git stumble."""
    if _HOPELESS.search(failure.words):
        return False
    return attempt < _TRIES or _OVERTAKEN.search(failure.words) is not None


def _written(
    git: Git, repository: Repository, draft: Draft, last: Tip | None, who: tuple[str, str]
) -> str:
    """Write the commit, safe from a gc beside us, and return it.

    A gc that looked at the refs before ours moved sweeps our objects if it was told to sweep
    everything (`--prune=now`), and also those that an earlier try wrote and this one found there.
    """
    made = ""
    for _ in range(_TRIES):
        busy = gc_runs(repository)
        made = (_signed if draft.sign else _imported)(git, draft, last, who)
        if not (busy or gc_runs(repository)) or secure(git, repository, made) or draft.sign:
            break  # else some were swept already: the same commit is written again
    return made


def _committer(draft: Draft, last: Tip | None) -> int:
    """Return the committer's date: never before the parent's, so that newest first holds.

    Clocks jump, and a state of an earlier moment may be saved late.
    """
    return max(draft.stamp, last.committed if last else 0)


def _imported(git: Git, draft: Draft, last: Tip | None, who: tuple[str, str]) -> str:
    """Write through fast-import and return the commit."""
    text = draft.message(last.commit if last else "")
    name = f"{who[0]} <{who[1]}>"
    lines = [
        b"feature done\n",  # a stream that breaks off commits nothing
        b"commit %b\nmark :1\n" % draft.ref.encode(),
        b"author %b %d +0000\n" % (name.encode(), draft.stamp),
        b"committer %b %d +0000\n" % (name.encode(), _committer(draft, last)),
        b"data %d\n%b\n" % (len(text), text),
    ]
    if last is not None:
        lines.append(b"from %b\ndeleteall\n" % last.commit.encode())
    for path in sorted(draft.files):
        content = draft.files[path]
        lines.append(b"M 100644 inline %b\ndata %d\n" % (path.encode(), len(content)))
        lines.append(content + b"\n")
    lines.append(b"\nget-mark :1\ndone\n")
    answer = git.ask(
        "fast-import",
        "--quiet",
        "--date-format=raw",
        stdin=b"".join(lines),
        # loose objects rather than a pack a checkpoint: many packs make all of git slow
        config={"fastimport.unpackLimit": "100"},
    )
    if answer.code != 0:
        _sweep_report(git, answer.err)
        raise git.failure("fast-import", answer)
    return answer.text.strip()


def _sweep_report(git: Git, words: str) -> None:
    """Remove the crash report that fast-import leaves in the repository when it refuses."""
    found = re.search(r"fast_import_crash_[0-9]+", words)
    if found and git.git_dir is not None:
        (git.git_dir / found[0]).unlink(missing_ok=True)


def _signed(git: Git, draft: Draft, last: Tip | None, who: tuple[str, str]) -> str:
    """Write a signed commit through plumbing and return it."""
    rows = b""
    for path in sorted(draft.files):
        blob = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=draft.files[path]).text
        rows += f"100644 blob {blob}\t{path}\0".encode()
    tree = git.run("mktree", "-z", stdin=rows).text
    parent = last.commit if last else ""
    env = {
        "GIT_AUTHOR_NAME": who[0],
        "GIT_AUTHOR_EMAIL": who[1],
        "GIT_AUTHOR_DATE": f"@{draft.stamp} +0000",
        "GIT_COMMITTER_NAME": who[0],
        "GIT_COMMITTER_EMAIL": who[1],
        "GIT_COMMITTER_DATE": f"@{_committer(draft, last)} +0000",
    }
    made = git.run(
        "commit-tree",
        "-S",
        tree,
        *(["-p", parent] if parent else []),
        stdin=draft.message(parent),
        env=env,
        config={"i18n.commitEncoding": "UTF-8"},
    ).text
    nothing = "0" * len(made)  # as long as the repository's names
    git.run("update-ref", "--no-deref", draft.ref, made, parent or nothing)
    return made
