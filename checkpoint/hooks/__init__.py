"""`checkpoint-hook`: what agents and git call. It spools, detaches a worker, and exits with 0.

Only the standard library stands on this path, and little of it: the program must return to the
agent at once, whatever the session's size. Everything slow is the worker's
(`checkpoint.hooks.worker`), in a session of its own, because agents kill the process group of a
hook that outlives them.

Nothing is printed, but at a session's start, where the agent may take additional context. Every
exception goes to the log; an agent is never held up or blocked by us.

    checkpoint-hook [--agent NAME] [--event EVENT]    one JSON object on standard input
    checkpoint-hook --git EVENT                       called by git in a work tree
    checkpoint-hook compact-context --agent NAME --session ID      what a compaction should keep
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Handle one event; never raises, always exits with 0."""
    try:
        if not (os.environ.get("CHECKPOINT_DISABLE") or os.environ.get("CHECKPOINT_IN_WORKER")):
            from checkpoint.hooks import event

            event.handle(sys.argv[1:])
    except BaseException as error:  # an agent must never see us fail
        _log(error)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os._exit(0)  # the reader is gone; a second flush at exit would print a trace
    sys.exit(0)


def _log(error: BaseException) -> None:
    try:
        from checkpoint.hooks import places

        places.log(f"checkpoint-hook: {type(error).__name__}: {error}")
    except Exception:  # noqa: S110 - there is nobody left to tell
        pass
