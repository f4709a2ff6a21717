"""`checkpoint save`: summarise a session and commit it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from checkpoint.cli._app import command
from checkpoint.cli._options import Agent, Budget, Directory, Json, Session, Strict, Template, Until

if TYPE_CHECKING:
    from checkpoint.cli._target import Target
    from checkpoint.pipeline import Saved


@command(
    "checkpoint save                          # the newest session of this directory",
    "checkpoint save 3f2a                     # the session whose id begins so",
    "checkpoint save rollout.jsonl --until 4503",
    "checkpoint save ~/.local/share/opencode/opencode.db#ses_4a1c",
    "checkpoint save --at-pivots              # one for each compaction, then one for the end",
)
def save(
    session: Session = None,
    agent: Agent = None,
    until: Until = None,
    budget: Budget = None,
    template: Template = "checkpoint.md.j2",
    at_pivots: Annotated[
        bool,
        typer.Option(
            "--at-pivots", help="A checkpoint for each pivot message, then one for the end."
        ),
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", metavar="WORD", help="Why now; kept in the commit.")
    ] = "manual",
    message: Annotated[
        str, typer.Option("--message", "-m", metavar="TEXT", help="First line of the commit.")
    ] = "",
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Read all of it again, even if the last checkpoint could go on."
        ),
    ] = False,
    strict: Strict = False,
    json: Json = False,
    directory: Directory = Path(),
) -> None:
    """Summarise a session and commit it to git.

    The checkpoint goes to refs/checkpoints/AGENT/SESSION of the repository around this directory;
    HEAD, index and work tree stay as they are. Outside of any repository it goes to a store of
    your own. A session that was saved before is read only from where the last checkpoint stopped.
    """
    from checkpoint import pipeline
    from checkpoint.cli._print import Progress
    from checkpoint.cli._target import target
    from checkpoint.settings import load
    from checkpoint.store import Store

    directory = directory.resolve()
    settings = load(directory)
    found = target(session, directory, agent)
    store = Store.open(directory)
    if store.kind == "repository" and not store.writable():
        _ask(directory, found, message, json)
        return
    shared: dict[str, Any] = {
        "store": store,
        "settings": settings,
        "agent": found.agent,
        "session": found.session,
        "until": until,
        "budget": budget,
        "template": template,
        "subject": message,
    }
    done: list[Saved] = []
    with Progress() as progress:
        if at_pivots:
            for saved in pipeline.save_at_pivots(found.path, progress=progress, **shared):
                done.append(saved)
                if not json:
                    _tell(saved)
        else:
            one = pipeline.save(found.path, reason=reason, whole=whole, progress=progress, **shared)
            done.append(one)
    if json:
        _tell_json(done, at_pivots)
    elif not at_pivots:
        _tell(done[0])
    _leave(done[-1], strict)


def _ask(directory: Path, found: Target, subject: str, json: bool) -> None:
    """Leave a request for the next hook, which runs outside of the agent's sandbox.

    Raises:
        StoreError: not even that can be written, or the session is none that a hook would find.
    """
    from checkpoint.cli._print import out, out_json
    from checkpoint.discover import sessions
    from checkpoint.errors import StoreError
    from checkpoint.store import requests

    named = [
        one
        for one in sessions(directory, found.agent)
        if one.path == found.path and found.session in ("", one.session)
    ]
    if not named:
        raise StoreError(
            f"{directory}: the repository cannot be written from here, and a hook saves only "
            "sessions of this repository; save from outside the sandbox"
        )
    one = named[0]
    path = requests.write(directory, agent=one.agent, session=one.session, subject=subject)
    if json:
        out_json({"checkpoint": None, "request": str(path)})
        return
    out(
        "queued: the repository cannot be written from here (a sandbox?); the next hook of an "
        f"agent or of git saves it ({path})"
    )


def _tell(saved: Saved) -> None:
    from checkpoint.cli._print import note, out

    summary = saved.summary
    if summary.fell_back:
        note(f"read the whole session: {summary.fell_back}")
    count = summary.state.session.messages
    if saved.checkpoint is None:
        out(f"nothing new: {count:,} messages, and a checkpoint says the same already")
        return
    new = f", {summary.read:,} of them read now" if summary.continued else ""
    out(f"checkpoint {saved.checkpoint.id}: {count:,} messages{new} -> {saved.checkpoint.ref}")


def _tell_json(done: list[Saved], many: bool) -> None:
    from checkpoint.cli._print import out_json

    told = [
        {
            "checkpoint": saved.checkpoint.id if saved.checkpoint else None,
            "commit": saved.checkpoint.commit if saved.checkpoint else None,
            "ref": saved.checkpoint.ref if saved.checkpoint else None,
            "agent": saved.summary.state.session.agent,
            "session": saved.summary.state.session.id,
            "messages": saved.summary.state.session.messages,
            "read": saved.summary.read,
            "continued": saved.summary.continued,
            "fell_back": saved.summary.fell_back,
            "problems": [p.model_dump() for p in saved.summary.state.problems],
        }
        for saved in done
    ]
    out_json(told if many else told[0])


def _leave(saved: Saved, strict: bool) -> None:
    from checkpoint.cli._problems import report

    report(saved.summary.state, strict)
