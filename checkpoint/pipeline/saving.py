"""A session into a committed checkpoint, going on from what the session's last one knows.

A checkpoint's tree holds `checkpoint.md`, `state.json` and, only where it differs, `settled.json`:
the state of what can no longer change, with the cursor from which the next save goes on. Where
something was noted there is `notes.json` too; notes are in the state, not in the settled one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checkpoint import __version__
from checkpoint.errors import CheckpointError, StoreError
from checkpoint.pipeline.notes import NOTES, NoteOrder, kept_with, laid_over
from checkpoint.pipeline.notes import dump as dump_notes
from checkpoint.pipeline.summary import (
    Progress,
    Summary,
    dump,
    load_state,
    pivots,
    redactor,
    summarise,
)
from checkpoint.render import document, render
from checkpoint.settings import Settings
from checkpoint.state import State
from checkpoint.store import Checkpoint, Store
from checkpoint.store.turn import turn

DOCUMENT = "checkpoint.md"
STATE = "state.json"
SETTLED = "settled.json"

_TURN_S = 10.0
"""How long one save of a repository waits for another, so that no note is lost between them."""


@dataclass(frozen=True)
class Saved:
    """What a save did."""

    summary: Summary
    checkpoint: Checkpoint | None
    """None: the last checkpoint already says the same, so nothing was written."""
    text: str
    """The document; "" where nothing was rendered."""


def save(
    path: Path,
    *,
    store: Store,
    settings: Settings,
    agent: str | None = None,
    session: str = "",
    until: int | None = None,
    reason: str = "manual",
    subject: str = "",
    budget: int | None = None,
    template: str = "checkpoint.md.j2",
    whole: bool = False,
    again: bool = False,
    head: str = "",
    notes: Sequence[NoteOrder] = (),
    progress: Progress | None = None,
) -> Saved:
    """Summarise a session and commit it.

    Args:
        path: a session file or a store of sessions.
        store: where to commit.
        settings: what to extract and to keep.
        agent: read it as this agent's; None looks at the content.
        session: which one, in a store of many; "" is the newest.
        until: stop after the message of this number, included.
        reason: why now: "manual", "session-end", ...
        subject: the commit's first line; "" makes one of the state.
        budget: tokens of the document; None is the setting's.
        template: what renders the document.
        whole: read all of the session, even if the last checkpoint could be continued.
        again: commit the same state once more if another code commit is checked out by now.
        head: the code commit of the moment, where a hook saw it; "" is what is checked out now.
        notes: what was noted by hand, to be kept from now on.
        progress: told of each message.

    Raises:
        CheckpointError: a note names nothing of the state.
        ReadError: the session cannot be read.
        RenderError: a template is wrong.
        StoreError: the repository refuses, or a secret would have been kept.
    """

    def former(name: str, known: str) -> State | None:
        return None if whole else _settled(store, name, known)

    summary = summarise(
        path,
        settings=settings,
        agent=agent,
        session=session,
        until=until,
        since=former,
        progress=progress,
    )
    return write(
        summary,
        store=store,
        settings=settings,
        reason=reason,
        subject=subject,
        budget=budget,
        template=template,
        again=again,
        head=head,
        notes=notes,
    )


def save_at_pivots(
    path: Path,
    *,
    store: Store,
    settings: Settings,
    agent: str | None = None,
    session: str = "",
    until: int | None = None,
    subject: str = "",
    budget: int | None = None,
    template: str = "checkpoint.md.j2",
    progress: Progress | None = None,
) -> Iterator[Saved]:
    """Commit the state of a session at each of its pivots and at its end, and yield each.

    A pivot that has its checkpoint already, with the same state, gets no second one. Arguments and
    errors are those of `save`; the session is read once.
    """
    known: dict[int, list[Checkpoint]] | None = None
    ahead = pivots(
        path, settings=settings, agent=agent, session=session, until=until, progress=progress
    )
    for summary in ahead:
        at = summary.state.pivots[-1] if summary.state.pivots else None
        last = summary.state.session.messages - 1
        kind = at.kind if at is not None and at.message == last else "end"
        if known is None:
            known = _by_length(store, summary.state)
        if kind != "end" and any(
            _holds(store, one, summary.state) for one in known.get(last + 1, [])
        ):
            yield Saved(summary, None, "")
            continue
        yield write(
            summary,
            store=store,
            settings=settings,
            reason=f"pivot-{kind}",
            subject=subject,
            budget=budget,
            template=template,
        )


def write(
    summary: Summary,
    *,
    store: Store,
    settings: Settings,
    reason: str,
    subject: str = "",
    budget: int | None = None,
    template: str = "checkpoint.md.j2",
    again: bool = False,
    head: str = "",
    notes: Sequence[NoteOrder] = (),
) -> Saved:
    """Render and commit a summary; see `save` for the arguments.

    Raises:
        CheckpointError: a note names nothing of the state.
        RenderError: a template is wrong.
        StoreError: the repository refuses, or a secret would be kept: then nothing is written.
    """
    rules = redactor(settings)
    fresh = [replace(one, text=rules.text(one.text)) for one in notes]
    with turn(store.repository.common_dir / "objects", _TURN_S):
        kept = kept_with(store, summary.state, fresh)
        state = laid_over(summary.state, kept)
        text = document(state, settings, template=template, budget=budget)
        names = {"state": state, "reason": reason, "subject": subject, "version": __version__}
        message = render("commit.txt.j2", settings, names)
        first, _, body = message.strip().partition("\n")
        files = {DOCUMENT: text, STATE: dump(state)}
        if kept:
            files[NOTES] = dump_notes(kept)
        if summary.has_tail or kept:
            files[SETTLED] = dump(summary.settled)
        told = {DOCUMENT: text, "commit message": message, NOTES: files.get(NOTES, "")}
        _refuse_secrets(told, settings)
        written = store.write(
            agent=state.session.agent,
            session=state.session.id,
            files={name: text.encode() for name, text in files.items()},
            subject=first,
            body=body.strip(),
            reason=reason,
            messages=state.session.messages,
            continues=state.session.parent,
            again=again,
            head=head,
        )
    return Saved(replace(summary, state=state), written, text)


def annotate(
    checkpoint: Checkpoint, notes: Sequence[NoteOrder], *, store: Store, settings: Settings
) -> Saved:
    """Commit notes on top of a session's checkpoint, without reading the session.

    Raises:
        CheckpointError: a note names nothing of the state, or the checkpoint is damaged.
        StoreError: the repository refuses, or a secret would be kept.
    """
    state = checkpoint_state(store, checkpoint)
    settled = _settled(store, checkpoint.agent, checkpoint.session) or state
    summary = Summary(state, settled, 0, continued=True)
    return write(summary, store=store, settings=settings, reason="note", notes=notes)


def checkpoint_state(store: Store, checkpoint: Checkpoint) -> State:
    """Return the state that a checkpoint holds.

    Raises:
        StoreError: the checkpoint holds none.
        CheckpointError: it was written by a newer version, or is damaged.
    """
    text = store.read(checkpoint, STATE).decode("utf-8", "replace")
    return load_state(text, f"checkpoint {checkpoint.id}")


def _by_length(store: Store, state: State) -> dict[int, list[Checkpoint]]:
    """Return the checkpoints of a session by how many messages are in them."""
    found: dict[int, list[Checkpoint]] = {}
    for one in store.list(agent=state.session.agent, session=state.session.id):
        found.setdefault(one.messages, []).append(one)
    return found


def _holds(store: Store, checkpoint: Checkpoint, state: State) -> bool:
    """Say whether a checkpoint holds this very state, whatever was noted on top of it."""
    try:
        name = SETTLED if NOTES in store.files(checkpoint) else STATE
        return store.read(checkpoint, name) == dump(state).encode()
    except StoreError:
        return False


def _settled(store: Store, agent: str, session: str) -> State | None:
    """Return the settled state of this session's last checkpoint, if there is a usable one."""
    last = store.latest(agent, session)
    if last is None:
        return None
    try:
        try:
            text = store.read(last, SETTLED)
        except StoreError:
            text = store.read(last, STATE)
        state = load_state(text.decode("utf-8", "replace"), f"checkpoint {last.id}")
    except CheckpointError:
        return None  # damaged or of another version: the session itself is still there
    return state if state.cursor.kind else None


def _refuse_secrets(texts: dict[str, str], settings: Settings) -> None:
    """Raise if a rule of redaction still matches in what would be committed."""
    rules = redactor(settings)
    for name, text in texts.items():
        spans = list(rules.spans(text))
        if spans:
            raise StoreError(
                f"{name}: nothing was written, because a secret would have been kept "
                f"({len(spans)} found by the rules of redaction); please report this"
            )
