"""`checkpoint pull`: fetch a remote's checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json

Remote = Annotated[str, typer.Argument(metavar="[REMOTE]", help="A remote, or its address.")]


@command("checkpoint pull", "checkpoint pull && checkpoint resume --remote --list")
def pull(remote: Remote = "origin", json: Json = False, directory: Directory = Path()) -> None:
    """Fetch a remote's checkpoints; they lie apart, under refs/checkpoints-remotes/.

    What was fetched is foreign: no hook shows it to an agent by itself.
    """
    from dataclasses import asdict

    from checkpoint.cli._print import out, out_json
    from checkpoint.store import Store

    done = Store.open(directory.resolve()).pull(remote)
    if json:
        out_json(asdict(done))
    else:
        out(f"{remote}: {len(done.moved)} sessions new or further on" if done.moved
            else f"{remote}: nothing new")  # fmt: skip
