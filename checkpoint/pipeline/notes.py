"""Notes: what a person or the running agent adds to a session's state by hand.

A checkpoint's `notes.json` holds the orders in the order in which they were given. They are laid
over the state each time it is saved, and are no part of what the next save goes on from: so they
survive every later save, a reading from the beginning too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from checkpoint.errors import CheckpointError, StoreError
from checkpoint.pipeline.lines import SECTIONS
from checkpoint.state import (
    QUOTE,
    Authority,
    Decision,
    Evidence,
    Finding,
    Goal,
    Instruction,
    Item,
    Note,
    Question,
    RootCause,
    RuledOut,
    State,
    Task,
)
from checkpoint.store import Store
from checkpoint.store.refs import session_ref

NOTES = "notes.json"
LONGEST = 2_000
"""Of one note, in characters."""
MOST = 500
"""So many orders are kept; the oldest go first."""

Kind = Literal[
    "note",
    "goal",
    "instruction",
    "decision",
    "root-cause",
    "ruled-out",
    "finding",
    "question",
    "next",
    "done",
]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class NoteOrder:
    """One thing that was noted, or what a note does to a thing of the state."""

    action: str
    """"add"; "done" or "drop", which name a thing by its id."""
    text: str
    """The words, or the id."""
    kind: str = "note"
    """One of `KINDS`; of an addition only."""
    by: str = "person"
    """"person", or "agent": who wrote it."""
    message: int = 0
    """How many messages the session had, less one: where it was noted."""
    at: str = ""
    """ISO 8601, UTC."""

    @property
    def id(self) -> str:
        """The short name of what an addition adds; the same words have the same."""
        whole = f"{self.kind}\0{self.text}".encode("utf-8", "replace")
        return f"x{hashlib.sha256(whole).hexdigest()[:8]}"


def orders(store: Store, agent: str, session: str) -> list[NoteOrder]:
    """Return what the session's latest checkpoint keeps of notes; [] if that is none."""
    if not store.exists:
        return []
    ref = session_ref(agent, session)
    answer = store.git.ask("cat-file", "blob", f"{ref}:{NOTES}")
    return parse(answer.out.decode("utf-8", "replace")) if answer.code == 0 else []


