"""What else the agent's words hold: decisions, findings, questions, its last words, notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checkpoint.fold import _causes
from checkpoint.fold._book import affirm, evidence, name
from checkpoint.fold._similar import coverage, same, shared, words
from checkpoint.state import Decision, Fact, Finding, Note, Past, Question

if TYPE_CHECKING:
    from checkpoint.fold import Fold


def decision(fold: Fold, fact: Fact) -> None:
    """Something was chosen; a change names what it replaces, or speaks of the same things."""
    text: str = fact.fields["text"]
    for known in fold.decisions:
        if same(known.text, text, 90.0):
            affirm(known, fact)
            return
    history: list[Past] = []
    if fact.fields.get("changed"):
        for known in fold.decisions:
            leaves = fact.fields.get("leaves", "")
            if known.status == "current" and _replaces(leaves, text, known.text):
                known.status = "superseded"
                history.append(Past(value=known.text, message=known.last))
    key = fold.decisions.unused(" ".join(words(text)[:12]) or text[:80])
    fold.decisions.add(
        Decision(
            id=name("decision", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            reason=fact.fields.get("reason", ""),
            history=history[-3:],
        )
    )


def _replaces(leaves: str, text: str, known: str) -> bool:
    """Whether a decision names an earlier one as what it leaves.

    Or speaks of just the same things.
    """
    if words(leaves) and coverage(leaves, known) >= 0.99:
        return True
    return shared(known, text) >= 4 and coverage(known, text) >= 0.5


def finding(fold: Fold, fact: Fact) -> None:
    """Something was learned; of an answer to "why?" the first statement is the cause."""
    text: str = fact.fields["text"]
    if fold.state.working.asks_why and fact.fields.get("final") and fact.modality == "stated":
        fold.state.working.asks_why = False
        fact.fields["fix"], fact.fields["strong"] = "", True
        _causes.cause(fold, fact)
        return
    for known in fold.findings:
        if same(known.text, text, 92.0):
            affirm(known, fact)
            known.weight = max(known.weight, fact.fields.get("score", 0))
            return
    key = fold.findings.unused(" ".join(words(text)[:14]) or text[:80])
    fold.findings.add(
        Finding(
            id=name("finding", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            weight=fact.fields.get("score", 0),
            quoted=fact.modality == "quoted",
        )
    )


def question(fold: Fold, fact: Fact) -> None:
    """The agent asked a person, or named what is not known."""
    text: str = fact.fields["text"]
    known = next((q for q in fold.questions if same(q.text, text, 92.0)), None)
    if known is None:
        key = fold.questions.unused(" ".join(words(text)[:12]) or text[:80])
        known = fold.questions.add(
            Question(
                id=name("question", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                text=text,
            )
        )
    else:
        affirm(known, fact)
        known.status, known.answer = "open", ""
    working = fold.state.working
    if fact.fields.get("to_person"):
        working.questions = [k for k in working.questions if _asked_in(fold, k, fact.message)]
        working.questions.append(known.key)


def _asked_in(fold: Fold, key: str, message: int) -> bool:
    known = fold.questions.get(key)
    return known is not None and known.last == message


def last_words(fold: Fold, fact: Fact) -> None:
    """Where the agent stood."""
    fold.state.last_words = evidence(fact)


def note(fold: Fold, fact: Fact) -> None:
    """A person or the running agent added a fact by hand."""
    key = fact.key
    if any(n.key == key for n in fold.state.notes):
        return
    fold.state.notes.append(
        Note(
            id=name("note", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=fact.fields["text"],
            topic=fact.fields.get("topic", ""),
        )
    )


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "decision": decision,
    "finding": finding,
    "question": question,
    "last_words": last_words,
    "note": note,
}
