"""`checkpoint log`: the checkpoints, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Directory, Json


@command(
    "checkpoint log", "checkpoint log -n 5 --agent codex", "checkpoint log --json | jq '.[0].id'"
)
def log(
    number: Annotated[
        int, typer.Option("-n", "--number", metavar="N", min=1, help="How many at most.")
    ] = 20,
    agent: Agent = None,
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Of this session only, by its beginning.")
    ] = "",
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """List the checkpoints, newest first."""
    from dataclasses import asdict

    from checkpoint.cli._print import note, out_json, table
    from checkpoint.store import Store

    found = [
        one
        for one in Store.open(directory.resolve()).list(agent=agent)
        if one.session.startswith(session)
    ][:number]
    if json:
        out_json([asdict(one) for one in found])
        return
    if not found:
        note("no checkpoint here yet; `checkpoint save` makes one")
        return
    rows = [("ID", "AT", "AGENT", "MESSAGES", "WHY", "SUBJECT")]
    rows += [
        (
            one.id,
            f"{one.at:%Y-%m-%d %H:%M}",
            one.agent,
            str(one.messages),
            one.reason,
            one.subject,
        )
        for one in found
    ]
    table(rows)
