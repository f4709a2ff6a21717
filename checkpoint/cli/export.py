"""`checkpoint export`: one checkpoint as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Which


@command("checkpoint export", "checkpoint export 4f1c -o handover.json")
def export(
    checkpoint: Which = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to; default: checkpoint-ID.json."
        ),
    ] = None,
    directory: Directory = Path(),
) -> None:
    """Write one checkpoint into a JSON file, to hand it on without a remote."""
    from checkpoint.cli._print import out
    from checkpoint.cli._stored import stored

    store, found = stored(directory, checkpoint)
    path = output or Path(f"checkpoint-{found.id}.json")
    store.export(found, path)
    out(f"checkpoint {found.id} of {found.agent} {found.session}: {path}")
