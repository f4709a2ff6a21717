"""What people say: goals, instructions, answers, and the request that is still open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checkpoint.fold._book import affirm, evidence, name
from checkpoint.fold._similar import coverage, same, shared, words
from checkpoint.model import Message
from checkpoint.state import Fact, Goal, Instruction

if TYPE_CHECKING:
    from checkpoint.fold import Fold

SHORT = 60
"""Leave that names nothing of a rule is meant for the latest one if it is as short as this."""

CLOSING = frozenset({"attempt_completion", "finish", "submit", "plan_mode_respond"})
"""Tools by which agents hand their answer over."""


def said(fold: Fold, fact: Fact) -> None:
    """A person spoke: answers what was asked, sets or changes the goal, opens a request."""
    fields, working = fact.fields, fold.state.working
    answered = _answer(fold, fact)
    working.last_person = fact.message
    if fields["acknowledgement"] or fields["where"] != "message":
        return
    if fields.get("pasted") or not fields["goal"]:
        working.request, working.request_text = evidence(fact), fields["text"]
        return
    short_answer = answered and not fields.get("named") and len(fields["text"]) < 120
    if short_answer:
        return
    working.request, working.request_text = evidence(fact), fields["text"]
    working.asks_why = bool(fields.get("why"))
    _goal(fold, fact)


def _answer(fold: Fold, fact: Fact) -> bool:
    """Close the questions that the agent's last words asked; whether there were any."""
    working = fold.state.working
    closed = False
    for key in working.questions:
        question = fold.questions.get(key)
        if question is not None and question.status == "open":
            question.status = "answered"
            question.answer = fact.fields["text"][:200]
            affirm(question, fact)
            closed = True
    working.questions = []
    return closed


def _goal(fold: Fold, fact: Fact) -> None:
    text = fact.fields["goal"]
    for goal in fold.goals:
        if same(goal.text, text):
            affirm(goal, fact)
            if goal.status == "earlier":
                _lower(fold)
                goal.status = "current"
            return
    if fact.fields["replaced"]:
        for goal in fold.goals:
            goal.status = "replaced"
    _lower(fold)
    first = not any(goal.status == "overall" for goal in fold.goals)
    key = fold.goals.unused(f"{fact.message}")
    fold.goals.add(
        Goal(
            id=name("goal", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            status="overall" if first else "current",
        )
    )


def plan_given(fold: Fold, fact: Fact) -> None:
    """A plan that a person approved earlier is the goal while no person names another."""
    if any(goal.status == "overall" for goal in fold.goals):
        return
    key = fold.goals.unused(f"plan:{fact.message}")
    fold.goals.add(
        Goal(
            id=name("goal", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=f"{'Approved plan' if fact.fields['title'] else 'From an earlier summary'}: "
            + fact.fields["text"],
            status="overall",
        )
    )


def _lower(fold: Fold) -> None:
    for goal in fold.goals:
        if goal.status == "current":
            goal.status = "earlier"


def instruction(fold: Fold, fact: Fact) -> None:
    """A rule: new, said again, or one that lifts an earlier one."""
    text = fact.fields["text"]
    for known in fold.instructions:
        if known.status == "active" and same(known.text, text):
            affirm(known, fact)
            return
    working = fold.state.working
    if fact.fields["lift"]:
        if working.questions:
            return  # leave given once, in answer to a question: the rule itself stays
        _lift(fold, fact)
    key = fold.instructions.unused(" ".join(words(text)) or text)
    fold.instructions.add(
        Instruction(
            id=name("instruction", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            standing=fact.fields["standing"],
        )
    )


def _lift(fold: Fold, fact: Fact) -> None:
    """Lift the active rule that shares most words; of none, the latest standing one."""
    text = fact.fields["text"]
    active = [i for i in fold.instructions if i.status == "active" and i.last < fact.message]
    best = max(active, key=lambda i: (shared(i.text, text), i.standing, i.last), default=None)
    if best is None or (not shared(best.text, text) and not (best.standing and len(text) < SHORT)):
        return
    best.status = "lifted"
    best.changed = text
    for goal in fold.goals:  # a goal may be told in one breath with its rule
        if goal.last < fact.message and coverage(best.text, goal.text) == 1.0:
            goal.changed = text
    affirm(best, fact)


def instead(fold: Fold, fact: Fact) -> None:
    """Mark open work and rules that speak of the old, after a person's "new instead of old"."""
    old, new = fact.fields["old"], fact.fields["new"]
    fold.state.working.replaced.append([old, new, str(fact.message)])
    del fold.state.working.replaced[:-20]
    note = f"{new} instead of {old}"
    for task in (*fold.next_steps, *fold.in_progress):
        if _speaks_of(task.text, old):
            task.changed = note
    for rule in fold.instructions:
        if rule.status == "active" and rule.last < fact.message and _speaks_of(rule.text, old):
            rule.status, rule.changed = "changed", note
            affirm(rule, fact)
    for goal in fold.goals:
        if goal.last < fact.message and _speaks_of(goal.text, old):
            goal.changed = note


def _speaks_of(text: str, old: str) -> bool:
    """Whether the whole of `old` stands in `text`, and is more than a common word."""
    telling = any(c.isdigit() or c in "-_./" for c in old) or len(old) > 6
    return telling and coverage(old, text) == 1.0


def after(fold: Fold, message: Message) -> None:
    """After a message: has the agent answered the person's request?"""
    working = fold.state.working
    if working.request is None or message.number <= working.request.message:
        return
    why = working.asks_why and _only_guessed(fold, message.number)
    ends = all(call.tool in CLOSING for call in message.calls())
    spoke = message.role == "assistant" and ends and len(message.said().strip()) > 1
    if spoke and not message.subagent and message.origin == "agent":
        working.request, working.request_text, working.asks_why = None, "", why


def _only_guessed(fold: Fold, number: int) -> bool:
    """Whether a message answers with a suspicion: "why?" stays open."""
    return any(c.last == number and c.status == "suspected" for c in fold.root_causes)


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "said": said,
    "instruction": instruction,
    "instead": instead,
    "plan_given": plan_given,
}
