"""What was not understood: said on standard error, and under `--strict` the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from checkpoint.cli._print import note

if TYPE_CHECKING:
    from checkpoint.state import State

SHOWN = 5


def report(state: State, strict: bool) -> None:
    """Tell of warnings and errors (of notes too under `--strict`); leave with 1 if strict.

    Raises:
        typer.Exit: under `strict`, if there is any warning or error.
    """
    grave = [p for p in state.problems if p.severity != "note"]
    for problem in (grave if not strict else state.problems)[:SHOWN]:
        times = f" ({problem.count} times)" if problem.count > 1 else ""
        note(f"{problem.severity}: {problem.what}{times}; first at {problem.where}")
    if len(grave) > SHOWN:
        note(f"... and {len(grave) - SHOWN} more kinds; `--format json` lists all under `problems`")
    if strict and grave:
        raise typer.Exit(1)
