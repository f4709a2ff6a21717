"""`checkpoint show`: a checkpoint's document, state or any of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import AsJson, Directory, Format, Which


@command(
    "checkpoint show",
    "checkpoint show 4f1c --format json         # by its id's or its session's beginning",
    "checkpoint show latest~1                   # the one before",
    "checkpoint show --file settled.json",
)
def show(
    checkpoint: Which = None,
    form: Format = "md",
    json: AsJson = False,
    file: Annotated[
        str, typer.Option("--file", metavar="NAME", help="Another file of the checkpoint.")
    ] = "",
    directory: Directory = Path(),
) -> None:
    """Print a checkpoint as it was saved."""
    from checkpoint.cli._print import out, out_json_text
    from checkpoint.cli._stored import stored

    store, found = stored(directory, checkpoint)
    name = file or ("state.json" if json or form == "json" else "checkpoint.md")
    text = store.read(found, name).decode("utf-8", "replace")
    if name.endswith(".json"):
        out_json_text(text)
    else:
        out(text)
