"""The benchmarks: tables, measurements with what they were before, figures in words."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from checkpoint.render._budget import Section
from checkpoint.render._stale import Stale
from checkpoint.render._text import cell, code, line, marks
from checkpoint.state import Measurement, State, Table

ROWS = 16
"""Longer tables show their last rows."""


def benchmarks(state: State, stale: Stale, said: set[str]) -> Section:
    """Return the section of all figures; a sentence that stands elsewhere is not repeated."""
    section = Section("Benchmarks", 3, weight=80, decay=0.975)
    total = max(state.session.messages, 1)
    for table in state.tables:
        if table.status == "current":
            section.add(
                render_table(table),
                8.0 + 4.0 * table.verified - 8.0 * (total - table.last) / total,
                table.first,
            )
    in_tables = {c for t in state.tables for r in t.rows for c in (r.label, *r.cells)}
    for group in _groups(state.measurements):
        one = group[-1]
        if len(group) > 1:
            seen = all(_shown(m, in_tables) for m in group)
            section.add(
                together(group),
                4.0 - 12.0 * seen - 10.0 * (total - one.last) / total,
                one.last,
            )
        else:
            section.add(
                measurement(one),
                3.0 * bool(one.history)
                - 10.0 * _shown(one, in_tables)
                - 10.0 * (total - one.last) / total,
                one.last,
            )
    for one_ in state.findings:
        if not one_.figure or one_.status == "retracted" or one_.quoted:
            continue
        if re.sub(r"\W+", " ", one_.text).casefold().strip() in said:
            continue
        text = line(stale.mark(one_.text, one_.last), 320)
        unseen = "" if one_.verified else " *(claimed)*"
        section.add(
            f"{text}{unseen} {marks(one_.first, one_.last)}",
            min(one_.weight, 8)
            - 22.0 * stale.outlived(one_.figures, one_.last)
            - 3.0 * (not one_.verified)
            - 9.0 * (total - one_.last) / total,
            one_.last,
        )
    return section


def _shown(one: Measurement, cells: set[str]) -> bool:
    return any(one.value in shown for shown in cells)


def _groups(measurements: list[Measurement]) -> list[list[Measurement]]:
    """Put together what one run of one thing measured; in order of the first figure."""
    groups: dict[tuple[str, str, str, int, bool], list[Measurement]] = {}
    for one in measurements:
        if one.status == "current":
            key = (one.host, one.subject, one.configuration, one.last, one.verified)
            groups.setdefault(key, []).append(one)
    cut: list[list[Measurement]] = []
    for group in groups.values():
        group.sort(key=lambda one: (one.first, _natural(one.metric)))
        cut += [group[at : at + _METRICS] for at in range(0, len(group), _METRICS)]
    return cut


_METRICS = 14
"""So many figures of one run stand on a line."""


def _natural(text: str) -> list[tuple[int, str]]:
    """Order "steps=2" before "steps=10"."""
    pieces = re.split(r"(\d+)", text)
    return [(int(p), "") if p.isdigit() else (0, p.casefold()) for p in pieces]


def together(group: list[Measurement]) -> str:
    """Return one line for all figures of one run."""
    one = group[-1]
    parts = [line(one.subject)]
    if one.configuration:
        parts.append(f"with {code(one.configuration, 120)}")
    if one.host != "local":
        parts.append(f"on {line(one.host)}")
    figures = [f"{line(m.metric)} **{line(m.text)}**{_before(m)}" for m in group]
    tail = " (output was truncated)" if one.partial else ""
    tail += "" if one.verified else " *(claimed)*"
    return f"{' '.join(parts)}: {' · '.join(figures)}{tail} {marks(one.first, one.last)}"


def _before(one: Measurement) -> str:
    """What a figure was before, and how repeated runs spread."""
    before = [past for past in one.history if past.why == "superseded"]
    told = ""
    if before:
        first = before[0]
        told = f" ({change(first.value, one.text)}was {line(first.value)} [#{first.message}]"
        if len(before) > 1:
            last = before[-1]
            told += f", then {line(last.value)} [#{last.message}]"
        told += ")"
    return told + (f" ({line(one.spread)})" if one.spread else "")


def measurement(one: Measurement) -> str:
    """Return the line of a measurement: value, change, history, configuration, host."""
    parts = [f"{line(one.subject)} {line(one.metric)}: **{line(one.text)}**{_before(one)}"]
    if one.configuration:
        parts.append(f"with {code(one.configuration, 120)}")
    if one.host != "local":
        parts.append(f"on {line(one.host)}")
    if one.partial:
        parts.append("(output was truncated)")
    if not one.verified:
        parts.append("*(claimed)*")
    return f"{' '.join(parts)} {marks(one.first, one.last)}"


_VALUE = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


def change(old: str, new: str) -> str:
    """Return "+5.9 %, " for two plain figures of one unit; "" where that cannot be said."""
    one, other = _VALUE.match(old.strip()), _VALUE.match(new.strip())
    if one is None or other is None:
        return ""
    if old[one.end() :].strip() != new[other.end() :].strip():
        return ""
    try:
        before, now = (Decimal(m.group().replace(",", "")) for m in (one, other))
        if not before:
            return ""
        return f"{(now - before) / abs(before) * 100:+.1f} %, "
    except InvalidOperation:
        return ""


def render_table(table: Table) -> str:
    """Return a table as Markdown, its caption and evidence on the line above."""
    width = len(table.columns)
    rows = table.rows[-ROWS:]
    caption = line(table.caption, 160).rstrip(":：") or "Table"
    lines = [
        f"**{caption}**{'' if table.verified else ' *(claimed)*'}"
        f"{'' if table.host == 'local' else f' on {line(table.host)}'} "
        f"{marks(table.first, table.last)}",
        "",
        "| " + " | ".join(cell(c) for c in table.columns) + " |",
        "|" + "---|" * width,
    ]
    for row in rows:
        cells = [row.label, *row.cells][:width]
        cells += [""] * (width - len(cells))
        lines.append("| " + " | ".join(cell(c) for c in cells) + " |")
    if len(table.rows) > ROWS:
        lines.append(f"\n({len(table.rows) - ROWS} earlier rows left out)")
    return "\n".join(lines)
