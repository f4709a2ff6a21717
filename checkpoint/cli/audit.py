"""`checkpoint audit`: what the compactions of a session dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Directory, Json


@command(
    "checkpoint audit session.jsonl",
    "checkpoint audit 4a1c --json | jq '.[0].dropped[].text'",
)
def audit(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]",
            show_default=False,
            help="A file, STORE#ID, or an id. Default: the newest session of the directory.",
        ),
    ] = None,
    agent: Agent = None,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Say what each compaction dropped.

    Facts of the state before it that its summary lacks, with the message that shows each.
    """
    from dataclasses import asdict

    from checkpoint.cli._print import out, out_json
    from checkpoint.cli._target import target
    from checkpoint.pipeline.auditing import audit as compared
    from checkpoint.settings import load

    directory = directory.resolve()
    asked = target(session, directory, agent)
    found = list(
        compared(asked.path, settings=load(directory), agent=asked.agent, session=asked.session)
    )
    if json:
        out_json([asdict(one) for one in found])
        return
    for one in found:
        where = (
            f"its summary is message #{one.summary}" if one.summary >= 0 else "no summary is stored"
        )
        out(f"compaction at #{one.message} ({one.trigger or 'unknown'}): {where}")
        out(f"  {one.kept} of {one.known} facts are in it; it lacks:")
        for lost in one.dropped:
            out(f"  {lost.kind}: {lost.text} [#{lost.message}]")
