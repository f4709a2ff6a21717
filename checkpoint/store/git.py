"""The git command: one way to start it, one environment, one way to fail.

GitPython is the facade of the command (`git.Git(directory).execute`) and nothing more: its own
object and ref database loses commits under concurrent writers and knows neither sha256 nor reftable
repositories. Importing it costs about 100 ms, so that waits for the first command: whoever only
imports the store, as the hook's entry point may, does not pay. It is asked for the running process,
which takes standard input as bytes and a time limit without a watchdog thread.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkpoint.errors import StoreError

TIMEOUT_S = 60.0
_LAST_WORDS_S = 1.0

_KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
    }
)
"""All other `GIT_*` go: inside a hook GIT_DIR, GIT_INDEX_FILE, GIT_OBJECT_DIRECTORY (a quarantine)
and GIT_CONFIG_PARAMETERS belong to the commit or push in progress, maybe in another repository."""

_OURS = {
    "GIT_OPTIONAL_LOCKS": "0",  # `status` must not rewrite the index
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}

_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    # Objects before the ref that points to them: else a power cut leaves a broken ref. Before 2.36
    # git does not know the setting and ignores it.
    "core.fsync": "loose-object,pack,pack-metadata,reference",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
}

_ADVICE = (
    (
        r"dubious ownership|safe\.directory",
        "it belongs to another user; if you trust it: "
        "git config --global --add safe.directory PATH",
    ),
    (
        r"safe\.bareRepository",
        "git is told not to use bare repositories by itself (safe.bareRepository)",
    ),
    (
        r"Permission denied|Read-only file system|Operation not permitted|insufficient permission",
        "the repository cannot be written from here; save from outside the sandbox, or mend the "
        "permissions of its .git folder",
    ),
    (r"No space left|Disk quota exceeded", "the disk is full; free some space and save again"),
    (
        r"could not read (Username|Password)|Authentication failed|terminal prompts disabled",
        "git may not ask here; log in once with a plain `git fetch`",
    ),
    (
        r"does not appear to be a git repository|Could not resolve host|Could not read from remote",
        "is the remote right, and can it be reached? `git remote -v` lists them",
    ),
    (
        r"\.lock'?: File exists|cannot lock ref|Unable to create",
        "another git process holds a lock; if none is running, remove the lock file it names",
    ),
)

_environment = threading.Lock()


class GitError(StoreError):
    """git ran and refused; the message says where, what and what to do."""

    def __init__(self, directory: Path, command: str, words: str):
        self.words = words
        lines = [
            one for one in words.splitlines() if one and not one.startswith(("warning:", "hint:"))
        ]
        said = next((one for one in lines if one.startswith(("fatal:", "error:"))), None)
        what = said or (lines[0] if lines else "without a word")
        advice = next((text for sign, text in _ADVICE if re.search(sign, words)), "")
        super().__init__(f"{directory}: git {command}: {what}" + (f"; {advice}" if advice else ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command gave back."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output without its last line end; odd bytes of paths survive."""
        return os.fsdecode(self.out).rstrip("\n")


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one directory; with `git_dir`, on that repository whatever lies around."""

    directory: Path
    git_dir: Path | None = None

    def ask(
        self,
        *arguments: str,
        stdin: bytes = b"",
        config: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Answer:
        """Run a command and return whatever it answers.

        Raises:
            StoreError: git cannot be started, or took longer than `timeout_s`.
        """
        settings = {**_CONFIG, **(config or {})}
        command = ["git", "-C", str(self.directory)]  # -C: the facade forgets a cwd it cannot enter
        if self.git_dir is not None:
            command.append(f"--git-dir={self.git_dir}")
        for key, value in settings.items():
            command += ["-c", f"{key}={value}"]
        process = _start(self.directory, [*command, *arguments], {**_OURS, **(env or {})})
        try:
            out, err = process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            _stop(process)
            raise StoreError(
                f"{self.directory}: git {arguments[0]} took longer than {timeout_s:g} s and was "
                "stopped; try again"
            ) from error
        return Answer(process.returncode, out, err.decode("utf-8", "replace"))

    def run(self, *arguments: str, **options: Any) -> Answer:
        """Run a command that must succeed; see `ask` for the options.

        Raises:
            GitError: it did not.
        """
        answer = self.ask(*arguments, **options)
        if answer.code != 0:
            raise self.failure(arguments[0], answer)
        return answer

    def failure(self, command: str, answer: Answer) -> GitError:
        """Return the error that says why a command failed."""
        return GitError(self.directory, command, answer.err or f"exit code {answer.code}")


def _start(directory: Path, command: list[str], env: Mapping[str, str]) -> Any:
    """Start git through GitPython's facade and return the process."""
    if not directory.is_dir():  # git and the facade would complain about something else
        raise StoreError(f"{directory}: no such directory; give one that exists")
    with _without_callers_git():
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git is told below
        import git  # the one import that waits: see the module's docstring

        try:
            return git.Git(directory).execute(
                command, istream=subprocess.PIPE, as_process=True, env=env, shell=False
            )
        except git.GitCommandNotFound as error:
            raise StoreError("git cannot be started; install it, or put it on the PATH") from error
        except OSError as error:  # no memory, too many files, ...
            raise StoreError(f"{directory}: git cannot be started ({error.strerror})") from error


def _stop(process: Any) -> None:
    """Kill git; a child of its own (ssh, a credential helper) may hold the pipes, and is let go."""
    process.kill()
    try:
        process.communicate(timeout=_LAST_WORDS_S)
    except subprocess.TimeoutExpired:
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


@contextmanager
def _without_callers_git() -> Iterator[None]:
    """Hide the caller's `GIT_*` while a process is started.

    GitPython can add variables to a child's environment but take none away, and an empty GIT_DIR or
    GIT_QUARANTINE_PATH is not the same as none.
    """
    with _environment:
        hidden = {
            name: os.environ.pop(name)
            for name in list(os.environ)
            if name.startswith("GIT_") and name not in _KEPT
        }
        try:
            yield
        finally:
            os.environ.pop("GIT_PYTHON_REFRESH", None)
            os.environ.update(hidden)
