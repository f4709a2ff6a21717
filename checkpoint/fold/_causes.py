"""Causes: suspected, confirmed, fixed, reopened, refuted; and what did not help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checkpoint.fold._book import affirm, evidence, name
from checkpoint.fold._similar import coverage, negated, same, shared, words
from checkpoint.state import Authority, Fact, RootCause, RuledOut

if TYPE_CHECKING:
    from checkpoint.fold import Fold

RECENT = 400
"""A cause older than so many messages is not what "it" refers to."""


def cause(fold: Fold, fact: Fact) -> None:
    """A cause was named: new, said again, or a suspicion confirmed."""
    text: str = fact.fields["text"]
    suspected = fact.modality == "hedged"
    known = _known(fold, text)
    before = fold.root_causes.get(fold.state.working.last_cause)
    group = fact.fields.get("group", "")
    if known is None and group and before is not None and _joins(before, fact, group):
        # the items of one list tell one cause
        before.text = f"{before.text} · {text}"
        before.fix = before.fix or fact.fields.get("fix", "")
        affirm(before, fact)
        return
    if known is not None:
        affirm(known, fact)
        if not suspected and known.status == "suspected":
            known.status, known.text = "confirmed", text
        elif len(text) > len(known.text) and not suspected and fact.fields.get("strong"):
            known.text = text
        known.fix = fact.fields.get("fix") or known.fix
    else:
        key = fold.root_causes.unused(" ".join(words(text)[:12]) or text[:80])
        known = fold.root_causes.add(
            RootCause(
                id=name("cause", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority + (1 if fact.fields.get("strong") else 0),
                text=text,
                fix=fact.fields.get("fix", ""),
                status="suspected" if suspected else "confirmed",
                group=group,
            )
        )
    fold.state.working.last_cause = known.key
    if fact.fields.get("strong") and not suspected:
        fold.state.working.asks_why = False


def _joins(before: RootCause, fact: Fact, group: str) -> bool:
    longer = len(before.text) + len(fact.fields["text"])
    return before.last == fact.message and before.group == group and longer < 420


def _known(fold: Fold, text: str) -> RootCause | None:
    for known in fold.root_causes:
        if same(known.text, text, 90.0):
            return known
        suspicion = known.status == "suspected"
        if suspicion and negated(known.text) == negated(text) and coverage(known.text, text) > 0.8:
            return known
    return None


def ruled_out(fold: Fold, fact: Fact) -> None:
    """Something is not the cause, or was tried without effect; a suspicion of it is refuted."""
    text: str = fact.fields["text"]
    for suspect in list(fold.root_causes):
        if suspect.status == "suspected" and shared(suspect.text, text) >= 2:
            fold.root_causes.remove(suspect)
            _add(fold, fact, text)
            return
    for known in fold.ruled_out:
        if same(known.text, text, 90.0):
            affirm(known, fact)
            return
    _add(fold, fact, text)


def _add(fold: Fold, fact: Fact, text: str) -> None:
    key = fold.ruled_out.unused(" ".join(words(text)[:12]) or text[:80])
    fold.ruled_out.add(
        RuledOut(
            id=name("ruled_out", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            tried=bool(fact.fields.get("tried")),
        )
    )


def outcome(fold: Fold, fact: Fact) -> None:
    """What came of a fix: it holds, or the cause is open again."""
    text: str = fact.fields["text"]
    target = _meant(fold, fact, text)
    if target is None or (fact.authority == Authority.PERSON and target.status != "fixed"):
        return  # a person's "still broken" reopens what was said to be fixed, and no more
    target.results.append(evidence(fact))
    del target.results[:-4]
    affirm(target, fact)
    if fact.fields["good"]:
        target.status = "fixed"
        if not target.fix and not same(text, target.text):
            target.fix = text
    else:
        target.status = "reopened"


def _meant(fold: Fold, fact: Fact, text: str) -> RootCause | None:
    """The cause that shares most words; without any, the last one that was spoken of."""
    best, score = None, 1
    for known in fold.root_causes:
        if known.first > fact.message:
            continue
        common = shared(f"{known.text} {known.fix}", text)
        if common >= 2 and (common, known.last) > (score, best.last if best else -1):
            best, score = known, common
    if best is not None:
        return best
    last = fold.root_causes.get(fold.state.working.last_cause)
    if last is not None and fact.message - last.last <= RECENT:
        return last
    return None


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {"cause": cause, "ruled_out": ruled_out, "outcome": outcome}
