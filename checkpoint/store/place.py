"""What stands around a session: the repository, who commits, what is checked out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import StoreError
from checkpoint.store.git import Git

_STATUS_TIMEOUT_S = 3.0

_NO_REPOSITORY = re.compile(r"not a git repository \(or any")


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository, or a linked work tree of one."""

    git_dir: Path
    """This work tree's own."""
    common_dir: Path
    """Where objects and refs lie; the same for all work trees."""
    work_tree: bool
    """False: bare, or the directory is inside the git directory."""
    algorithm: str
    """What names its objects: "sha1" or "sha256"."""


@dataclass(frozen=True, slots=True)
class Position:
    """What is checked out, and how many files differ from it."""

    head: str = ""
    branch: str = ""
    dirty: str = ""


def discover(directory: Path) -> Repository | None:
    """Return the repository around a directory; None if there is none.

    Raises:
        StoreError: git refuses the repository that is there (another owner, damaged, a work tree
            whose repository is gone).
    """
    git = Git(directory)
    asked = ("--is-inside-work-tree", "--show-object-format", "--git-dir", "--git-common-dir")
    answer = git.ask("rev-parse", "--path-format=absolute", *asked)
    if answer.code != 0:
        if _NO_REPOSITORY.search(answer.err):
            return None
        raise git.failure("rev-parse", answer)
    said = answer.text.split("\n")
    if said[0].startswith("--"):  # an option that this git repeats because it does not know it
        raise StoreError("git is older than 2.31; update it")
    if len(said) != len(asked):  # a line end in a path
        said = [git.run("rev-parse", "--path-format=absolute", one).text for one in asked]
    return Repository(Path(said[2]), Path(said[3]), said[0] == "true", said[1])


def position(directory: Path, git: Git, repository: Repository) -> Position:
    """Return what is checked out; the index is read, never refreshed.

    A rename counts as two files. Where the work tree is too large to be looked through within a few
    seconds, `dirty` stays "".
    """
    if repository.work_tree:
        try:
            answer = Git(directory).ask(
                "status",
                "--porcelain=v2",
                "--branch",
                "--no-ahead-behind",
                "--no-renames",
                "--untracked-files=normal",
                "-z",
                timeout_s=_STATUS_TIMEOUT_S,
            )
        except StoreError:
            answer = None
        if answer is not None and answer.code == 0:
            return _status(answer.out.decode("utf-8", "replace"))
    head = git.ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return Position(
        head.text if head.code == 0 else "",
        branch.out.decode("utf-8", "replace").strip() if branch.code == 0 else "",
    )


def _status(text: str) -> Position:
    head = branch = ""
    changed = 0
    for one in text.split("\0"):
        if one.startswith("# branch.oid "):
            head = one.removeprefix("# branch.oid ")
        elif one.startswith("# branch.head "):
            branch = one.removeprefix("# branch.head ")
        elif one.startswith(("1 ", "u ", "? ")):
            changed += 1
    return Position(
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else branch,
        str(changed),
    )


def identity(git: Git) -> tuple[str, str]:
    """Return name and e-mail of who commits: git's configured user, else this program.

    Always explicit, so that a commit never fails for want of one.
    """
    answer = git.ask("config", "-z", "--get-regexp", r"^user\.(name|email)$")
    found = {"user.name": "checkpoint", "user.email": "checkpoint@localhost"}
    for one in answer.out.decode("utf-8", "replace").split("\0"):
        key, _, value = one.partition("\n")
        value = re.sub(r"[<>\x00-\x1f\x7f]", "", value).strip()
        if key in found and value:
            found[key] = value
    return found["user.name"], found["user.email"]
