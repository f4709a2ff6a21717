"""`checkpoint diff`: two checkpoints, told apart by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json


@command(
    "checkpoint diff 4f1c 90be",
    "checkpoint diff latest~1                      # to the latest of the same session",
    "checkpoint diff A B --json | jq '.[] | select(.act == \"superseded\")'",
)
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier checkpoint.")],
    after: Annotated[
        str | None,
        typer.Argument(
            metavar="[B]",
            show_default=False,
            help="The later one. Default: the latest of A's session.",
        ),
    ] = None,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Tell two checkpoints apart, fact by fact.

    What is new, superseded, changed, done, dropped, reopened or gone, each with its message.
    """
    from dataclasses import asdict

    from checkpoint.cli._print import note, out, out_json
    from checkpoint.pipeline import checkpoint_state, compare
    from checkpoint.store import Store

    store = Store.open(directory.resolve())
    first = store.find(before)
    second = store.find(after) if after else store.latest(agent=first.agent, session=first.session)
    assert second is not None  # A itself is one of that session
    changes = compare(checkpoint_state(store, first), checkpoint_state(store, second))
    if json:
        out_json([asdict(change) for change in changes])
        return
    note(f"{first.id} ({first.messages:,} messages) -> {second.id} ({second.messages:,} messages)")
    if not changes:
        note("the same")
    act = ""
    for change in changes:
        if change.act != act:
            act = change.act
            out(f"{act}:")
        was = f"  (was {change.was})" if change.was else ""
        mark = f" [#{change.message}]" if change.message >= 0 else ""
        out(f"  {change.kind}: {change.text}{was}{mark}")
