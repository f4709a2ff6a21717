"""Prose: blocks, sentences, cue words; every piece stands verbatim in its text."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoint.extractors import _cues
from checkpoint.extractors._prose import blocks, plain, sentences, uncoded
from checkpoint.resources import folder
from checkpoint.settings import shipped


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "```\nroot cause: cosmic rays\n```",
        "~~~py\nnext steps:\n- rewrite\n~~~",
        "---",
        "    indented = code()",
        "Traceback (most recent call last):",
        "```\nnever closed\nroot cause: x",
    ],
)
def test_no_prose(text: str) -> None:
    assert [b for b in blocks(text) if b.kind in ("paragraph", "item")] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\n\nTwo.", [("paragraph", "One."), ("paragraph", "Two.")]),
        ("# Head\ntext", [("heading", "Head"), ("paragraph", "text")]),
        ("**Bold head:**\ntext", [("heading", "Bold head"), ("paragraph", "text")]),
        ("- a\n- b\n  - c", [("item", "a"), ("item", "b"), ("item", "c")]),
        ("1. a\n   goes on\n2. b", [("item", "a\n   goes on"), ("item", "b")]),
        ("> quoted\nown", [("quote", "> quoted"), ("paragraph", "own")]),
        ("before\n```\ncode\n```\nafter", [("paragraph", "before"), ("paragraph", "after")]),
        ("| a | b |", [("table", "| a | b |")]),
    ],
)
def test_blocks(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(b.kind, b.text) for b in blocks(text)] == expected


def test_items_know_their_lead_heading_number_depth_and_box() -> None:
    text = "## Plan\nNext steps:\n1. build\n   - sub\n2. [x] sign\n"
    items = [b for b in blocks(text) if b.kind == "item"]
    assert [(b.lead, b.heading, b.number, b.depth, b.checked) for b in items] == [
        ("Next steps:", "Plan", 1, 0, ""),
        ("Next steps:", "Plan", 0, 1, ""),
        ("Next steps:", "Plan", 2, 0, "x"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3.5 ms, e.g. fast. Then more.", ["It is 3.5 ms, e.g. fast.", "Then more."]),
        ("Run `a. B` now. Done.", ["Run `a. B` now.", "Done."]),
        ("原因找到了。已修复。", ["原因找到了。", "已修复。"]),
        ("pls fix. also never do that", ["pls fix.", "also never do that"]),
        ("v1.2.3 works", ["v1.2.3 works"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@given(st.text(alphabet=st.sampled_from("aB1.!?\n `*#->|~:。"), max_size=300))
def test_pieces_stand_verbatim_in_the_text(text: str) -> None:
    for block in blocks(text):
        assert block.kind == "heading" or block.text in text
        for sentence in sentences(block.text):
            assert sentence in text
            assert len(uncoded(sentence)) == len(sentence)
            assert "\n" not in plain(sentence)


def _all_cues() -> list[tuple[str, str, str]]:
    found = []
    for path in sorted((folder("config") / "cues").glob("*.yaml")):
        for category, patterns in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            found += [(path.stem, category, pattern) for pattern in patterns]
    return found


def test_every_language_has_the_categories_of_english() -> None:
    by_language: dict[str, set[str]] = {}
    for language, category, _ in _all_cues():
        by_language.setdefault(language, set()).add(category)
    wanted = by_language["en"]
    assert set(by_language) == set(shipped().languages)
    assert {name: wanted - have for name, have in by_language.items() if wanted - have} == {}


@settings(max_examples=30)  # drawing a text of a long pattern takes its time
@given(st.data())
def test_a_required_literal_stands_in_every_match(data: st.DataObject) -> None:
    _, _, pattern = data.draw(st.sampled_from(_all_cues()))
    text = data.draw(st.from_regex(re.compile(pattern, re.IGNORECASE)))
    literals = _cues.required(pattern)
    match = re.compile(pattern, re.IGNORECASE).search(text)
    assert match is not None
    folded = text.lower()
    # characters whose lower case is of another length (İ) never occur in our cues
    assert not literals or any(one in folded for one in literals) or not text.isascii()


def test_the_prefilter_finds_what_the_patterns_find() -> None:
    cues = _cues.load(shipped().languages)
    for sentence in (
        "The root cause is a stale cache.",
        "Never touch the BIOS.",
        "Nothing of note",
        "Die Ursache ist ein Tippfehler.",
        "根本原因找到了",
        "You can use aiohttp after all.",
    ):
        plainly: dict[str, int] = {}
        for category, pattern in cues.patterns():
            match = pattern.search(sentence)
            if match:
                plainly[category] = min(plainly.get(category, 10**6), match.start())
        assert {k: m.start() for k, m in cues.find(sentence).items()} == plainly
