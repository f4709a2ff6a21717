"""`checkpoint sessions`: the sessions of this directory, newest first."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Directory, Json


@command(
    "checkpoint sessions",
    "checkpoint sessions --all -n 50 --agent codex",
    "checkpoint sessions --json | jq '.[].session'",
)
def sessions(
    everywhere: Annotated[
        bool, typer.Option("--all", help="Of every directory on this machine.")
    ] = False,
    number: Annotated[
        int, typer.Option("-n", "--number", metavar="N", min=1, help="How many at most.")
    ] = 20,
    agent: Agent = None,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """List the sessions of this directory, newest first."""
    from dataclasses import asdict

    from checkpoint.cli._print import age, note, out_json, table
    from checkpoint.discover import sessions as found_in

    directory = directory.resolve()
    found = list(found_in(None if everywhere else directory, [agent] if agent else None))
    if json:
        out_json([asdict(one) for one in found[:number]])
        return
    if not found:
        where = "on this machine" if everywhere else f"of {directory}"
        note(f"no session {where}; `checkpoint readers` shows where they are looked for")
        return
    now = time.time()
    rows = [("SESSION", "AGENT", "AGE", "TITLE" if not everywhere else "DIRECTORY, TITLE")]
    for one in found[:number]:
        title = one.title or one.path.name
        where = f"{one.directory or '?'}  {title}" if everywhere else title
        rows.append((one.session, one.agent, age(now - one.updated) if one.updated else "?", where))
    table(rows)
    if len(found) > number:
        note(f"... and {len(found) - number} more; -n {len(found)} shows them")
