"""`checkpoint search`: facts of all checkpoints, by words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json


@command(
    "checkpoint search flash attention",
    'checkpoint search "tok/s" --kind measurement -n 50',
    "checkpoint search deadlock --json | jq '.[].text'",
)
def search(
    query: Annotated[
        list[str], typer.Argument(metavar="WORD...", help="All of them; the last may be cut off.")
    ],
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help='Only these: "root cause", measurement, ...'),
    ] = "",
    number: Annotated[
        int, typer.Option("-n", "--number", metavar="N", min=1, help="How many at most.")
    ] = 20,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Search the facts of all checkpoints of this repository, our own and fetched ones.

    Leaves with 1 if nothing was found.
    """
    from dataclasses import asdict

    from checkpoint import pipeline
    from checkpoint.cli._print import note, out, out_json
    from checkpoint.store import Store

    store = Store.open(directory.resolve())
    hits = pipeline.search(store, " ".join(query), kind=kind, limit=number)
    if json:
        out_json([asdict(hit) for hit in hits])
    for hit in hits if not json else []:
        kept = hit.checkpoint
        origin = f" from {kept.remote}" if kept.remote else ""
        place = f"{kept.id} {kept.agent} {kept.session[:12]}{origin}"
        out(f"{place}  {hit.kind}: {hit.text} [#{hit.message}]")
    if not hits:
        note("nothing was found; `checkpoint log` lists what there is")
        raise typer.Exit(1)
