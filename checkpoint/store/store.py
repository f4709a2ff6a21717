"""The store of one directory: its repository's refs, or a bare repository of its own."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from checkpoint import __version__
from checkpoint.errors import StoreError
from checkpoint.store import carry, find, outside, refs, share
from checkpoint.store.checkpoints import FORMAT, Checkpoint, message, one_line, parse
from checkpoint.store.commit import Draft, commit, legal_name, tree_id
from checkpoint.store.git import Git
from checkpoint.store.place import Position, Repository, discover, position

Checkpoints = list[Checkpoint]  # inside the class, `list` is the method
Names = list[str]


@dataclass(frozen=True, slots=True)
class Store:
    """Checkpoints of one directory; `Store.open` makes it."""

    directory: Path
    """Whose sessions these are; all work trees of a repository share one list."""
    kind: Literal["repository", "outside"]
    repository: Repository

    @classmethod
    def open(cls, directory: Path, *, data_home: Path | None = None) -> Store:
        """Return the store of a directory; nothing is written, not even outside a repository.

        The repository is the one around the directory, whatever GIT_DIR a surrounding hook has.

        Args:
            directory: where the agent works.
            data_home: instead of the user's data directory, for a directory without a repository.

        Raises:
            StoreError: no such directory, no git, or git refuses the repository that is there.
        """
        repository = discover(directory)
        if repository is not None:
            return cls(directory, "repository", repository)
        return cls(directory, "outside", outside.bare(outside.bare_path(directory, data_home)))

    @property
    def git(self) -> Git:
        """Git on this store's repository."""
        place = self.directory if self.kind == "repository" else self.repository.git_dir
        return Git(place, self.repository.git_dir)

    @property
    def exists(self) -> bool:
        """False: outside a repository, and nothing was saved yet."""
        return self.kind == "repository" or (self.repository.git_dir / "HEAD").is_file()

    def writable(self) -> bool:
        """Say whether a checkpoint could be written, by trying; leaves nothing behind.

        Permissions alone would not tell: a sandbox may refuse what they allow.
        """
        folder = self.repository.common_dir / "objects"
        if not self.exists:
            folder = next(one for one in self.repository.git_dir.parents if one.is_dir())
            return os.access(folder, os.W_OK)
        try:
            with tempfile.NamedTemporaryFile(dir=folder, prefix="tmp_checkpoint_"):
                return True  # git sweeps tmp_* should we be killed right here
        except OSError:
            return False

    def write(
        self,
        *,
        agent: str,
        session: str,
        files: Mapping[str, bytes],
        subject: str,
        body: str,
        reason: str,
        messages: int,
        continues: str = "",
        at: datetime | None = None,
        sign: bool = False,
        again: bool = False,
        head: str = "",
    ) -> Checkpoint | None:
        """Commit files as the session's next checkpoint.

        Args:
            agent: the agent's name.
            session: the session's id, any text.
            files: name to content; plain names, no folders.
            subject: the commit's first line.
            body: the rest of the commit's message.
            reason: why now: "manual", "session-end", ...
            messages: how many messages of the session are in it.
            continues: the session it was forked or continued from.
            at: when the state was true; None is now. Aware.
            sign: as git's own settings say how.
            again: the same files are written once more if another code commit is checked out now.
            head: the code commit of the moment, where a hook saw it; "" is what is checked out now.

        Returns:
            The checkpoint; None if the session's latest holds the same files already.

        Raises:
            StoreError: the repository cannot be written; the message says what to do.
            ValueError: a file's name is not a plain one.
        """
        for name in files:
            if not legal_name(name):
                raise ValueError(f"{name!r} is not a plain file name")
        if self.kind == "outside":
            outside.create(self.repository.git_dir, self.directory)
            there = Position()
        else:
            there = position(self.directory, self.git, self.repository)
        there = replace(there, head=head or there.head)
        stamp = int((at or datetime.now(UTC)).timestamp())
        tree = tree_id(files, self.repository.algorithm)
        trailers = {
            "Agent": one_line(agent),
            "Session": one_line(session),
            "Continues": one_line(continues),
            "Messages": str(messages),
            "Reason": one_line(reason),
            "Head": there.head,
            "Branch": one_line(there.branch),
            "Dirty": there.dirty,
            "Version": __version__,
        }

        def name_of(parent: str) -> str:
            whole = "\0".join((agent, session, tree, parent))
            return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]

        def text(parent: str) -> bytes:
            return message(subject, body, {"Id": name_of(parent), **trailers})

        ref = refs.session_ref(agent, session)
        anew = again and self._head_moved(agent, session, there.head)
        made = commit(self.git, self.repository, Draft(ref, files, tree, stamp, text, sign, anew))
        if made is None:
            return None
        return Checkpoint(
            commit=made.commit,
            ref=ref,
            id=name_of(made.parent),
            agent=trailers["Agent"],
            session=trailers["Session"],
            messages=messages,
            reason=trailers["Reason"],
            head=there.head,
            branch=trailers["Branch"],
            dirty=there.dirty,
            version=__version__,
            continues=trailers["Continues"],
            at=datetime.fromtimestamp(stamp, UTC),
            subject=message(subject, "", {}).decode().strip(),
            parent=made.parent,
        )

    def _head_moved(self, agent: str, session: str, head: str) -> bool:
        """Say whether the session's latest checkpoint was made at another code commit."""
        last = self.latest(agent, session)
        return last is not None and last.head != head

    def list(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        remote: bool = False,
        limit: int | None = None,
    ) -> Checkpoints:
        """Return the checkpoints, newest first; one git process for all refs.

        Commits under our refs that are no checkpoints (made by hand) are left out.

        Args:
            agent: of this agent only.
            session: of this session only, by its whole id.
            remote: also those fetched or imported that are not among our own.
            limit: how many at most.
        """
        found = self._log(refs.LOCAL, agent, session, limit)
        if remote:
            found += self._log(refs.FETCHED, agent, session, limit)
            found.sort(key=lambda one: one.at, reverse=True)  # stable: our own first
        return found[:limit]

    def latest(self, agent: str | None = None, session: str | None = None) -> Checkpoint | None:
        """Return the newest checkpoint of a session, of an agent, or of all; None without any."""
        found = self.list(agent=agent, session=session, limit=1)
        return found[0] if found else None

    def find(self, name: str) -> Checkpoint:
        """Return the checkpoint that a name means; see `checkpoint.store.find.find`.

        Raises:
            StoreError: there is none, or more than one.
        """
        return find.find(name, self.list(remote=True), self.directory)

    def files(self, checkpoint: Checkpoint) -> Names:
        """Return the names of a checkpoint's files, sorted.

        Raises:
            StoreError: the checkpoint is not in this store (any more).
        """
        answer = self.git.run("ls-tree", "-z", "--full-tree", "--name-only", checkpoint.commit)
        return sorted(one for one in answer.out.decode("utf-8", "replace").split("\0") if one)

    def read(self, checkpoint: Checkpoint, file: str) -> bytes:
        """Return the content of one of a checkpoint's files.

        Raises:
            StoreError: it has no such file; the message says which it has.
        """
        if legal_name(file):
            answer = self.git.ask("cat-file", "blob", f"{checkpoint.commit}:{file}")
            if answer.code == 0:
                return answer.out
        names = ", ".join(one_line(one) for one in self.files(checkpoint))
        raise StoreError(
            f"checkpoint {checkpoint.id}: no file {one_line(file)!r}; it has {names or 'none'}"
        )

    def push(self, remote: str = "origin") -> share.Exchange:
        """Send our own checkpoints to a remote; see `checkpoint.store.share.push`."""
        return share.push(self.git, remote) if self.exists else share.Exchange(remote)

    def pull(self, remote: str = "origin") -> share.Exchange:
        """Fetch a remote's checkpoints beside our own; see `checkpoint.store.share.pull`."""
        if not self.exists:
            outside.create(self.repository.git_dir, self.directory)
        return share.pull(self.git, remote)

    def prune(
        self,
        keep: int | None = None,
        older_than: timedelta | None = None,
        dry_run: bool = False,
    ) -> Checkpoints:
        """Forget whole sessions; see `checkpoint.store.share.prune`."""
        tips = {one.ref: one for one in reversed(self.list())}
        return share.prune(
            self.git, self.repository, list(tips.values()), keep, older_than, dry_run
        )

    def export(self, checkpoint: Checkpoint, path: Path) -> None:
        """Write one checkpoint into a file; see `checkpoint.store.carry.export`."""
        files = {name: self.read(checkpoint, name) for name in self.files(checkpoint)}
        carry.export(checkpoint, files, self._body(checkpoint), path)

    def import_(self, path: Path) -> Checkpoint:
        """Take in a checkpoint that `export` wrote, as a foreign one; twice is once.

        Raises:
            StoreError: the file is not such a checkpoint, or cannot be read.
        """
        brought = carry.load(path)
        for one in self.list(agent=brought.agent, session=brought.session, remote=True):
            if one.id == brought.id:
                return one
        if self.kind == "outside":
            outside.create(self.repository.git_dir, self.directory)
        ref = refs.imported_ref(brought.agent, brought.session)
        tree = tree_id(brought.files, self.repository.algorithm)
        text = message(brought.subject, brought.body, brought.trailers)
        draft = Draft(ref, brought.files, tree, brought.stamp, lambda _: text)
        made = commit(self.git, self.repository, draft)
        found = self.list(agent=brought.agent, session=brought.session, remote=True)
        wanted = made.commit if made else ""
        return next(one for one in found if one.commit == wanted or one.ref == ref)

    def _body(self, checkpoint: Checkpoint) -> str:
        """Return a checkpoint's message without subject and trailers."""
        answer = self.git.run("log", "-1", "--no-show-signature", "--format=%b", checkpoint.commit)
        body = answer.out.decode("utf-8", "replace").strip()
        rest, _, last = body.rpartition("\n\n")
        return rest if last.startswith("Checkpoint-") else body

    def _log(
        self, space: str, agent: str | None, session: str | None, limit: int | None
    ) -> Checkpoints:
        """Return the checkpoints of one name space, newest first."""
        if not self.exists:
            return []
        asked = ["log", "-s", "--source", "--encoding=UTF-8", f"--format={FORMAT}"]
        # the text that makes a commit a checkpoint; the limit counts after it
        asked += ["--basic-regexp", "--grep=^Checkpoint-Id: "]
        if limit is not None:
            asked.append(f"--max-count={limit}")
        own = ["--not", f"--glob={refs.LOCAL}/*"] if space == refs.FETCHED else []
        answer = self.git.ask(*asked, f"--glob={refs.glob(space, agent, session)}", *own)
        found = [*parse(answer.out)]
        if answer.code != 0:
            found = self._log_one_by_one(space, asked)
        return [
            one
            for one in found
            if (agent is None or one.agent == one_line(agent))
            and (session is None or one.session == one_line(session))
        ]

    def _log_one_by_one(self, space: str, asked: Names) -> Checkpoints:
        """Ask for each session by itself: one whose objects are gone must not hide the others.

        Of that one comes its latest, if that can be read.
        """
        found: Checkpoints = []
        for name in self.git.run("for-each-ref", "--format=%(refname)", space).text.split():
            answer = self.git.ask(*asked, name, "--")
            if answer.code != 0:
                answer = self.git.ask(*asked, "--no-walk", name, "--")
            found += parse(answer.out)
        return sorted(found, key=lambda one: one.at, reverse=True)
