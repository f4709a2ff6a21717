"""How the hooks fare: whether each installed one would run, what they did last, what failed."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import CheckpointError
from checkpoint.hooks import git_hooks, places
from checkpoint.hooks.install import Status, status
from checkpoint.hooks.table import AGENTS, PROGRAM, program
from checkpoint.store import Store, requests

LONGEST_S = 1.0
"""A hook that takes longer is said to be slow."""
SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    good: bool
    text: str


def examine(directory: Path, top: Path) -> Iterator[Finding]:
    """Yield what was found, the program first, then each installed hook, then the store."""
    yield _runs(program())
    for agent in AGENTS.values():
        for scope in ("user", "project"):
            found = status(agent, scope, top)
            if found is not None:
                yield _installed(found)
    yield from _git(top)
    yield _store(directory)
    yield from _waiting(directory)
    if os.environ.get("CHECKPOINT_DISABLE"):
        yield Finding(False, "CHECKPOINT_DISABLE is set: hooks do nothing")


def _runs(name: str) -> Finding:
    """Run the hook with an event that means nothing."""
    path = shutil.which(name)
    if path is None:
        return Finding(False, f"{name}: not found; install the program again, or mend the PATH")
    start = time.monotonic()
    try:
        done = subprocess.run(
            [path], input=b"{}", capture_output=True, timeout=10, check=False,
            env={**os.environ, "CHECKPOINT_IN_WORKER": "1"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(False, f"{path}: does not run ({error})")
    took = time.monotonic() - start
    if done.returncode != 0 or done.stdout:
        return Finding(False, f"{path}: left with {done.returncode} and {len(done.stdout)} bytes")
    return Finding(took < LONGEST_S, f"{path}: runs, {took:.2f} s")


def _installed(found: Status) -> Finding:
    where = f"{found.agent} ({found.scope}): {found.path}"
    if found.problem:
        return Finding(False, f"{where}: {found.problem}")
    if found.missing:
        again = f"`checkpoint hooks install {found.agent}` adds them"
        return Finding(False, f"{where}: not called for {', '.join(found.missing)}; {again}")
    if shutil.which(found.program) is None:
        return Finding(False, f"{where}: calls {found.program}, which is not found")
    return Finding(True, f"{where}: {', '.join(found.events)}")


def _git(top: Path) -> Iterator[Finding]:
    for scope in ("user", "project"):
        try:
            found = git_hooks.look(top, scope)
        except CheckpointError:
            continue
        if not found.installed:
            continue
        if shutil.which(PROGRAM) is None and shutil.which(program()) is None:
            yield Finding(False, f"git ({scope}): {PROGRAM} is not found, so it does nothing")
        else:
            yield Finding(True, f"git ({scope}): after each commit, by {found.place}")


def _store(directory: Path) -> Finding:
    try:
        store = Store.open(directory)
        if store.writable():
            return Finding(True, f"store: {store.repository.common_dir} can be written")
        return Finding(
            False,
            f"store: {store.repository.common_dir} cannot be written from here; "
            "saving leaves a request that the next hook carries out",
        )
    except CheckpointError as error:
        return Finding(False, f"store: {error}")


def _waiting(directory: Path) -> Iterator[Finding]:
    folder = Path(places.folder(str(directory)))
    spool = [one for one in _files(folder / "spool") if one.suffix == ".json"]
    old = [one for one in spool if time.time() - _written(one) > 900]
    if old:
        yield Finding(False, f"{len(old)} events wait in {folder / 'spool'} for over 15 minutes")
    asked = list(requests.waiting(directory))
    if asked:
        yield Finding(True, f"{len(asked)} requests wait for the next hook")
    failed = [one for one in _files(folder / "failed") if one.suffix == ".txt"]
    for one in failed[-SHOWN:]:
        last = one.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        yield Finding(False, f"failed {_when(one)}: {last[:300]} ({one})")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    except OSError:
        return []


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _when(path: Path) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(_written(path)))


def last_runs(count: int = SHOWN) -> list[str]:
    """Return the last lines of the hooks' log, of all repositories."""
    path = Path(places.state_home()) / "hook.log"
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 32_768))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []
