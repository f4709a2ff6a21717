"""`checkpoint resume`: go on from a checkpoint, with any agent."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Directory, Json, Which

if TYPE_CHECKING:
    from checkpoint.resume import Launch, Picked
    from checkpoint.store import Store


@command(
    "checkpoint resume --to claude              # starts it with the briefing",
    "checkpoint resume --print | less           # the briefing itself",
    "checkpoint resume --list                   # what one could go on from, the best first",
    "checkpoint resume --native                 # the same session again, while its log is there",
)
def resume(
    checkpoint: Which = None,
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="Of this session, by its id's beginning."),
    ] = "",
    agent: Agent = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the sessions one could go on from.")
    ] = False,
    to: Annotated[
        str,
        typer.Option("--to", metavar="AGENT", help="Start this agent with the briefing."),
    ] = "",
    native: Annotated[
        bool,
        typer.Option("--native", help="Let the session's own agent go on with it, if it still is."),
    ] = False,
    show: Annotated[
        bool, typer.Option("--print", help="Print the briefing (also without --to or --native).")
    ] = False,
    remote: Annotated[
        bool, typer.Option("--remote", help="Fetched checkpoints count too, after our own.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=200, help="How long it may be."),
    ] = None,
    characters: Annotated[
        int | None,
        typer.Option("--max-chars", metavar="N", min=1_000, help="The same, in characters."),
    ] = None,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Go on from a checkpoint: print its briefing, or start an agent with it.

    Without a name it is the session of this work tree and branch that ended last. The briefing says
    first what has changed since, then what was known, within its limits, fenced as notes.
    """
    from checkpoint import resume as resuming
    from checkpoint.cli._print import note, out, out_json
    from checkpoint.pipeline import checkpoint_state
    from checkpoint.settings import load
    from checkpoint.store import Store

    directory = directory.resolve()
    store = Store.open(directory)
    if listed:
        _list(store, agent, session, remote, json)
        return
    picked = resuming.pick(
        store, name=checkpoint or "", agent=agent, session=session, remote=remote
    )
    note(f"{picked.reason}; ended {_age(picked)} ago")
    if native:
        _start(resuming.native(picked.checkpoint.agent, picked.checkpoint.session, directory))
        return
    settings = load(directory)
    state = checkpoint_state(store, picked.checkpoint)
    drifted = resuming.drift(store, picked.checkpoint, state)
    briefing = resuming.brief(
        picked, state, drifted, settings, budget=budget, characters=characters
    )
    if json:
        out_json(_told(picked, asdict(drifted), briefing.text, briefing.nonce))
    elif to and not show:
        cache = _cache()
        name = picked.checkpoint.id
        _start(resuming.launch(to, briefing.text, directory, cache=cache, name=name))
    else:
        out(briefing.text)


def _age(picked: Picked) -> str:
    from checkpoint.resume.picking import age

    return age(picked.ended)


def _told(picked: Picked, drifted: dict[str, Any], text: str, nonce: str) -> dict[str, Any]:
    return {
        "checkpoint": asdict(picked.checkpoint),
        "reason": picked.reason,
        "ended": picked.ended,
        "ties": [one.id for one in picked.ties],
        "drift": drifted,
        "nonce": nonce,
        "briefing": text,
    }


def _list(store: Store, agent: str | None, session: str, remote: bool, json: bool) -> None:
    from checkpoint.cli._print import note, out_json, table
    from checkpoint.resume import candidates
    from checkpoint.resume.picking import age

    found = candidates(store, agent=agent, session=session, remote=remote)
    if json:
        out_json([asdict(one) for one in found])
        return
    if not found:
        note("no checkpoint here yet; `checkpoint save` makes one")
        return
    rows = [("ID", "ENDED", "AGENT", "SESSION", "BRANCH", "WHERE", "SUBJECT")]
    for one in found:
        kept = one.checkpoint
        place = "fetched" if kept.remote else "here" if one.same_tree else one.directory or "?"
        rows.append(
            (
                kept.id,
                f"{age(one.ended)} ago",
                kept.agent,
                kept.session[:20],
                kept.branch or "-",
                place,
                kept.subject,
            )
        )
    table(rows)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "checkpoint" / "briefings"


def _start(given: Launch) -> None:
    """Become the agent; on Windows, wait for it."""
    import subprocess
    import sys

    environment = {**os.environ, **given.environment}
    sys.stdout.flush()
    if os.name != "nt":
        os.chdir(given.directory)
        os.execve(given.command[0], given.command, environment)  # noqa: S606 - no shell is wanted
    done = subprocess.run(given.command, cwd=given.directory, env=environment, check=False)
    raise typer.Exit(done.returncode)
