"""`checkpoint doctor`: whether the hooks would run, what they did last, what failed and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json


@command("checkpoint doctor", "checkpoint doctor --json")
def doctor(
    number: Annotated[
        int, typer.Option("-n", "--number", metavar="N", min=0, help="How many last runs.")
    ] = 8,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Check that each installed hook would run; show the last runs, the failures and why.

    Leaves with 1 if something is to be mended.
    """
    from dataclasses import asdict

    from checkpoint.cli._print import note, out, out_json
    from checkpoint.discover import repository
    from checkpoint.hooks.health import examine, last_runs

    real = directory.resolve()
    found = list(examine(real, Path(repository(str(real))[0] or real)))
    runs = last_runs(number) if number else []
    if json:
        out_json({"findings": [asdict(one) for one in found], "runs": runs})
    else:
        for one in found:
            out(f"{'ok ' if one.good else '!! '} {one.text}")
        if runs:
            out("\nLast runs:")
        for line in runs:
            out(f"  {line}")
    bad = sum(not one.good for one in found)
    if bad:
        note(f"{bad} to be mended" if bad > 1 else "one thing to be mended")
        raise typer.Exit(1)
