"""The fold: what a later fact does to an earlier one, and the law that pieces equal the whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoint.extractors import extract
from checkpoint.fold import Fold
from checkpoint.fold._similar import coverage, same
from checkpoint.model import Compaction, Message, Part, Text, Todo, ToolCall
from checkpoint.settings import shipped
from checkpoint.state import State

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def person(text: str) -> tuple[str, list[Part]]:
    return "person", [Text(text)] if text else []


def agent(text: str) -> tuple[str, list[Part]]:
    return "agent", [Text(text)]


def todos(*items: tuple[str, str]) -> tuple[str, list[Part]]:
    listed = tuple(Todo(text, status) for status, text in items)  # type: ignore[arg-type]
    return "agent", [ToolCall("todowrite", "todo", todos=listed)]


def session(said: Sequence[tuple[str, list[Part]]]) -> list[Message]:
    return [
        Message(
            n,
            "user" if origin == "person" else "assistant",
            parts,
            origin,  # type: ignore[arg-type]
            id=f"m{n}",
            at=START + timedelta(minutes=n),
        )
        for n, (origin, parts) in enumerate(said)
    ]


def folded(messages: Sequence[Message], state: State | None = None) -> State:
    fold = Fold(shipped(), state)
    for message in messages:
        fold.add(message, extract(message, shipped()))
    return fold.state


def of(*said: tuple[str, list[Part]]) -> State:
    return folded(session(said))


@pytest.mark.parametrize("text", ["ok", "go on", "continue", "thanks!", "好的", "weiter", "да"])
def test_an_acknowledgement_is_no_goal(text: str) -> None:
    state = of(person("Write a parser for bank files"), agent("Starting."), person(text))
    assert [(g.text, g.status) for g in state.goals] == [
        ("Write a parser for bank files", "overall")
    ]


def test_an_empty_message_is_a_pivot_and_no_goal() -> None:
    state = of(person("Write a parser"), person(""), agent("On it."))
    assert [p.kind for p in state.pivots] == ["empty"]
    assert len(state.goals) == 1


def test_injected_words_are_no_persons() -> None:
    message = Message(0, "user", [Text("Never touch the BIOS")], "injected")
    assert folded([message]).instructions == []


def test_code_diffs_and_quotes_hold_no_cues() -> None:
    state = of(person("fix it"), agent("```\n# root cause: cosmic rays\n```\n> root cause: moon"))
    assert state.root_causes == []


def test_the_first_goal_stays_overall_and_the_last_is_current() -> None:
    state = of(
        person("Build the exporter"), person("now speed it up"), person("add a progress bar")
    )
    assert [g.status for g in state.goals] == ["overall", "earlier", "current"]


def test_a_replaced_goal_is_said_to_be_so() -> None:
    state = of(person("Build the exporter"), person("forget that, write an importer instead"))
    assert [g.status for g in state.goals] == ["replaced", "overall"]


def test_a_lifted_rule_is_kept_as_lifted() -> None:
    state = of(
        person("Port it to asyncio. Do not add new dependencies."),
        person("ok you can add aiohttp after all, but nothing else"),
    )
    assert [(i.text, i.status) for i in state.instructions] == [
        ("Do not add new dependencies.", "lifted"),
        ("ok you can add aiohttp after all, but nothing else", "active"),
    ]


def test_leave_given_once_lifts_no_rule() -> None:
    state = of(
        person("Set up the box. Never reboot it without asking me first."),
        agent("The driver needs a reboot. May I reboot?"),
        person("yes, a reboot is fine now"),
    )
    assert [i.status for i in state.instructions] == ["active"]
    assert [q.status for q in state.questions] == ["answered"]


def test_a_fix_that_did_not_hold_reopens_the_cause() -> None:
    state = of(
        person("fix the flaky upload test"),
        agent(
            "The root cause is a race between the watcher thread and the cleanup. I added a lock."
        ),
        agent("The lock did not help, it still fails 3 of 50 times."),
    )
    assert [c.status for c in state.root_causes] == ["reopened"]
    assert "did not help" in state.ruled_out[0].text


def test_a_confirmed_fix_closes_the_cause() -> None:
    state = of(
        agent("Root cause: the cache key omits the locale, so pages mix languages."),
        agent("The cache key mix-up is fixed: pages keep their language."),
    )
    assert [c.status for c in state.root_causes] == ["fixed"]


def test_a_hedged_cause_is_a_suspicion_and_can_be_refuted() -> None:
    state = of(
        agent("The root cause might be that the connection pool is exhausted."),
        agent("Only 4 of 50 connections are in use, so the connection pool is not the cause."),
    )
    assert state.root_causes == []
    assert len(state.ruled_out) == 1


def test_todo_lists_complete_begin_and_drop() -> None:
    state = of(
        todos(("in_progress", "Convert"), ("pending", "Port the theme"), ("pending", "Redirects")),
        todos(("completed", "Convert"), ("in_progress", "Port the theme"), ("pending", "Feed")),
    )
    assert [t.text for t in state.accomplished] == ["Convert"]
    assert [t.text for t in state.in_progress] == ["Port the theme"]
    assert [t.text for t in state.next_steps] == ["Feed"]
    assert [t.text for t in state.dropped] == ["Redirects"]


def test_steps_in_words_shrink_when_words_say_they_are_done() -> None:
    state = of(
        agent("Next steps:\n1. Write the build workflow\n2. Sign the artifacts\n"),
        agent("The build workflow is done."),
    )
    assert [t.text for t in state.next_steps] == ["Sign the artifacts"]
    assert "Write the build workflow" in [t.text for t in state.accomplished]


def test_a_retracted_figure_does_not_stand() -> None:
    state = of(
        agent("The tokenizer does 71.2 tok/s now."),
        agent("Correction: the 71.2 tok/s figure is wrong."),
    )
    assert [f.status for f in state.findings] == ["retracted"]


def test_instead_of_marks_open_work() -> None:
    state = of(
        todos(("pending", "Retrain with 15K samples")),
        person("use 100K samples instead of 15K"),
    )
    assert state.next_steps[0].changed == "100K samples instead of 15K"


def test_the_request_stands_until_it_is_answered() -> None:
    open_ = of(person("build it"), agent("Built."), person("now write the docs"))
    assert open_.working.request_text == "now write the docs"
    done = of(person("build it"), agent("Built."), person("now write the docs"), agent("Written."))
    assert done.working.request is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("88 of 90 tests pass", "89 of 90 tests pass", False),
        ("the cache is the cause", "the cache is not the cause", False),
        ("Retrain the drafter", "retrain the drafter.", True),
        ("Build the release workflow", "Delete the backups", False),
    ],
)
def test_same_guards_numbers_and_negation(one: str, other: str, expected: bool) -> None:
    assert same(one, other) is expected


def test_coverage_of_nothing_is_nothing() -> None:
    assert coverage("", "anything") == 0.0


_SAID = [
    person("Build the exporter. Never add dependencies."),
    person("ok"),
    person("use parquet instead of csv"),
    person("you can add pyarrow after all"),
    person(""),
    agent("Root cause: the cache key omits the locale, so pages mix languages."),
    agent("The cache fix did not help, it still fails."),
    agent("The cache key is fixed now."),
    agent("Should the export be CSV or Parquet?"),
    agent("Throughput is 94.0 tok/s, up from 88.8 tok/s."),
    agent("Correction: the 94.0 tok/s figure is wrong."),
    agent("| step | tok/s |\n|---|---|\n| 1 | 85.1 |\n| 2 | 94.0 |"),
    agent("| step | tok/s |\n|---|---|\n| 2 | 95.5 |\n| 3 | 91.2 |"),
    agent("Next steps:\n1. Write the docs\n2. Sign the artifacts"),
    agent("The docs are done. Next I'll sign the artifacts."),
    agent("Decision: Postgres with SKIP LOCKED, because Redis does not persist."),
    agent("Switching from Postgres with SKIP LOCKED to Kafka."),
    todos(("in_progress", "Convert"), ("pending", "Port")),
    todos(("completed", "Convert"), ("pending", "Feed")),
    ("agent", [ToolCall("bash", "shell", "pytest -q", output="2 failed in 1.2s\n", failed=True)]),
    ("agent", [ToolCall("bash", "shell", "pytest -q", output="10 passed in 1.2s\n")]),
    ("agent", [ToolCall("bash", "shell", "python bench.py", output="mean: 88.8 tok/s\n")]),
    ("agent", [ToolCall("bash", "shell", "nohup ./serve --port 80 > s.log 2>&1 &", output="77\n")]),
    ("agent", [ToolCall("bash", "shell", "kill 77", output="")]),
    ("agent", [Compaction("auto")]),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_SAID), min_size=1, max_size=30), st.data())
def test_fold_law(said: list[tuple[str, list[Part]]], data: st.DataObject) -> None:
    messages = session(said)
    whole = folded(messages).model_dump_json()
    cut = data.draw(st.integers(0, len(messages)))
    first = folded(messages[:cut]).model_dump_json()
    again = folded(messages[cut:], State.model_validate_json(first))
    assert again.model_dump_json() == whole


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(_SAID), min_size=1, max_size=30))
def test_every_quote_stands_in_its_message(said: list[tuple[str, list[Part]]]) -> None:
    messages = session(said)
    texts = {
        m.number: "\n\n".join([m.said(), *(c.output + c.target for c in m.calls())])
        for m in messages
    }
    state = folded(messages)
    for kind in type(state).model_fields:
        for item in getattr(state, kind) if isinstance(getattr(state, kind), list) else []:
            for evidence in getattr(item, "evidence", []):
                assert evidence.quote in texts[evidence.message] or any(
                    evidence.quote in todo.text
                    for call in messages[evidence.message].calls()
                    for todo in call.todos
                ), (kind, evidence)
