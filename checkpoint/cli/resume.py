"""`checkpoint resume`: the briefing by which the next session goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Which


@command("checkpoint resume --print", 'claude "$(checkpoint resume --print)"')
def resume(
    checkpoint: Which = None,
    show: Annotated[
        bool, typer.Option("--print", help="Write the briefing to standard output.")
    ] = True,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=200, help="How long it may be."),
    ] = None,
    directory: Directory = Path(),
) -> None:
    """Print the briefing for the next session.

    It is made of the latest checkpoint, for any agent.
    """
    from checkpoint.cli._print import note, out
    from checkpoint.cli._stored import stored
    from checkpoint.pipeline import checkpoint_state
    from checkpoint.render import document
    from checkpoint.settings import load

    settings = load(directory.resolve())
    store, found = stored(directory, checkpoint)
    note(f"checkpoint {found.id} of {found.agent}, {found.messages:,} messages")
    state = checkpoint_state(store, found)
    limit = budget or settings.briefing_budget
    if show:
        out(document(state, settings, template="briefing.md.j2", budget=limit))
