"""`checkpoint extract`: a session file's document or state, printed; nothing is touched."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import (
    Agent,
    AsJson,
    Budget,
    Directory,
    Format,
    Strict,
    Template,
    Until,
)


@command(
    "checkpoint extract session.jsonl",
    "checkpoint extract session.jsonl --until 4503 --budget 2000",
    "checkpoint extract session.jsonl --format json | jq .measurements",
    "checkpoint extract opencode.db#ses_4a1c",
    "opencode export ses_4a1c | checkpoint extract -",
)
def extract(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A session file, a store with `#ID` after it, or `-` for standard input.",
        ),
    ],
    agent: Agent = None,
    until: Until = None,
    budget: Budget = None,
    template: Template = "checkpoint.md.j2",
    form: Format = "md",
    json: AsJson = False,
    strict: Strict = False,
    directory: Directory = Path(),
) -> None:
    """Print the summary of a session file.

    Nothing is kept: neither in git nor beside the file.
    """
    from checkpoint.cli._print import Progress, out, out_json_text
    from checkpoint.cli._problems import report
    from checkpoint.cli._target import at_path
    from checkpoint.pipeline import dump, summarise
    from checkpoint.render import document
    from checkpoint.settings import load

    settings = load(directory.resolve())
    with _file(file) as name, Progress() as progress:
        found = at_path(name, directory, agent)
        summary = summarise(
            found.path,
            settings=settings,
            agent=found.agent,
            session=found.session,
            until=until,
            source="-" if file == "-" else "",
            progress=progress,
        )
    if form == "json" or json:
        out_json_text(dump(summary.state))
    else:
        out(document(summary.state, settings, template=template, budget=budget))
    report(summary.state, strict)


@contextmanager
def _file(name: str) -> Iterator[str]:
    """Give the name of a file to read; standard input is spooled, for readers look twice."""
    if name != "-":
        yield name
        return
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as folder:
        spool = Path(folder) / "stdin"
        with spool.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(spool)
