"""The options that several commands share, each with its one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def _agents(incomplete: str) -> list[str]:
    """Return the readers whose name begins with what was typed, for the shell."""
    from checkpoint.readers import readers

    return [name for name in readers() if name.startswith(incomplete)]


def _checkpoints(incomplete: str) -> list[str]:
    """Return the ids of this directory's checkpoints, for the shell."""
    from checkpoint.errors import CheckpointError
    from checkpoint.store import Store

    try:
        found = Store.open(Path.cwd()).list()
    except CheckpointError:
        return []
    return [one.id for one in found if one.id.startswith(incomplete)]


Directory = Annotated[
    Path,
    typer.Option("-C", "--directory", metavar="DIR", help="Work as if started in this directory."),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Whose session it is (see `checkpoint readers`).",
        autocompletion=_agents,
    ),
]
Until = Annotated[
    int | None,
    typer.Option(
        "--until", metavar="N", min=0, help="Stop after message number N (the first is 0)."
    ),
]
Budget = Annotated[
    int | None,
    typer.Option("--budget", metavar="TOKENS", min=200, help="How long the document may be."),
]
Template = Annotated[
    str,
    typer.Option(
        "--template", metavar="NAME", help="Template of the document: its name, or a file *.j2."
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with 1 if anything of the session was not understood."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Session = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]",
        show_default=False,
        help="A session file, a store with `#ID` after it, or a session's id or its beginning. "
        "Default: the newest session of this directory.",
    ),
]
Which = Annotated[
    str | None,
    typer.Argument(
        metavar="[CHECKPOINT]",
        show_default=False,
        help="A checkpoint's or session's id or its beginning; `~1` after it: the one before. "
        "Default: the latest of this repository.",
        autocompletion=_checkpoints,
    ),
]
Format = Annotated[
    Literal["md", "json"], typer.Option("--format", help="The document, or the whole state.")
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
