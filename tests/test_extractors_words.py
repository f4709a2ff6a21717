"""Extractors of words: what people and agents said, as facts; what says nothing first."""

from __future__ import annotations

from typing import Any

import pytest

from checkpoint.extractors import _base, extract, extractors
from checkpoint.extractors.people import DOCUMENT, GOAL
from checkpoint.extractors.word_tables import ROWS
from checkpoint.model import Message, Origin, Text, ToolCall
from checkpoint.settings import shipped
from checkpoint.state import Authority, Fact

SETTINGS = shipped()


def message(text: str, origin: Origin = "agent", **more: Any) -> Message:
    role = "assistant" if origin == "agent" else "user"
    return Message(more.pop("number", 7), role, [Text(text)], origin, **more)


def facts(name: str, said: Message, kind: str = "") -> list[Fact]:
    extractors()
    found = _base.EXTRACTORS[name](said, SETTINGS)
    return [f for f in found if not kind or f.kind == kind]


def of_person(text: str, kind: str = "") -> list[Fact]:
    return facts("people", message(text, "person"), kind)


def of_agent(text: str, kind: str = "") -> list[Fact]:
    return facts("agent_words", message(text), kind)


def texts(found: list[Fact]) -> list[str]:
    return [f.fields["text"] for f in found]


RULE = "Never touch the BIOS."


@pytest.mark.parametrize("name", ["people", "agent_words", "word_tables"])
@pytest.mark.parametrize("text", ["", " \n", "```\nroot cause: x\n```", "> Never touch the BIOS."])
def test_nothing_said(name: str, text: str) -> None:
    for origin in ("person", "agent", "injected", "summary"):
        found = facts(name, message(text, origin))  # type: ignore[arg-type]
        # that a person said something is kept, and that it was no words of theirs
        assert [f.kind for f in found if f.kind != "said"] == []
        assert all(f.fields["goal"] == "" for f in found)


@pytest.mark.parametrize("origin", ["agent", "injected", "summary"])
def test_only_people_give_rules(origin: Origin) -> None:
    assert facts("people", message(RULE, origin)) == []
    assert "instruction" not in {f.kind for f in extract(message(RULE, origin), SETTINGS)}


def test_what_is_said_to_a_subagent_is_no_persons() -> None:
    assert facts("people", message(RULE, "person", subagent="explorer")) == []


def test_a_reminder_inside_a_persons_message_is_not_theirs() -> None:
    said = Message(7, "user", [Text(RULE, injected=True), Text("Fix the pump")], "person")
    assert [(f.kind, f.fields["goal"]) for f in facts("people", said)] == [("said", "Fix the pump")]


@pytest.mark.parametrize("text", ["ok", "Yes.", "thanks!", "go ahead", "continue", "👍", "好的"])
def test_an_acknowledgement_asks_for_nothing(text: str) -> None:
    (said,) = of_person(text)
    assert (said.kind, said.fields["acknowledgement"], said.fields["goal"]) == ("said", True, "")


PASTED = "2026-03-01 09:00:01 ERROR never restart the pump\n2026-03-01 09:00:02 INFO exit\n"


@pytest.mark.parametrize(
    "text",
    [
        PASTED,
        "```\nNever touch the BIOS.\n```",
        '  File "a.py", line 3, in x\nKeyError: never do this\n',
        "ada@rig:~$ make\nerror: always fails\n",
    ],
)
def test_what_is_pasted_is_no_rule_and_no_goal(text: str) -> None:
    (said,) = of_person(text)
    assert (said.kind, said.fields["goal"], said.fields["pasted"]) == ("said", "", True)


def test_words_around_a_paste_are_a_persons() -> None:
    (said,) = of_person(f"The pump stops:\n{PASTED}\nFind out where it hangs.")
    assert "Find out where it hangs." in said.fields["goal"]
    assert "ERROR" not in said.fields["goal"]


def test_a_pasted_document_gives_no_rules_but_the_words_before_it_do() -> None:
    body = (
        "\n\n".join(f"## Part {n}\n\nNever do thing number {n} at all." for n in range(60))
        + "\n\n- never"
    )
    assert len(body) > DOCUMENT
    found = of_person(f"Follow this, and never push to main.\n\n{body}", "instruction")
    assert texts(found) == ["Follow this, and never push to main."]


@pytest.mark.parametrize(
    ("text", "rule", "standing"),
    [
        ("Never touch the BIOS.", "Never touch the BIOS.", True),
        ("Add a cart. Make sure it sums up.", "Make sure it sums up.", False),
        ("please always run the linter **first**", "please always run the linter first", True),
        ("Bitte niemals auf main pushen.", "Bitte niemals auf main pushen.", True),
        ("绝对不要修改数据库。", "绝对不要修改数据库。", True),
    ],
)
def test_rules(text: str, rule: str, standing: bool) -> None:
    (found,) = of_person(text, "instruction")
    assert (found.fields["text"], found.fields["standing"]) == (rule, standing)
    assert (found.fields["lift"], found.authority) == (False, Authority.PERSON)


