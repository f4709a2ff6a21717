"""Where the hooks keep their spool, locks and log.

Beside the repository, or in the user's state.
"""

from __future__ import annotations

import os
import subprocess
import time

LOG_BYTES = 1_000_000
"""A longer log is begun anew; the former one is kept beside it."""


def state_home() -> str:
    """Return our folder for state: `$XDG_STATE_HOME/checkpoint`, or ~/.local/state/checkpoint."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(
        os.path.expanduser("~"), ".local", "state"
    )
    return os.path.join(base, "checkpoint")


def log(text: str) -> None:
    """Add a line to the hooks' log; silent when that cannot be done."""
    try:
        folder = state_home()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "hook.log")
        if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES:
            os.replace(path, path + ".1")
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = " ".join(text.split())[:2000]
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{stamp} [{os.getpid()}] {line}\n")
    except OSError:
        pass


def clean_environment() -> dict[str, str]:
    """Return the environment without a surrounding git's variables.

    They name another repository.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    kept["GIT_OPTIONAL_LOCKS"] = "0"
    return kept


def common_directory(directory: str) -> str:
    """Return the git directory that all worktrees of `directory` share; "" outside a repository.

    Found by hand, as git finds it, because a process costs more than all else here; what is not
    plain (a bare repository, `GIT_DIR`) is git's to say.
    """
    at = os.path.abspath(directory)
    while True:
        dot = os.path.join(at, ".git")
        if os.path.isdir(dot) and os.path.exists(os.path.join(dot, "HEAD")):
            return dot
        if os.path.isfile(dot):
            return _linked(dot) or _asked(directory)
        parent = os.path.dirname(at)
        if parent == at:
            return _asked(directory) if os.path.exists(os.path.join(directory, "HEAD")) else ""
        at = parent


def _linked(dot: str) -> str:
    with open(dot, encoding="utf-8", errors="replace") as file:
        first = file.readline().strip()
    if not first.startswith("gitdir:"):
        return ""
    own = os.path.normpath(os.path.join(os.path.dirname(dot), first[7:].strip()))
    common = os.path.join(own, "commondir")
    if not os.path.isfile(common):
        return own if os.path.isdir(own) else ""
    with open(common, encoding="utf-8", errors="replace") as file:
        return os.path.normpath(os.path.join(own, file.readline().strip()))


def head(directory: str) -> str:
    """Return the commit that is checked out; "" where that does not stand in plain files."""
    at = os.path.abspath(directory)
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return ""
        at = parent
    dot = os.path.join(at, ".git")
    own = dot
    if os.path.isfile(dot):
        own = os.path.join(at, _first_line(dot).removeprefix("gitdir:").strip())
    name = _first_line(os.path.join(own, "HEAD"))
    if name.startswith("ref:"):
        common = common_directory(directory)
        name = _first_line(os.path.join(common, name.removeprefix("ref:").strip()))
    return name if len(name) in (40, 64) and set(name) <= set("0123456789abcdef") else ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _asked(directory: str) -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"],
        cwd=directory,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=2,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def folder(directory: str) -> str:
    """Return the folder for the spool and locks of the repository around `directory`.

    It lies in the repository's common git directory; outside a repository, or where that cannot be
    written (a sandbox), in the user's state folder under a name made of the directory.
    """
    common = common_directory(directory)
    if common:
        own = os.path.join(common, "checkpoint")
        if os.access(own if os.path.isdir(own) else common, os.W_OK):
            return own
    return beside(directory)


def beside(directory: str) -> str:
    """Return the folder in the user's state that stands in for the repository's."""
    real = os.path.realpath(directory)
    name = "".join(c if c.isalnum() else "-" for c in real)[-80:]
    check = 0
    for byte in real.encode("utf-8", "surrogateescape"):
        check = (check * 31 + byte) & 0xFFFFFFFF
    return os.path.join(state_home(), "repositories", f"{name.strip('-') or 'root'}-{check:08x}")
