"""`checkpoint push`: send our checkpoints to a remote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json

Remote = Annotated[str, typer.Argument(metavar="[REMOTE]", help="A remote, or its address.")]


@command("checkpoint push", "checkpoint push backup --json")
def push(remote: Remote = "origin", json: Json = False, directory: Directory = Path()) -> None:
    """Send our own checkpoints to a remote; branches, tags and hooks have no part in it.

    Leaves with 1 if the remote refused any of them.
    """
    from dataclasses import asdict

    from checkpoint.cli._print import note, out, out_json
    from checkpoint.store import Store

    done = Store.open(directory.resolve()).push(remote)
    if json:
        out_json(asdict(done))
    else:
        out(f"{remote}: {len(done.moved)} sessions sent" if done.moved else f"{remote}: up to date")
    for ref, reason in done.rejected:
        note(f"{ref}: {reason}")
    if done.rejected:
        raise typer.Exit(1)