def test_a_question_is_no_rule() -> None:
    assert of_person("Should we rather use tabs?", "instruction") == []
    assert of_person("Why is it always so slow?", "instruction") == []


def test_a_lifted_rule() -> None:
    (found,) = of_person("You can use aiohttp after all.", "instruction")
    assert found.fields["lift"] is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs", []),
        ("instead of that", []),
        ("use httpx instead of requests", [("requests", "httpx")]),
        ("Take port 8081 rather than 8080.", [("8080", "port 8081")]),
    ],
)
def test_one_thing_instead_of_another(text: str, expected: list[tuple[str, str]]) -> None:
    found = [(f.fields["old"], f.fields["new"]) for f in of_person(text, "instead")]
    assert [(old, new.removeprefix("Take ")) for old, new in found] == expected


def test_a_goal_is_whole_sentences_and_short() -> None:
    (said,) = of_person("Build a cart. " + "It shall add up prices in cents. " * 20)
    assert said.fields["goal"].startswith("Build a cart. It shall add up")
    assert said.fields["goal"].endswith("in cents.")
    assert len(said.fields["goal"]) <= GOAL


def test_people_speak_inside_tool_results() -> None:
    refused = ToolCall("bash", "shell", "rm x", refused=True, person="Use git rm")
    asked = ToolCall("ask", "question", "Which port?", person="The second one, 8081")
    silent = ToolCall("bash", "shell", "ls")
    said = Message(7, "assistant", [refused, asked, silent], "agent")
    found = facts("people", said)
    assert [(f.kind, f.fields["where"]) for f in found] == [
        ("instruction", "refusal"), ("said", "refusal"), ("said", "answer")]  # fmt: skip
    assert texts(found)[0] == "Use git rm"


def test_an_interruption_is_the_programs_word() -> None:
    assert of_person("[Request interrupted by user]") == []
    (said,) = of_person("[Request interrupted by user]\nBuild the cart first")
    assert said.fields["goal"] == "Build the cart first"


AGENT = [
    ("Let me look at the root cause.", "cause", []),
    ("Is the pool the root cause?", "cause", []),
    ("```\n# root cause: x\n```", "cause", []),
    ("The root cause is that `close()` is never called on the pool.", "cause",
     ["The root cause is that `close()` is never called on the pool."]),
    ("Found it. The pool in `db.py` is opened twice and never closed.", "cause",
     ["The pool in `db.py` is opened twice and never closed."]),
    ("## Root cause\n\nThe pool in `db.py` leaks because `close()` fails.", "cause",
     ["The pool in `db.py` leaks because `close()` fails."]),
    ("Next steps:", "plan", []),
    ("The next page has 3 rows.", "plan", []),
    ("Next steps:\n1. Add a cart\n2. Sum the prices", "plan", ["Add a cart", "Sum the prices"]),
    ("- [x] Add a cart\n- [ ] Sum the prices", "plan", ["Add a cart", "Sum the prices"]),
    ("The cache is not the cause of the slow start.", "ruled_out",
     ["The cache is not the cause of the slow start."]),
    ("Maybe we could go with SQLite.", "decision", []),
    ("I decided to use SQLite because it needs no server.", "decision",
     ["I decided to use SQLite because it needs no server."]),
    ("Let me measure 94 tok/s.", "figure", []),
    ("The page has no figures.", "figure", []),
    ("Decode now runs at 94.0 tok/s with the new kernel.", "figure",
     ["Decode now runs at 94.0 tok/s with the new kernel."]),
    ("I retract the figure of 880 MB/s.", "retraction", ["I retract the figure of 880 MB/s."]),
    ("See https://example.org/a/shop/pull/12 for how others do it.", "pull_request", []),
    ("Opened the pull request: https://example.org/a/shop/pull/12", "pull_request",
     ["Opened the pull request: https://example.org/a/shop/pull/12"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "expected"), AGENT)
def test_what_an_agent_says(text: str, kind: str, expected: list[str]) -> None:
    assert texts(of_agent(text, kind)) == expected
    assert facts("agent_words", message(text, subagent="explorer")) == []
    assert facts("agent_words", message(text, "person")) == []


def test_thoughts_are_not_said() -> None:
    assert of_agent("<think>The root cause is `x` in `a.py`.</think>") == []
    assert of_agent("<think>The root cause is `x` in `a.py`. never closed") == []


def test_boxes_and_numbers_of_plans() -> None:
    found = of_agent("Next steps:\n1. [x] Add a cart\n2. [ ] Sum the prices", "plan")
    assert [(f.fields["done"], f.fields["order"]) for f in found] == [(True, 1), (False, 2)]


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("The root cause is `close()`, which is never called.", "stated"),
        ("The root cause is probably `close()`, which is never called.", "hedged"),
    ],
)
def test_a_suspicion_is_no_cause_that_is_known(text: str, modality: str) -> None:
    (cause,) = of_agent(text, "cause")
    assert cause.modality == modality


