"""`checkpoint prune`: forget old sessions' checkpoints."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@command(
    "checkpoint prune --older-than 90d --dry-run",
    "checkpoint prune --keep 20                 # the 20 newest sessions stay",
    "checkpoint prune --keep 5 --older-than 4w  # of the others, those older than 4 weeks go",
)
def prune(
    keep: Annotated[
        int | None,
        typer.Option("--keep", metavar="N", min=0, help="The newest N sessions stay."),
    ] = None,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE", help="Only what is older goes: 12h, 30d or 8w."
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show which would go.")] = False,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Forget whole sessions of our own, by number or age; neither logs nor remotes are touched."""
    from dataclasses import asdict

    from checkpoint.cli._print import out, out_json
    from checkpoint.store import Store

    gone = Store.open(directory.resolve()).prune(keep, _age(older_than), dry_run)
    if json:
        out_json([asdict(one) for one in gone])
        return
    for one in gone:
        out(f"{one.agent} {one.session}: {one.id}, {one.at:%Y-%m-%d}, {one.messages} messages")
    word = "session" if len(gone) == 1 else "sessions"
    out(f"{len(gone)} {word} {'would be' if dry_run else ''} forgotten".replace("  ", " "))


def _age(text: str) -> timedelta | None:
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no age; write 12h, 30d or 8w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
