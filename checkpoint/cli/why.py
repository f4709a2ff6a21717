"""`checkpoint why`: the evidence of a fact, with what was said around it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory, Json, Which

if TYPE_CHECKING:
    from checkpoint.pipeline import Looked
    from checkpoint.state import State

MANY = 8
"""So many facts are shown with their evidence; of more, only the list."""


@command(
    "checkpoint why m3f9a2c1b                 # by id, or its beginning",
    "checkpoint why '#4592'                   # all that cites this message",
    "checkpoint why 'tok/s'                   # all that says so",
)
def why(
    fact: Annotated[
        str, typer.Argument(metavar="FACT", help="An id, its beginning, a mark `#N`, or words.")
    ],
    checkpoint: Which = None,
    reach: Annotated[
        int,
        typer.Option("--around", metavar="N", min=0, max=20, help="Messages before and after."),
    ] = 1,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Show where a fact comes from.

    Its messages, times, quotes and history, and what was said around it while the session is there.
    """
    from checkpoint.cli._print import out, out_json
    from checkpoint.cli._stored import stored
    from checkpoint.pipeline import checkpoint_state, line, lookup

    store, found = stored(directory, checkpoint)
    state = checkpoint_state(store, found)
    things = lookup(state, fact)
    if len(things) > MANY and not json:
        for thing in things:
            out(f"{thing.item.id}  {thing.kind}: {line(thing.item)} [#{thing.item.last}]")
        return
    numbers = [evidence.message for thing in things for evidence in thing.item.evidence]
    said = _around(state, numbers, reach, directory)
    if json:
        out_json([_told(thing, said, reach) for thing in things])
        return
    for thing in things:
        _show(thing, said, reach)


def _around(state: State, numbers: list[int], reach: int, directory: Path) -> dict[int, str]:
    """Return the messages around the evidence; none if the session is gone."""
    from checkpoint.cli._print import note
    from checkpoint.errors import CheckpointError
    from checkpoint.pipeline import neighbours
    from checkpoint.settings import load

    try:
        return neighbours(
            Path(state.session.source),
            settings=load(directory.resolve()),
            around=numbers,
            agent=state.session.agent or None,
            session=state.session.id,
            reach=reach,
        )
    except CheckpointError as error:
        note(f"only the quotes are left, the session is not there any more: {error}")
        return {}


def _near(thing: Looked, said: dict[int, str], reach: int) -> list[int]:
    wanted = {e.message + d for e in thing.item.evidence for d in range(-reach, reach + 1)}
    return sorted(wanted & set(said))


def _told(thing: Looked, said: dict[int, str], reach: int) -> dict[str, Any]:
    from checkpoint.pipeline import line

    return {
        "kind": thing.kind,
        "text": line(thing.item),
        **thing.item.model_dump(mode="json"),
        "around": {str(number): said[number] for number in _near(thing, said, reach)},
    }


def _show(thing: Looked, said: dict[int, str], reach: int) -> None:
    from checkpoint.cli._print import out
    from checkpoint.pipeline import line
    from checkpoint.state import Authority

    item = thing.item
    status = getattr(item, "status", "")
    out(f"{thing.kind} {item.id}{f' ({status})' if status else ''}: {line(item)}")
    source = Authority(item.authority).name.lower()
    out(f"  said by {item.seen} message{'s' if item.seen > 1 else ''}, best source: {source}")
    for past in getattr(item, "history", []):
        out(f"  was {past.value} [#{past.message}], {past.why}")
    for evidence in item.evidence:
        when = f", {evidence.at:%Y-%m-%d %H:%M:%S} UTC" if evidence.at else ""
        out(f"  [#{evidence.message}] {evidence.role}{when}:")
        for one in evidence.quote.splitlines():
            out(f"    > {one}")
    near = _near(thing, said, reach)
    if near:
        out("  around it:")
    for number in near:
        first, *rest = said[number].splitlines() or [""]
        out(f"    #{number} {first}")
        for one in rest:
            out(f"      {one}")
    out("")
