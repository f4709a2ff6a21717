"""The words for a session's start; a process of its own, see `checkpoint.hooks.start`.

`python -m checkpoint.hooks.opening start|compact|keep AGENT SESSION` in the session's directory.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from checkpoint.errors import CheckpointError, StoreError
from checkpoint.hooks import places
from checkpoint.pipeline import checkpoint_state
from checkpoint.resume import Drift, Picked, brief, drift, pick, pointer
from checkpoint.settings import Settings, load
from checkpoint.state import State
from checkpoint.store import Store

CHARACTERS = 9_000
"""Claude Code keeps 10,000 characters of a hook's text, Codex 2,500 tokens; both with some air."""
CODEX_TOKENS = 2_400
KEEP_CHARACTERS = 2_000
FRESH_H, OLD_DAYS = 72.0, 14.0
"""Younger than so many hours: the whole briefing; older than so many days: never by itself."""


def main() -> None:
    """Print the words; nothing on any error, which goes to the log."""
    try:
        kind, agent, session = sys.argv[1:4]
        sys.stdout.write(words(kind, agent, session, Path.cwd()))
    except CheckpointError as error:
        places.log(f"start: {error}")
    except Exception as error:
        places.log(f"start: {type(error).__name__}: {error}")


def words(kind: str, agent: str, session: str, directory: Path) -> str:
    """Return what the agent is told; "" for nothing.

    Args:
        kind: "start"; "compact", which is for the own session only; "keep", for the summary of a
            compaction that is about to begin.
        agent: who asks.
        session: the id of the session that begins or is compacted.
        directory: where it works.

    Raises:
        CheckpointError: the checkpoint is damaged, or git refuses.
    """
    store = Store.open(directory)
    own = kind in ("compact", "keep")
    try:
        picked = pick(store, session=session) if own and session else pick(store, but=session)
    except StoreError:
        return ""  # there is none
    if own and picked.checkpoint.session != session:
        return ""
    settings = load(directory)
    state = checkpoint_state(store, picked.checkpoint)
    drifted = drift(store, picked.checkpoint, state, look_for_sessions=False)
    if kind == "keep":
        return _fitted(picked, state, drifted, settings, agent, KEEP_CHARACTERS)
    why = "" if own else _too_old(picked, drifted)
    if why:
        return pointer(picked, drifted, why)
    return _fitted(picked, state, drifted, settings, agent, CHARACTERS)


def _too_old(picked: Picked, drifted: Drift) -> str:
    """Return why the briefing is not shown by itself; "" if it is."""
    hours = (datetime.now(UTC) - picked.ended).total_seconds() / 3_600
    if hours > OLD_DAYS * 24:
        return f"it is older than {OLD_DAYS:g} days"
    if drifted.diverged:
        return "its branch is another one, and its commit is not part of this one"
    if not picked.same_tree:
        return "it is of another work tree"
    if hours > FRESH_H or not picked.same_branch:
        return "it is not of this branch" if not picked.same_branch else "it is some days old"
    return ""


def _fitted(
    picked: Picked, state: State, drifted: Drift, settings: Settings, agent: str, characters: int
) -> str:
    limit = CODEX_TOKENS if agent == "codex" else None
    made = brief(
        picked,
        state,
        drifted,
        settings,
        characters=characters,
        most_tokens=limit,
    )
    return made.text if len(made.text) <= characters else ""


if __name__ == "__main__":
    main()
