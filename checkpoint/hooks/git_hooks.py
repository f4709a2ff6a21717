"""Our hooks of git: a checkpoint after each commit.

Git 2.54 and newer takes hooks from its configuration: no file is touched, and they run beside those
of husky, lefthook and pre-commit. For an older git a marked block goes into the hook's file, unless
a manager owns the hooks: then the user is told what to add.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import CheckpointError
from checkpoint.hooks import kept_file
from checkpoint.hooks.table import PROGRAM, Scope, program
from checkpoint.store.git import Git

EVENT = "post-commit"
KEY = "hook.checkpoint-post-commit"
BEGIN, END = f"# >>> {PROGRAM} >>>", f"# <<< {PROGRAM} <<<"
CHAINED = ".pre-checkpoint"
_SHELL = re.compile(rb"#!\s*\S*(?:/|\s)(?:ba|da|z|k|a)?sh\b")
CONFIG_HOOKS = (2, 54)


@dataclass(frozen=True)
class GitHooks:
    """How git calls us, or would."""

    way: str
    """"config"; "file"; "manager": somebody else's file, which we do not write."""
    place: str
    """The configuration, or the file."""
    installed: bool
    advice: str = ""
    """What the user has to add by hand."""


def _command() -> str:
    """Return what git's shell runs: the program of the PATH, else the one that is installed now.

    Graphical clients have a poorer PATH than a terminal.
    """
    other = shlex.quote(program())
    return (
        f'"$(command -v {PROGRAM} || echo {other})" --git {EVENT} </dev/null >/dev/null 2>&1 || :'
    )


def _block() -> bytes:
    return f"{BEGIN}\n{_command()}\n{END}\n".encode()


def _without_block(raw: bytes) -> bytes:
    start, end = raw.find(BEGIN.encode()), raw.find(END.encode())
    return raw[:start] + raw[end + len(END) + 1 :] if 0 <= start < end else raw


def version(git: Git) -> tuple[int, int]:
    """Return git's version, major and minor."""
    found = re.search(r"(\d+)\.(\d+)", git.run("version").text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def look(top: Path, scope: Scope) -> GitHooks:
    """Return how git calls us in a repository, or for all of the user's.

    Raises:
        CheckpointError: there is no repository, or git is too old for hooks of all repositories.
    """
    git = Git(top)
    where = "--global" if scope == "user" else "--local"
    if version(git) >= CONFIG_HOOKS:
        answer = git.ask("config", where, "--get", f"{KEY}.command")
        there = answer.code == 0 and PROGRAM in answer.text
        return GitHooks("config", f"git config {where}", there)
    if scope == "user":
        raise CheckpointError(
            "git before 2.54 has no hooks for all repositories; in each one: "
            "`checkpoint hooks install git --project`"
        )
    return _file(git, top)


def _file(git: Git, top: Path) -> GitHooks:
    manager = _manager(git, top)
    if manager:
        return manager
    # not `--git-path hooks`: our own calls of git set core.hooksPath to nothing
    answer = git.ask("rev-parse", "--path-format=absolute", "--git-common-dir")
    if answer.code != 0:
        raise CheckpointError(f"{top}: not a git repository, so there are no hooks to be installed")
    path = Path(answer.text) / "hooks" / EVENT
    raw = kept_file.read(path)
    return GitHooks("file", str(path), raw is not None and BEGIN.encode() in raw)


def _manager(git: Git, top: Path) -> GitHooks | None:
    """Return what is to be added to the file of whoever manages the hooks here."""
    line = f"{PROGRAM} --git {EVENT} </dev/null || :"
    hooks_path = _hooks_path(top)
    if (top / ".husky").is_dir():
        file = top / ".husky" / EVENT
        return GitHooks("manager", str(file), _holds(file), f"add this line to {file}: {line}")
    for name in ("lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"):
        if (top / name).is_file():
            text = f"{EVENT}: {{commands: {{checkpoint: {{run: {PROGRAM} --git {EVENT}}}}}}}"
            return GitHooks("manager", name, _holds(top / name), f"add this to {name}: {text}")
    if hooks_path:
        file = Path(os.path.join(top, os.path.expanduser(hooks_path), EVENT))
        return GitHooks("manager", str(file), _holds(file), f"add this line to {file}: {line}")
    common = git.ask("rev-parse", "--path-format=absolute", "--git-common-dir").text
    own = kept_file.read(Path(common) / "hooks" / EVENT) if common else None
    if own is not None and b"pre-commit.com" in own:
        text = (
            "the hook checkpoint-post-commit of this project's repository to "
            ".pre-commit-config.yaml (stages: [post-commit])"
        )
        there = _holds(top / ".pre-commit-config.yaml", b"checkpoint-post-commit")
        return GitHooks("manager", ".pre-commit-config.yaml", there, f"add {text}")
    return None


def _hooks_path(top: Path) -> str:
    """Return core.hooksPath as the user's git sees it; our own calls of git hide it."""
    answer = Git(top).ask("config", "--show-origin", "--get-all", "core.hooksPath")
    lines = [line.partition("\t") for line in answer.text.splitlines()]
    values = [value for origin, _, value in lines if not origin.startswith("command line")]
    return values[-1] if values else ""


def _holds(path: Path, what: bytes = PROGRAM.encode()) -> bool:
    return what in (kept_file.read(path) or b"")


def install(top: Path, scope: Scope, *, dry: bool = False) -> GitHooks:
    """Let git call us after each commit.

    Raises:
        CheckpointError: there is no repository, or it cannot be written.
    """
    found = look(top, scope)
    if dry or found.way == "manager" or _is_current(top, scope, found):
        return found
    if found.way == "config":
        where = "--global" if scope == "user" else "--local"
        git = Git(top)
        git.run("config", where, f"{KEY}.command", _command())
        git.run("config", where, f"{KEY}.event", EVENT)
        return found
    path = Path(found.place)
    raw = kept_file.read(path)
    if raw is None:
        kept_file.change(path, b"#!/bin/sh\n" + _block(), 0o755)
    elif _SHELL.match(raw) and not path.is_symlink():
        first, _, rest = _without_block(raw).partition(b"\n")
        kept_file.change(path, first + b"\n" + _block() + rest)
    else:
        aside = path.with_name(EVENT + CHAINED)
        if aside.exists():
            raise CheckpointError(f"{aside} is in the way; move it aside and install again")
        path.rename(aside)
        chain = f'exec "$(dirname "$0")/{aside.name}" "$@"\n'
        kept_file.write(path, b"#!/bin/sh\n" + _block() + chain.encode(), 0o755)
    return found


def _is_current(top: Path, scope: Scope, found: GitHooks) -> bool:
    """Say whether git calls the program as it would be installed now."""
    if not found.installed:
        return False
    if found.way == "config":
        where = "--global" if scope == "user" else "--local"
        return Git(top).ask("config", where, "--get", f"{KEY}.command").text == _command()
    return _block() in (kept_file.read(Path(found.place)) or b"")


def remove(top: Path, scope: Scope, *, dry: bool = False) -> GitHooks:
    """Let git call us no longer.

    Raises:
        CheckpointError: there is no repository, or it cannot be written.
    """
    found = look(top, scope)
    if dry or not found.installed or found.way == "manager":
        return found
    if found.way == "config":
        where = "--global" if scope == "user" else "--local"
        Git(top).run("config", where, "--remove-section", KEY)
        return found
    path = Path(found.place)
    raw = kept_file.read(path) or b""
    aside = path.with_name(EVENT + CHAINED)
    if aside.exists() or aside.is_symlink():
        aside.replace(path)
        return found
    rest = _without_block(raw)
    kept_file.give_back(path, None if rest.strip() == b"#!/bin/sh" else rest)
    return found
