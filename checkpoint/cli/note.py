"""`checkpoint note`: a fact by hand, which survives every later save."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Directory, Json

if TYPE_CHECKING:
    from checkpoint.discover import Listed
    from checkpoint.pipeline import NoteOrder, Saved
    from checkpoint.settings import Settings
    from checkpoint.store import Store

_SESSIONS = (
    ("CHECKPOINT_SESSION_ID", ""),
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini-cli"),
)
"""Variables by which a running agent tells its session to the programs it starts."""
_RUNNING = (
    "CLAUDECODE",
    "OPENCODE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
)


def _kinds(incomplete: str) -> list[str]:
    from checkpoint.pipeline import KINDS

    return [one for one in KINDS if one.startswith(incomplete)]


@command(
    'checkpoint note "The staging database is shared, never reset it" --kind instruction',
    'checkpoint note "Leak: the cache keeps closed sockets" --kind root-cause',
    "checkpoint note --done t3fa2b1c            # an id of `checkpoint show --format json`",
    "checkpoint note --drop x91c0aa2e",
)
def note(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", show_default=False, help="What is to be known.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="note, goal, instruction, decision, root-cause, ruled-out, finding, question, "
            "next or done.",
            autocompletion=_kinds,
        ),
    ] = "note",
    done: Annotated[
        str, typer.Option("--done", metavar="ID", help="Say that a thing of the state is done.")
    ] = "",
    drop: Annotated[
        str, typer.Option("--drop", metavar="ID", help="Take a thing out of the state.")
    ] = "",
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="In this session; default: the newest one."),
    ] = "",
    agent: Agent = None,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Add a fact to a session's state by hand; it survives every later save.

    A person's note outranks all that the session says; one by a running agent counts as its words.
    """
    from checkpoint import pipeline
    from checkpoint.cli._print import out, out_json
    from checkpoint.errors import CheckpointError
    from checkpoint.pipeline.summary import redactor
    from checkpoint.settings import load
    from checkpoint.store import Store

    if kind not in pipeline.KINDS:
        raise CheckpointError(f"no kind is called {kind!r}; choose {', '.join(pipeline.KINDS)}")
    directory = directory.resolve()
    text = redactor(load(directory)).text(text)
    by = "agent" if any(os.environ.get(name) for name in _RUNNING) else "person"
    orders = [
        *([pipeline.NoteOrder("add", text.strip(), kind, by)] if text.strip() else []),
        *([pipeline.NoteOrder("done", done, by=by)] if done else []),
        *([pipeline.NoteOrder("drop", drop, by=by)] if drop else []),
    ]
    if not orders:
        raise typer.BadParameter("give a text, --done ID or --drop ID")
    store = Store.open(directory)
    own, named = _session(session, agent)
    if not store.writable():
        _ask(store, directory, own, named, orders)
        return
    saved = _saved(store, directory, own, named, orders, load(directory))
    info = saved.summary.state.session
    ids = [one.id for one in orders if one.action == "add"]
    made = saved.checkpoint.id if saved.checkpoint else None
    if json:
        out_json({"checkpoint": made, "ids": ids, "agent": info.agent, "session": info.id})
        return
    what = f"note {ids[0]}" if ids else "noted"
    out(f"{what}: {info.agent} session {info.id}, checkpoint {made or '(the same as before)'}")


def _session(session: str, agent: str | None) -> tuple[str, str | None]:
    """Return the session that is meant and its agent: as asked for, else the one that runs us."""
    if session:
        return session, agent
    for name, whose in _SESSIONS:
        value = os.environ.get(name)
        if value:
            return value, agent or whose or os.environ.get("CHECKPOINT_AGENT") or None
    return "", agent


def _ask(
    store: Store, directory: Path, session: str, agent: str | None, orders: list[NoteOrder]
) -> None:
    from dataclasses import asdict

    from checkpoint.cli._print import out
    from checkpoint.store import requests

    notes = [{key: str(value) for key, value in asdict(one).items()} for one in orders]
    path = requests.write(directory, agent=agent or "", session=session, notes=notes)
    out(f"queued: {store.directory} cannot be written from here; the next hook does it ({path})")


def _saved(
    store: Store,
    directory: Path,
    session: str,
    agent: str | None,
    orders: list[NoteOrder],
    settings: Settings,
) -> Saved:
    """Note it with what the session says by now; without its log, on its last checkpoint."""
    from checkpoint import pipeline
    from checkpoint.errors import StoreError

    found = _log(directory, session, agent)
    if found is not None:
        return pipeline.save(
            found.path,
            store=store,
            settings=settings,
            agent=found.agent,
            session=found.session,
            reason="note",
            notes=orders,
        )
    tips = [one for one in store.list(agent=agent) if one.session.startswith(session)]
    if not tips:
        raise StoreError(
            f"{directory}: there is neither a session nor a checkpoint to note it in; "
            "`checkpoint sessions --all` lists those of other directories"
        )
    return pipeline.annotate(tips[0], orders, store=store, settings=settings)


def _log(directory: Path, session: str, agent: str | None) -> Listed | None:
    from checkpoint.discover import choose, sessions
    from checkpoint.errors import ReadError

    if session:
        listed = sessions(directory, agent) or sessions(None, agent)
        return next((one for one in listed if one.session.startswith(session)), None)
    try:
        return choose(directory, agent).found
    except ReadError:
        return None
