"""The document: safe lines, a kept budget, nothing silent; templates in a sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from checkpoint.errors import RenderError
from checkpoint.render import document, render
from checkpoint.render._budget import Section, select
from checkpoint.render._figures import change
from checkpoint.render._stale import Stale
from checkpoint.render._text import cell, clean, code, cut, line, marks
from checkpoint.settings import shipped
from checkpoint.state import Evidence, Finding, Goal, Instruction, State


def _evidence(message: int = 0) -> list[Evidence]:
    return [Evidence(message=message, role="user", quote="q")]


def _goal(text: str) -> Goal:
    return Goal(id="g1", key="0", evidence=_evidence(), authority=6, text=text, status="overall")


def _finding(text: str, number: int = 0) -> Finding:
    return Finding(
        id=f"f{number}",
        key=str(number),
        evidence=_evidence(number),
        authority=2,
        text=text,
        weight=5,
    )


@pytest.mark.parametrize("text", ["plain words", "a `span` stays", "88.8 tok/s, +5.9 %", "a_b*c"])
def test_harmless_text_is_left_alone(text: str) -> None:
    assert line(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# heading", r"\# heading"),
        ("- item", r"\- item"),
        ("1. item", r"\1. item"),
        ("```\nfence", "''' fence"),
        ("<script>x", r"\<script>x"),
        ("fake [#12] mark", r"fake \[#12] mark"),
        ("a\nb\tc", "a b c"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("bidi \u202e x \u200bzero", "bidi x zero"),
        ("odd ` tick", "odd ' tick"),
        ("lone \ud83d surrogate", "lone surrogate"),
    ],
)
def test_text_cannot_break_out_of_its_line(text: str, expected: str) -> None:
    assert line(text) == expected


@given(st.text(max_size=200))
def test_a_line_is_one_paragraph_without_html(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"- {line(text) or 'x'}")
    kinds = {t.type for t in tokens}
    assert not kinds & {
        "fence",
        "code_block",
        "html_block",
        "heading_open",
        "hr",
        "blockquote_open",
    }
    assert sum(t.type == "list_item_open" for t in tokens) == 1
    inline = [child.type for t in tokens if t.children for child in t.children]
    assert "html_inline" not in inline


@given(st.text(max_size=120))
def test_code_is_one_span(text: str) -> None:
    shown = code(text)
    if shown:
        inline = MarkdownIt("commonmark").parseInline(shown)[0].children or []
        assert [t.type for t in inline] == ["code_inline"]


@given(st.text(max_size=120))
def test_a_cell_holds_no_bar(text: str) -> None:
    row = cell(text)
    assert "|" not in row.replace("\\|", "")
    assert "\n" not in row


@given(st.text(max_size=200))
def test_clean_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("88.8 tok/s", "94.0 tok/s", "+5.9 %, "),
        ("100 ms", "50 ms", "-50.0 %, "),
        ("1.84 s", "410 ms", ""),
        ("OOM", "3 GB", ""),
        ("0 s", "3 s", ""),
    ],
)
def test_change(old: str, new: str, expected: str) -> None:
    assert change(old, new) == expected


def test_marks_name_first_and_latest() -> None:
    assert marks(3, 1, 2, 9, 7, 7) == "[#1 #3 #7 #9]" or marks(3, 1, 2, 9, 7) == "[#1 #3 #7 #9]"


def test_cut_never_ends_inside_a_word() -> None:
    assert cut("alpha beta 123.456 gamma", 18) == "alpha beta…"


def test_old_figures_are_marked_where_they_were_said_before() -> None:
    state = State()
    state.working.stale["63.6"] = ["50", "88.8 tok/s"]
    stale = Stale(state)
    assert stale.mark("63.6 tok/s", 40) == "63.6 tok/s (63.6 → now 88.8 tok/s)"
    assert stale.mark("up from 63.6", 50) == "up from 63.6"
    assert stale.mark("163.65 and v63.6.1", 40) == "163.65 and v63.6.1"


def test_an_empty_state_is_a_short_document() -> None:
    text = document(State(), shipped())
    assert "## " not in text
    assert len(text) < 400


@pytest.mark.parametrize("budget", [300, 600, 1500, 4000])
def test_the_budget_is_kept_and_what_is_cut_is_counted(budget: int) -> None:
    state = State(goals=[_goal("Build it")])
    state.findings = [
        _finding(f"finding number {n} says `x{n}` " + "word " * 40, n) for n in range(150)
    ]
    state.session.messages = 150
    text = document(state, shipped(), budget=budget)
    assert len(text) <= budget * 4
    assert "Build it" in text
    shown = text.count("finding number")
    assert f"Findings {150 - shown}" in text


def test_lines_worth_little_do_not_pad() -> None:
    section = Section("S", weight=10.0)
    section.add("worth little")
    assert select([section], 4000, 0) == []


def test_must_lines_come_before_the_rest() -> None:
    state = State(goals=[_goal("The goal")])
    state.instructions = [
        Instruction(
            id="i", key="i", evidence=_evidence(), authority=6, text="Never reboot", standing=True
        )
    ]
    state.findings = [_finding("filler `x` " + "y" * 300, n) for n in range(20)]
    text = document(state, shipped(), budget=320)
    assert "The goal" in text
    assert "Never reboot" in text


def test_a_users_template_comes_before_ours(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.md.j2").write_text("mine: {{ state.session.messages }}")
    settings = replace(shipped(), templates=str(tmp_path))
    assert document(State(), settings) == "mine: 0\n"


@pytest.mark.parametrize(
    "source",
    [
        "{{ nothing_of_that_name }}",
        "{{ state.session.nothing }}",
        "{% if %}",
        "{{ ''.__class__.__mro__ }}",
        "{{ state.__init__.__globals__ }}",
        "{% include '../../etc/passwd' %}",
        "{{ range(999999999) }}",
    ],
)
def test_a_bad_template_is_a_clear_error(tmp_path: Path, source: str) -> None:
    (tmp_path / "bad.md.j2").write_text(source)
    with pytest.raises(RenderError, match=r"bad\.md\.j2"):
        document(State(), replace(shipped(), templates=str(tmp_path)), template="bad.md.j2")


def test_session_text_is_no_template() -> None:
    state = State(goals=[_goal("{{ 7 * 7 }} {% raw %}")])
    text = document(state, shipped())
    assert "{{ 7 * 7 }} {% raw %}" in text


def test_a_template_of_a_path(tmp_path: Path) -> None:
    path = tmp_path / "own.j2"
    path.write_text("{{ names | length }}")
    assert render(str(path), shipped(), {"names": [1, 2]}) == "2\n"