def parse(text: str) -> list[NoteOrder]:
    """Return the orders of a `notes.json`; what is none is left out (it may be foreign)."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return []
    listed = given.get("notes") if isinstance(given, dict) else None
    if not isinstance(listed, list):
        return []
    found = [_order(one) for one in listed if isinstance(one, dict)]
    return [one for one in found if one is not None][-MOST:]


def _order(given: dict[str, Any]) -> NoteOrder | None:
    action, kind, by = (str(given.get(key, "")) for key in ("action", "kind", "by"))
    text, message = given.get("text"), given.get("message")
    if action not in ("add", "done", "drop") or not isinstance(text, str) or not text:
        return None
    return NoteOrder(
        action,
        text[:LONGEST],
        kind if kind in KINDS else "note",
        "person" if by == "person" else "agent",
        message if isinstance(message, int) and not isinstance(message, bool) else 0,
        str(given.get("at", ""))[:40],
    )


def dump(kept: Sequence[NoteOrder]) -> str:
    """Return the orders as the text of a `notes.json`."""
    listed = [asdict(one) for one in kept]
    return json.dumps({"version": 1, "notes": listed}, indent=1, ensure_ascii=False) + "\n"


def checked(state: State, given: Sequence[NoteOrder]) -> list[NoteOrder]:
    """Return the orders as they are kept: ids written out, place and time filled in.

    Raises:
        CheckpointError: an order names nothing of this state, or more than one thing.
    """
    last = max(state.session.messages - 1, 0)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    kept = []
    for one in given:
        text = one.text.strip()[:LONGEST]
        if one.action != "add":
            text = _one(state, text)
        elif not text:
            raise CheckpointError("a note needs words")
        kept.append(
            NoteOrder(one.action, text, one.kind, one.by, one.message or last, one.at or now)
        )
    return kept


def _one(state: State, name: str) -> str:
    ids: list[str] = [item.id for section in SECTIONS for item in getattr(state, section)]
    found = [one for one in ids if one == name] or [one for one in ids if one.startswith(name)]
    if not name or not found:
        raise CheckpointError(
            f"nothing in this session's state is called {name!r}; "
            "`checkpoint show --format json` lists the ids"
        )
    if len(set(found)) > 1:
        raise CheckpointError(f"{name!r} may be any of {', '.join(sorted(set(found))[:8])}")
    return found[0]


def laid_over(state: State, kept: Sequence[NoteOrder]) -> State:
    """Return the state with the orders carried out; the given one stays as it is.

    Carrying them out twice is the same as once.
    """
    if not kept:
        return state
    state = state.model_copy(deep=True)
    for one in kept:
        if one.action == "add":
            _add(state, one)
        else:
            _act(state, one)
    return state


def _add(state: State, order: NoteOrder) -> None:
    section, item = _item(order)
    if any(one.id == item.id for name in SECTIONS for one in getattr(state, name)):
        return
    if isinstance(item, Goal):
        for goal in state.goals:
            if goal.status == "current":
                goal.status = "earlier"
    if isinstance(item, Task) and section == "next_steps":
        state.next_steps.insert(sum(one.source == "note" for one in state.next_steps), item)
        return
    getattr(state, section).append(item)


def _item(order: NoteOrder) -> tuple[str, Item]:
    by_person = order.by == "person"
    role = "user" if by_person else "assistant"
    at = None
    if order.at:
        try:
            at = datetime.fromisoformat(order.at)
        except ValueError:
            at = None
    common: dict[str, Any] = {
        "id": order.id,
        "key": f"note:{order.id}",
        "evidence": [
            Evidence(message=order.message, id="note", role=role, at=at, quote=order.text[:QUOTE])
        ],
        "authority": int(Authority.PERSON if by_person else Authority.TEXT),
    }
    text = order.text
    if not by_person and order.kind in ("goal", "instruction"):
        # only a person has goals and gives instructions
        return "notes", Note(**common, text=text, topic=order.kind)
    match order.kind:
        case "goal":
            return "goals", Goal(**common, text=text, status="current")
        case "instruction":
            return "instructions", Instruction(**common, text=text, standing=True)
        case "decision":
            return "decisions", Decision(**common, text=text)
        case "root-cause":
            return "root_causes", RootCause(**common, text=text, status="confirmed")
        case "ruled-out":
            return "ruled_out", RuledOut(**common, text=text)
        case "finding":
            return "findings", Finding(**common, text=text, weight=7, verified=by_person)
        case "question":
            return "questions", Question(**common, text=text)
        case "next":
            return "next_steps", Task(**common, text=text, source="note", order=-1)
        case "done":
            return "accomplished", Task(
                **common, text=text, source="note", status="done", verified=by_person
            )
    return "notes", Note(**common, text=text)


_DONE: dict[str, tuple[str, str]] = {
    "questions": ("status", "answered"),
    "failures": ("status", "resolved"),
    "root_causes": ("status", "fixed"),
    "processes": ("status", "finished"),
    "instructions": ("status", "lifted"),
}


def _act(state: State, order: NoteOrder) -> None:
    """Carry out a "done" or a "drop"; what is no longer there needs neither."""
    for section in SECTIONS:
        listed = getattr(state, section)
        item = next((one for one in listed if one.id == order.text), None)
        if item is None:
            continue
        if isinstance(item, Task):
            _move(state, section, item, order)
        elif order.action == "done" and section in _DONE:
            setattr(item, *_DONE[section])
        else:
            listed.remove(item)
        return


def _move(state: State, section: str, task: Task, order: NoteOrder) -> None:
    done = order.action == "done"
    target = state.accomplished if done else state.dropped
    getattr(state, section).remove(task)
    task.status = "done" if done else "dropped"
    task.verified = task.verified or (done and order.by == "person")
    target.append(task)


def kept_with(store: Store, state: State, given: Sequence[NoteOrder]) -> list[NoteOrder]:
    """Return what the session's next checkpoint keeps: its former orders and the new ones.

    Raises:
        CheckpointError: a new order names nothing of the state.
        StoreError: the repository refuses.
    """
    former = orders(store, state.session.agent, state.session.id)
    if not given:
        return former
    fresh = checked(laid_over(state, former), given)
    if len(former) + len(fresh) > MOST and any(one.action == "add" for one in fresh):
        raise StoreError(
            f"{store.directory}: this session has {len(former)} notes, and {MOST} are kept; "
            "`checkpoint note --drop ID` does not free one, a new session does"
        )
    return [*former, *fresh]
