"""Figures: measurements, tables and figures in words; superseded, retracted, verified.

A later value of the same key supersedes the earlier one. What no longer holds is remembered with
what holds instead (`Working.stale`), so that no sentence can give an old figure as current.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from checkpoint.fold._book import affirm, evidence, name
from checkpoint.fold._similar import same, words
from checkpoint.state import Authority, Fact, Finding, Measurement, Past, Row, Table

if TYPE_CHECKING:
    from checkpoint.fold import Fold

REMEMBERED = 1_500
"""So many figures are remembered as affirmed, stale or printed; the oldest go first."""

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+,\d+|(?<![\w.])\d[\d,]*(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[\d.]+,(?:\d{1,2}|\d{4,})$|\d{1,3}(?:\.\d{3})+,\d+$")
"""A comma before three digits groups them, any other is a decimal comma."""


def number(text: str) -> str:
    """Return the digits of a figure, plain.

    "9,412,000 tok/s" -> "9412000", "82.50" -> "82.5", "1.240,5 ms" -> "1240.5".
    """
    match = _NUMBER.search(text)
    return _plain(match.group().rstrip(",")) if match else ""


def _plain(digits: str) -> str:
    if _DECIMAL_COMMA.match(digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", "")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def telling(value: str) -> bool:
    """Whether a number says enough to be recognised alone: three digits or more."""
    return len(value.replace(".", "").lstrip("0")) >= 3


def _remember(memory: dict[str, int], key: str, message: int) -> None:
    memory.pop(key, None)
    memory[key] = message
    while len(memory) > REMEMBERED:
        del memory[next(iter(memory))]


def hold(fold: Fold, values: Iterable[str], message: int) -> None:
    """These figures were given as holding."""
    working = fold.state.working
    for value in values:
        digits = number(value)
        if not telling(digits):
            continue
        _remember(working.affirmed, digits, message)
        if digits in working.stale and int(working.stale[digits][0]) < message:
            del working.stale[digits]


def outdate(fold: Fold, old: str, now: str, message: int) -> None:
    """`old` no longer holds; `now` does, or "" after a retraction."""
    working = fold.state.working
    digits = number(old)
    if not telling(digits) or digits == number(now):
        return
    if now and working.affirmed.get(digits, -1) >= message:
        return  # the same message still compares with it
    working.stale[digits] = [str(message), now]
    start = digits[:-1]
    longer = [k for k in working.affirmed if k.startswith(start) and len(k) > len(digits)]
    for exact in [k for k in longer if "." in k and _rounds(digits, k)]:
        if working.affirmed[exact] < message:
            working.stale[exact] = [str(message), now]
    while len(working.stale) > REMEMBERED:
        del working.stale[next(iter(working.stale))]


def _rounds(stated: str, exact: str) -> bool:
    """Whether `exact` is the same figure with more digits."""
    return len(exact) > len(stated) and exact[0] == stated[0] and _close(stated, exact)


def printed(fold: Fold, fact: Fact) -> None:
    """A tool printed these numbers."""
    for value in fact.fields["numbers"]:
        _remember(fold.state.working.printed, value, fact.message)


def _close(stated: str, exact: str) -> bool:
    """Whether `stated` is `exact`, or `exact` rounded to the digits of `stated`."""
    try:
        one, other = Decimal(stated), Decimal(exact)
    except InvalidOperation:
        return False
    exponent = one.as_tuple().exponent
    half = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) / 2
    return abs(one - other) <= half


def verified(fold: Fold, value: str) -> bool:
    """Whether a tool printed this number, or one that rounds to it."""
    digits = number(value)
    if digits in fold.state.working.printed:
        return True
    if not telling(digits) or digits.count(".") > 1:
        return False
    stated = float(digits)
    half = 0.5 * 10 ** -len(digits.partition(".")[2]) + 1e-12
    return any(
        abs(float(known) - stated) <= half
        for known in fold.state.working.printed
        if known.count(".") < 2
    )


def measurement(fold: Fold, fact: Fact) -> None:
    """A figure that a tool printed, under its key."""
    fields = fact.fields
    if fact.modality != "stated" or fields.get("failed"):
        return
    host = fields.get("host") or "local"
    subject, metric = fields["subject"], fields["metric"]
    configuration = fields.get("configuration", "")
    key = "/".join((host, subject.casefold(), metric.casefold(), configuration))
    text = fields.get("text") or f"{fields['value']} {fields.get('unit', '')}".strip()
    known = fold.measurements.get(key)
    if known is None:
        fold.measurements.add(
            Measurement(
                id=name("measurement", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                subject=subject,
                metric=metric,
                value=fields["value"],
                unit=fields.get("unit", ""),
                text=text,
                configuration=configuration,
                host=host,
                verified=fact.authority >= Authority.OUTPUT,
                partial=bool(fields.get("partial")),
                spread=fields.get("spread", ""),
            )
        )
    else:
        if known.value != fields["value"] or known.status == "retracted":
            why = "retracted" if known.status == "retracted" else "superseded"
            known.history.append(Past(value=known.text, message=known.last, why=why))
            if len(known.history) > 6:
                del known.history[1]  # the first is the baseline, the rest the latest
            outdate(fold, known.text, text, fact.message)
        known.value, known.text, known.unit = fields["value"], text, fields.get("unit", "")
        known.spread, known.status = fields.get("spread", ""), "current"
        known.partial = bool(fields.get("partial"))
        affirm(known, fact)
    hold(fold, [text], fact.message)


def figure(fold: Fold, fact: Fact) -> None:
    """A sentence of the agent that states figures."""
    fields, text = fact.fields, fact.fields["text"]
    if fact.modality in ("planned", "target", "hedged"):
        return
    quoted = fact.modality == "quoted"
    values: list[str] = fields["figures"]
    if not quoted:
        for old, now in fields.get("old", []):
            outdate(fold, old, now, fact.message)
        replaced = {number(old) for old, _ in fields.get("old", [])}
        hold(fold, [v for v in values if number(v) not in replaced], fact.message)
    known = next((f for f in fold.findings if same(f.text, text, 94.0)), None)
    if known is not None:
        affirm(known, fact)
        return
    key = fold.findings.unused(" ".join(words(text)[:14]) or text[:80])
    fold.findings.add(
        Finding(
            id=name("finding", key),
            key=key,
            evidence=[evidence(fact)],
            authority=fact.authority,
            text=text,
            figures=values,
            figure=bool(fields.get("measured")),
            weight=fields.get("score", 0),
            verified=not quoted and all(verified(fold, v) for v in values),
            quoted=quoted,
        )
    )


def retraction(fold: Fold, fact: Fact) -> None:
    """A figure was taken back: what gave it no longer counts."""
    text = fact.fields["text"]
    stated = [_plain(n.rstrip(",")) for n in _NUMBER.findall(text)]
    stated = [n for n in stated if telling(n) or "." in n]
    scaled = [*stated, *_scaled(text)]
    for known in fold.measurements:
        if any(_close(s, number(known.value) or known.value) for s in scaled):
            known.status = "retracted"
            outdate(fold, known.text, "", fact.message)
            affirm(known, fact)
    for said in fold.findings:
        if said.last < fact.message and _states(said, stated, scaled):
            said.status = "retracted"
            for value in said.figures:
                if number(value) in stated:
                    outdate(fold, value, "", fact.message)
    for table in fold.tables:
        if table.last < fact.message and _names(text, table):
            table.status = "retracted"


def _states(said: Finding, stated: list[str], scaled: list[str]) -> bool:
    """Whether a finding gives one of these numbers, with a unit that we know or without.

    `scaled` are figures such as 18.4k: they stand for what rounds to them, "18,400".
    """
    given = {number(v) for v in said.figures} | {_plain(n) for n in _NUMBER.findall(said.text)}
    if any(value in given for value in stated):
        return True
    rounded = [s for s in scaled if s not in stated]
    return any(_close(s, value) for s in rounded for value in given if value)


_SCALE = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "b": 1_000_000_000}
_SCALED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([kKmMgGB])\b")


def _scaled(text: str) -> list[str]:
    """Return figures such as 9.4M as numbers that keep their precision: "9.4E+6"."""
    return [
        str(Decimal(value).scaleb(len(str(_SCALE[unit.lower()])) - 1))
        for value, unit in _SCALED.findall(text)
    ]


def _names(text: str, table: Table) -> bool:
    caption = words(table.caption)
    return len(caption) >= 2 and "tabl" in words(text) and set(caption) <= set(words(text))


def table(fold: Fold, fact: Fact) -> None:
    """A table of figures: a longer or later print updates it cell by cell."""
    fields = fact.fields
    columns: list[str] = fields["columns"]
    rows: list[list[str]] = fields["rows"]
    known = _same_table(fold, columns, rows, fields.get("host") or "local")
    cells = [cell for row in rows for cell in row[1:]]
    shown = fact.authority >= Authority.OUTPUT or _mostly_printed(fold, cells)
    if known is None:
        base = "|".join(c.casefold() for c in columns)
        key = fold.tables.unused(base)
        known = fold.tables.add(
            Table(
                id=name("table", key),
                key=key,
                evidence=[evidence(fact)],
                authority=fact.authority,
                caption=fields.get("caption", ""),
                columns=columns,
                rows=[Row(label=r[0], cells=r[1:], message=fact.message) for r in rows],
                host=fields.get("host") or "local",
                verified=shown,
            )
        )
    else:
        affirm(known, fact)
        known.caption = fields.get("caption", "") or known.caption
        known.columns, known.verified, known.status = columns, shown, "current"
        for row in rows:
            _update(fold, known, row, fact.message)
    hold(fold, cells, fact.message)


def _mostly_printed(fold: Fold, cells: list[str]) -> bool:
    figures = [c for c in cells if telling(number(c))]
    return bool(figures) and sum(verified(fold, c) for c in figures) * 3 >= len(figures) * 2


def _label(text: str) -> str:
    return re.sub(r"[*`\s]+", " ", text).strip().casefold()


def _same_table(fold: Fold, columns: list[str], rows: list[list[str]], host: str) -> Table | None:
    wanted = [_label(c) for c in columns]
    labels = {_label(row[0]) for row in rows}
    for known in reversed(fold.tables.items):
        if known.host != host or [_label(c) for c in known.columns] != wanted:
            continue
        if labels & {_label(row.label) for row in known.rows}:
            return known
    return None


def _update(fold: Fold, known: Table, row: list[str], message: int) -> None:
    for own in known.rows:
        if _label(own.label) == _label(row[0]):
            if own.cells != row[1:]:
                for old, new in zip(own.cells, row[1:], strict=False):
                    if old != new:
                        outdate(fold, old, new, message)
                own.history.append(Past(value=" | ".join(own.cells), message=own.message))
                del own.history[:-3]
                own.cells = row[1:]
            own.message = message
            return
    known.rows.append(Row(label=row[0], cells=row[1:], message=message))
    if len(known.rows) > 60:
        del known.rows[0]


Act = Callable[["Fold", Fact], None]
ACTS: dict[str, Act] = {
    "printed": printed,
    "measurement": measurement,
    "figure": figure,
    "retraction": retraction,
    "table": table,
}
