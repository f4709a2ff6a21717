"""`checkpoint import`: take in a checkpoint that came as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory


@command("checkpoint import handover.json", name="import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `checkpoint export` wrote.")],
    directory: Directory = Path(),
) -> None:
    """Take in a checkpoint that `export` wrote, as a foreign one; twice is the same as once."""
    from checkpoint.cli._print import out
    from checkpoint.store import Store

    found = Store.open(directory.resolve()).import_(file)
    out(f"checkpoint {found.id} of {found.agent} {found.session} -> {found.ref}")
