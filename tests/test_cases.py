"""Small sessions in eight languages: what the document must, and must not, hold of each.

Each case of `fixtures/cases/*.yaml` is an example of a kind of behaviour (a rule in passing, a fix
that did not hold, a list of steps that shrinks, ...); the kinds are what the rules are for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from checkpoint.extractors import extract
from checkpoint.fold import Fold
from checkpoint.model import Change, Message, Part, Text, ToolCall
from checkpoint.render import document
from checkpoint.settings import shipped

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
CASES = [
    pytest.param(case, id=f"{path.stem}-{case['id']}")
    for path in sorted((Path(__file__).parent / "fixtures" / "cases").glob("*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]
PAST = re.compile(r"~~|\bwas\b|superseded|retracted|lifted|earlier wording|answered", re.IGNORECASE)


def part(kind: str, given: Any) -> Part:
    """The part of a message that a case writes short."""
    if kind in ("user", "assistant"):
        return Text(given)
    if kind == "edit":
        change = Change(given["path"], "edited", given["old"], given["new"])
        return ToolCall("edit", "edit", given["path"], changes=(change,))
    if kind == "fetch":
        return ToolCall("webfetch", "fetch", given["url"], output=given["output"])
    if kind == "asked":
        return ToolCall("question", "other", given["question"], person=given["person"])
    assert kind in ("bash", "refused"), kind
    return ToolCall(
        "bash",
        "shell",
        given["command"],
        output=given.get("output", ""),
        failed=given.get("error", False),
        person=given.get("person", ""),
        refused=kind == "refused",
    )


def rendered(case: dict[str, Any]) -> str:
    """The document of a case's messages."""
    fold = Fold(shipped())
    for number, short in enumerate(case["messages"]):
        ((kind, given),) = short.items()
        by_person = kind == "user"
        message = Message(
            number,
            "user" if by_person else "assistant",
            [part(kind, given)],
            "person" if by_person else "agent",
            id=f"m{number}",
            at=START + timedelta(minutes=number),
        )
        fold.add(message, extract(message, shipped()))
    return document(fold.state, shipped())


def lines(text: str) -> Iterator[tuple[str, str]]:
    """Each line of a document with the headings above it; the title is none."""
    above: dict[int, str] = {}
    for line in text.splitlines():
        mark = re.match(r"(#{2,6}) (.*)", line)
        if mark:
            level = len(mark[1])
            above = {k: v for k, v in above.items() if k < level} | {level: mark[2]}
        elif line.strip() and not line.startswith("# "):
            yield " > ".join(above.values()), line


def matching(wanted: dict[str, Any], text: str) -> list[str]:
    """The lines that match all patterns, under the heading that is asked for."""
    return [
        line
        for heading, line in lines(text)
        if re.search(wanted.get("under", ""), heading, re.IGNORECASE)
        and all(re.search(p, f"{heading}\n{line}", re.IGNORECASE) for p in wanted["all"])
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_document_holds_what_it_must(case: dict[str, Any]) -> None:
    text = rendered(case)
    missing = [w for w in case["holds"] if not matching(w, text)]
    current = [
        line
        for unwanted in case.get("gone", ())
        for line in matching(unwanted, text)
        if not PAST.search(line)
    ]
    forbidden = [line for unwanted in case.get("never", ()) for line in matching(unwanted, text)]
    assert (missing, current, forbidden) == ([], [], []), text