def test_only_the_last_words_of_a_turn_ask_a_person() -> None:
    asks = "The cart is ready. Shall I push it to main?"
    (question,) = of_agent(asks, "question")
    assert (question.fields["text"], question.fields["to_person"]) == (
        "Shall I push it to main?", True)  # fmt: skip
    working = Message(7, "assistant", [Text(asks), ToolCall("bash", "shell", "ls")], "agent")
    assert facts("agent_words", working, "question") == []


def test_a_message_ends_with_its_last_words() -> None:
    (last,) = of_agent("The cart is ready.\n\nTests of prices are missing.", "last_words")
    assert (last.fields["text"], last.fields["final"]) == ("Tests of prices are missing.", True)


SUMMARY = "## Goal\n\nBuild a cart for the shop.\n\n## Next steps\n\n- Sum the prices\n"


def test_a_summary_counts_only_where_its_messages_are_gone() -> None:
    early = facts("agent_words", message(SUMMARY, "summary", number=0))
    assert {f.authority for f in early} == {Authority.SUMMARY}
    assert [(f.kind, f.fields["text"]) for f in early][:2] == [
        ("plan_given", "Build a cart for the shop."), ("plan", "Sum the prices")]  # fmt: skip
    assert facts("agent_words", message(SUMMARY, "summary", number=40)) == []


def test_a_plan_that_was_given_tells_the_goal_and_no_steps() -> None:
    steps = "## Steps\n\n- Never push\n"
    plan = f"Implement the following plan:\n\n# A cart\n\nIt sums up prices.\n\n{steps}"
    (given,) = facts("agent_words", message(plan, "injected"))
    assert (given.kind, given.fields["text"]) == ("plan_given", "A cart. It sums up prices.")
    assert facts("agent_words", message(plan.partition("\n\n")[2], "injected")) == []


TABLE = "| batch | tok/s |\n|---|---|\n| 1 | **34.0** |\n| 8 | 212.5 |\n"


@pytest.mark.parametrize(
    "text",
    [
        "a | b",
        "| a | b |\n",
        "| a | b |\n|---|---|\n",
        "| option | why |\n|---|---|\n| SQLite | no server |\n| Redis | fast |\n",
        "| option | cost |\n|---|---|\n| SQLite | - |\n| Redis | n/a |\n",
        f"```\ntext\n```\n{TABLE.splitlines()[0]}",
        f"Targets for next week:\n\n{TABLE}",
    ],
)
def test_no_table_of_figures(text: str) -> None:
    assert facts("word_tables", message(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.replace("|\n", "\n").replace("\n|", "\n").removeprefix("|"),
        "┌───────┬───────┐\n│ batch │ tok/s │\n├───────┼───────┤\n│ 1     │ 34.0  │\n"
        "│ 8     │ 212.5 │\n└───────┴───────┘\n",
        "| batch | tok/s |\n|---|---|\n| 1 | 34.0 | spare |\n| 8 | 212.5 |\n",
    ],
)
def test_tables(text: str) -> None:
    (table,) = facts("word_tables", message(f"**Decode**\n\n{text}\nDone."))
    assert table.fields["caption"] == "Decode"
    assert table.fields["columns"] == ["batch", "tok/s"]
    assert table.fields["rows"] == [["1", "34.0"], ["8", "212.5"]]
    assert facts("word_tables", message(text, subagent="explorer")) == []
    assert facts("word_tables", message(text, "person")) == []


def test_a_short_row_is_filled_and_an_escaped_bar_is_no_border() -> None:
    (table,) = facts("word_tables", message("| a | b | c |\n|--|--|--|\n| x \\| y | 1 |\n"))
    assert table.fields["rows"] == [["x | y", "1", ""]]


def test_of_a_long_table_the_middle_is_left_out() -> None:
    body = "".join(f"| {n} | {n}.5 ms |\n" for n in range(200))
    (table,) = facts("word_tables", message(f"| n | time |\n|---|---|\n{body}"))
    labels = [int(row[0]) for row in table.fields["rows"]]
    assert labels == [*range(ROWS // 2), *range(200 - ROWS // 2, 200)]


def test_every_quote_stands_in_its_message() -> None:
    for text, _, expected in AGENT:
        found = list(extract(message(text, id="m7"), SETTINGS))
        assert found or not expected
        for made in found:
            assert made.quote in text, made
            assert (made.message, made.id, made.role) == (7, "m7", "assistant")
