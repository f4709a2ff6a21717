"""The state in sections and lines, each with its value and its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checkpoint.render._budget import Section
from checkpoint.render._figures import benchmarks
from checkpoint.render._stale import Stale
from checkpoint.render._text import code, line, marks
from checkpoint.render._work import accomplished, in_progress, next_steps, processes
from checkpoint.state import Evidence, HostFact, Item, State

_PACKAGES = 14
"""So many packages of one host stand on a line."""


def cite(*items: Item) -> str:
    """Return the evidence mark for items: where each was first said, and last."""
    return marks(*(n for item in items for n in (item.first, item.last)))


def age(item: Item, state: State) -> float:
    """Return 0 for what was said last, up to 10 for what was said first."""
    total = max(state.session.messages, 1)
    return 10.0 * (total - 1 - item.last) / total


def sections(state: State) -> list[Section]:
    """Return all sections with all their lines, in the order of the document."""
    stale = Stale(state)
    causes = _causes(state, stale)
    said = {_plain(c.text) for c in state.root_causes} | {_plain(r.text) for r in state.ruled_out}
    said |= {_plain(e.quote) for c in state.root_causes for e in c.results}
    running, ended = processes(state)
    return [
        _goal(state, stale),
        _instructions(state, stale),
        Section("Discoveries"),
        _hardware(state),
        _software(state),
        _settings(state),
        benchmarks(state, stale, said),
        causes,
        _ruled_out(state, stale),
        _decisions(state, stale),
        _findings(state, stale, said),
        _questions(state, stale),
        accomplished(state, stale),
        in_progress(state, stale),
        running,
        next_steps(state, stale),
        _files(state),
        _commands(state),
        _failures(state),
        ended,
        _notes(state),
    ]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).casefold().strip()


def _goal(state: State, stale: Stale) -> Section:
    section = Section("Goal", weight=60, decay=0.93)
    for goal in state.goals:
        text = line(stale.mark(goal.text, goal.last), 420)
        if goal.changed:
            text += f" — earlier wording, changed since: {line(goal.changed)}"
        names = {"overall": "**Overall:** ", "current": "**Now:** ", "replaced": "Dropped: "}
        rank = {"overall": 200.0, "current": 180.0, "replaced": -30.0}.get(goal.status, 0.0)
        section.add(
            f"{names.get(goal.status, 'Asked earlier: ')}{text} {cite(goal)}",
            rank - age(goal, state),
            {"overall": -2.0, "current": -1.0}.get(goal.status, float(goal.first)),
        )
    if not state.goals and state.session.title:
        title = line(state.session.title, 200)
        section.add(f"{title} (the session's title; no person's words name a goal)", 200.0)
    if len(state.goals) == 1 and section.lines:
        section.lines[0].text = section.lines[0].text.replace("**Overall:** ", "", 1)
    return section


def _instructions(state: State, stale: Stale) -> Section:
    section = Section("Instructions", weight=92, decay=0.975)
    for rule in state.instructions:
        text = line(stale.mark(rule.text, rule.last), 360)
        if rule.status == "active":
            section.add(
                f"{text} {cite(rule)}",
                8.0 * rule.standing + 3.0 * (rule.seen > 1) - age(rule, state),
                rule.first,
            )
        else:
            section.add(
                f"~~{text.replace('~~', '')}~~ ({rule.status}: {line(rule.changed, 200)}) "
                f"{cite(rule)}",
                -55.0,
                rule.first + 0.5,
            )
    return section


def _by_host(facts: Iterable[HostFact]) -> dict[str, dict[str, list[HostFact]]]:
    hosts: dict[str, dict[str, list[HostFact]]] = {}
    for one in facts:
        hosts.setdefault(one.host, {}).setdefault(one.subject, []).append(one)
    return hosts


def _was(item: HostFact) -> str:
    return f" (was {line(item.history[-1].value)})" if item.history else ""


def _hardware(state: State) -> Section:
    section = Section("Hardware", 3, weight=84, decay=0.95)
    for host, subjects in _by_host(state.hardware).items():
        for subject, facts in subjects.items():
            values = ", ".join(f"{line(f.attribute)} {line(f.value)}{_was(f)}" for f in facts)
            by = {f.attribute: f for f in facts}
            if "model" in by and "count" in by:
                rest = [f for f in facts if f.attribute not in ("model", "count")]
                values = f"{line(by['count'].value)} × {line(by['model'].value)}" + "".join(
                    f", {line(f.attribute)} {line(f.value)}{_was(f)}" for f in rest
                )
            elif len(facts) == 1:
                values = f"{line(facts[0].value)}{_was(facts[0])}"
                if facts[0].attribute not in ("model", "size", "name"):
                    values = f"{line(facts[0].attribute)} {values}"
            main = subject.split()[0] in ("GPU", "CPU", "RAM", "Memory")
            section.add(
                f"{line(host)}: **{line(subject)}** {values} {cite(*facts)}",
                6.0 * main - 0.2 * age(facts[0], state),
            )
    return section


def _software(state: State) -> Section:
    section = Section("Software", 3, weight=82, decay=0.9)
    text = " ".join(
        t.casefold()
        for t in (
            *(g.text for g in state.goals),
            *(f.text for f in state.findings),
            *(c.text for c in state.root_causes),
            *(c.command for c in state.commands),
        )
    )
    for host, subjects in _by_host(state.software).items():
        facts = [f for group in subjects.values() for f in group]
        facts.sort(key=lambda f: (f.subject.casefold() not in text, not f.history, -f.last))
        for at in range(0, len(facts), _PACKAGES):
            group = facts[at : at + _PACKAGES]
            versions = " · ".join(
                f"{line(f.subject)} {line(f.value)}{_was(f)}"
                + (f" {line(f.attribute)}" if f.attribute != "version" else "")
                for f in group
            )
            section.add(f"{line(host)}: {versions} {cite(*group)}", -25.0 * (at > 0))
    return section


def _settings(state: State) -> Section:
    section = Section("Settings", 3, weight=58, decay=0.93)
    groups: dict[tuple[str, int], list[str]] = {}
    items: dict[tuple[str, int], list[Item]] = {}
    for one in state.settings:
        key = (one.host, one.last)
        shown = code(f"{one.name}={one.value}", 200)
        if one.history:
            shown += f" (was {code(one.history[-1].value, 80)})"
        groups.setdefault(key, []).append(shown)
        items.setdefault(key, []).append(one)
    for (host, _), shown_ in groups.items():
        own = items[(host, _)]
        section.add(
            f"{line(host)}: {' '.join(shown_)} {cite(*own)}", -age(own[0], state), own[0].last
        )
    return section


_STATUS = {
    "suspected": "suspected, not confirmed",
    "confirmed": "found",
    "fixed": "fixed",
    "reopened": "not fixed (reopened)",
}


def _causes(state: State, stale: Stale) -> Section:
    section = Section("Root causes", 3, weight=88, decay=0.96)
    for cause in state.root_causes:
        text = line(stale.mark(cause.text, cause.last), 460)
        if cause.fix:
            text += f" **Fix:** {line(stale.mark(cause.fix, cause.last), 260)}"
        text += f" **Status:** {_STATUS[cause.status]}"
        if cause.status == "fixed" and cause.results:
            text += f" (open until #{cause.results[-1].message})"
        text += _results(cause.results, cause.text + cause.fix)
        rank = {"suspected": -35.0, "reopened": 8.0}.get(cause.status, 0.0)
        strong = cause.authority > 2
        section.add(
            f"{text} {cite(cause)}",
            rank + 6.0 * strong - 14.0 * (not strong) - age(cause, state),
            cause.first,
        )
    return section


def _results(results: list[Evidence], known: str) -> str:
    """What the last message with an outcome said of it."""
    told = [e for e in results if _plain(e.quote) not in _plain(known)]
    last = [e.quote for e in told if e.message == told[-1].message]
    return f": {line(' '.join(last), 320)}" if last else ""


def _ruled_out(state: State, stale: Stale) -> Section:
    section = Section("Ruled out", 3, weight=76, decay=0.95)
    for one in state.ruled_out:
        section.add(
            f"{line(stale.mark(one.text, one.last), 380)} {cite(one)}",
            3.0 * one.tried - age(one, state),
            one.first,
        )
    return section


def _decisions(state: State, stale: Stale) -> Section:
    section = Section("Decisions", 3, weight=74, decay=0.94)
    for one in state.decisions:
        if one.status == "superseded":
            continue
        text = line(stale.mark(one.text, one.last), 320)
        if one.history:
            text += f" (replaces, was: {line(one.history[-1].value, 140)})"
        section.add(f"{text} {cite(one)}", 4.0 * bool(one.reason) - age(one, state), one.first)
    return section


def _findings(state: State, stale: Stale, said: set[str]) -> Section:
    section = Section("Findings", 3, weight=56, decay=0.965)
    for one in state.findings:
        if one.figure or one.status != "current" or _plain(one.text) in said:
            continue
        text = line(stale.mark(one.text, one.last), 300)
        if one.quoted:
            text += " (reported by others)"
        section.add(
            f"{text} {cite(one)}",
            2.5 * min(one.weight, 7) + 3.0 * one.verified - 12.0 * one.quoted - age(one, state),
            one.first,
        )
    return section


def _questions(state: State, stale: Stale) -> Section:
    section = Section("Open questions", 3, weight=80, decay=0.85)
    for one in state.questions:
        if one.status == "open":
            section.add(
                f"{line(stale.mark(one.text, one.last), 300)} {cite(one)}",
                -2.0 * age(one, state),
                one.first,
            )
    return section


def _files(state: State) -> Section:
    section = Section("Relevant files", weight=66, decay=0.965)
    for one in state.files:
        host = "" if one.host == "local" else f"{line(one.host)}: "
        counts = [f"{one.edits} edits" if one.edits > 1 else ""]
        detail = ", ".join(p for p in (one.status, *counts) if p)
        if one.source:
            detail += f" from {code(one.source)}"
        rank = {"read": -34.0, "mentioned": -22.0, "deleted": -12.0}.get(one.status, 0.0)
        section.add(
            f"{host}{code(one.path)} — {detail} {cite(one)}",
            rank + min(one.edits, 6) + min(one.reads, 8) - age(one, state),
            one.first,
        )
    return section


def _commands(state: State) -> Section:
    section = Section("Key commands", weight=50, decay=0.92)
    for one in state.commands:
        if one.failed:
            continue
        host = "" if one.host == "local" else f" on {line(one.host)}"
        purpose = f"{line(one.purpose)}: " if one.purpose else ""
        section.add(
            f"{purpose}{code(one.command, 240)}{host} {cite(one)}",
            2.0 * min(one.seen, 5) - 1.5 * age(one, state) - 0.02 * len(one.command),
            one.first,
        )
    return section


def _failures(state: State) -> Section:
    section = Section("Failing commands", weight=58, decay=0.88)
    for one in state.failures:
        if one.status == "open":
            section.add(
                f"{code(one.command, 160)}: {line(one.error, 200)} {cite(one)}",
                -2.5 * age(one, state),
                one.first,
            )
    return section


def _notes(state: State) -> Section:
    section = Section("Notes", weight=95, decay=0.98)
    for one in state.notes:
        topic = f"{line(one.topic)}: " if one.topic else ""
        section.add(f"{topic}{line(one.text, 500)} {cite(one)}", 0.0, one.first)
    return section
