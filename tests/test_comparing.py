"""Two states told apart by fact, and things of the state as one line."""

from __future__ import annotations

from typing import Any

import pytest

from checkpoint.pipeline import compare, line, lookup
from checkpoint.state import (
    Decision,
    Evidence,
    Failure,
    File,
    HostFact,
    Instruction,
    Item,
    Measurement,
    Past,
    Process,
    Question,
    RootCause,
    Row,
    Setting,
    State,
    Table,
    Task,
)


def base(name: str = "x1", message: int = 3) -> dict[str, Any]:
    evidence = [Evidence(message=message, role="assistant", quote="said so")]
    return {"id": name, "key": name, "evidence": evidence, "authority": 3}


def task(name: str = "t1", status: str = "pending", **more: Any) -> Task:
    return Task(**base(name), text=f"the work {name}", status=status, source="todo", **more)


def speed(value: str, name: str = "m1", **more: Any) -> Measurement:
    given = {"text": f"{value} s", "subject": "forecast", "metric": "time", "unit": "s"}
    return Measurement(**base(name), value=value, **{**given, **more})


SAME = [
    State(),
    State(next_steps=[task()], measurements=[speed("1.4")]),
    State(files=[File(**base(), path="a.py", status="edited")]),
]


@pytest.mark.parametrize("state", SAME)
def test_a_state_does_not_differ_from_itself(state: State):
    assert compare(state, state.model_copy(deep=True)) == []


CHANGES: list[tuple[str, State, State, list[tuple[str, str, str]]]] = [
    ("seen again", State(measurements=[speed("1.4")]),
     State(measurements=[speed("1.4", seen=7)]), []),
    ("new", State(), State(measurements=[speed("1.4")]), [("new", "measurement", "")]),
    ("gone", State(measurements=[speed("1.4")]), State(), [("gone", "measurement", "")]),
    ("superseded", State(measurements=[speed("41.8")]),
     State(measurements=[speed("1.4", history=[Past(value="41.8 s", message=3)])]),
     [("superseded", "measurement", "41.8 s")]),
    ("retracted", State(measurements=[speed("1.4")]),
     State(measurements=[speed("1.4", status="retracted")]),
     [("dropped", "measurement", "current")]),
    ("done", State(in_progress=[task(status="in_progress")]),
     State(accomplished=[task(status="done")]), [("done", "task", "in_progress")]),
    ("done at once", State(), State(accomplished=[task(status="done")]), [("done", "task", "")]),
    ("dropped", State(next_steps=[task()]), State(dropped=[task(status="dropped")]),
     [("dropped", "task", "pending")]),
    ("reopened", State(accomplished=[task(status="done")]), State(next_steps=[task()]),
     [("reopened", "task", "done")]),
    ("begun", State(next_steps=[task()]), State(in_progress=[task(status="in_progress")]),
     [("changed", "task", "pending")]),
    ("fixed", State(root_causes=[RootCause(**base(), text="a leak")]),
     State(root_causes=[RootCause(**base(), text="a leak", status="fixed")]),
     [("done", "root cause", "confirmed")]),
    ("back again", State(root_causes=[RootCause(**base(), text="a leak", status="fixed")]),
     State(root_causes=[RootCause(**base(), text="a leak", status="reopened")]),
     [("reopened", "root cause", "fixed")]),
    ("lifted", State(instructions=[Instruction(**base(), text="no pushes")]),
     State(instructions=[Instruction(**base(), text="no pushes", status="lifted")]),
     [("dropped", "instruction", "active")]),
    ("stopped", State(processes=[Process(**base(), host="local", command="serve")]),
     State(processes=[Process(**base(), host="local", command="serve", status="stopped")]),
     [("done", "process", "running")]),
    ("edited", State(files=[File(**base(), path="a", status="read")]),
     State(files=[File(**base(), path="a", status="edited")]), [("superseded", "file", "read")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "wanted"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_what_became_of_a_thing(before: State, after: State, wanted: list[tuple[str, str, str]]):
    assert [(c.act, c.kind, c.was) for c in compare(before, after)] == wanted


def test_changes_are_told_by_act_and_then_in_the_order_of_the_document():
    before = State(next_steps=[task("t1"), task("t2")])
    after = State(
        measurements=[speed("1.4")],
        accomplished=[task("t2", "done"), task("t1", "done")],
        next_steps=[task("t3")],
    )
    told = [(c.act, c.id) for c in compare(before, after)]
    assert told == [("new", "m1"), ("new", "t3"), ("done", "t2"), ("done", "t1")]


LINES: list[tuple[Item, str]] = [
    (speed("1.4"), "forecast time: 1.4 s"),
    (speed("1.4", text="1.40 s", configuration="steps=2"), "forecast time: 1.40 s (steps=2)"),
    (HostFact(**base(), host="root@box", subject="GPU", attribute="count", value="8"),
     "root@box: GPU count: 8"),
    (Setting(**base(), name="OMP_NUM_THREADS", value="8"), "OMP_NUM_THREADS=8"),
    (Table(**base(), caption="speed", columns=["v", "s"],
           rows=[Row(label="a", cells=["1"], message=1), Row(label="b", cells=["2"], message=1)]),
     "speed [v | s] a | 1; b | 2"),
    (Process(**base(), host="local", command="serve --port 1", port="1"),
     "serve --port 1 on port 1"),
    (Failure(**base(), command="make", error="no rule"), "make: no rule"),
    (Decision(**base(), text="use float64", reason="error"), "use float64 (error)"),
    (RootCause(**base(), text="a\nleak", fix="close it"), "a leak; fix: close it"),
    (Question(**base(), text="which?", answer="both"), "which? -> both"),
    (task(sha="7c41e0b"), "the work t1 (7c41e0b)"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "wanted"), LINES, ids=[type(i).__name__ for i, _ in LINES])
def test_a_thing_is_one_line(item: Item, wanted: str):
    assert line(item) == wanted


def test_a_long_line_is_cut():
    assert len(line(Decision(**base(), text="word " * 500))) == 400


ASKED = [
    ("m1", ["m1"]),
    ("M1", ["m1"]),
    ("t", ["t1", "t12"]),
    ("t1", ["t1"]),
    ("#3", ["m1", "t1", "t12"]),
    ("[#3]", ["m1", "t1", "t12"]),
    ("FORECAST", ["m1"]),
    ("work t12", ["t12"]),
]


@pytest.mark.parametrize(("asked", "wanted"), ASKED)
def test_a_fact_is_found_by_id_mark_or_words(asked: str, wanted: list[str]):
    state = State(measurements=[speed("1.4")], next_steps=[task("t1"), task("t12")])
    assert [thing.item.id for thing in lookup(state, asked)] == wanted


@pytest.mark.parametrize("asked", ["", "#99", "zz", "nothing says this"])
def test_what_is_not_there_is_an_error_that_says_how_to_ask(asked: str):
    from checkpoint.errors import CheckpointError

    with pytest.raises(CheckpointError, match="lists the ids"):
        lookup(State(measurements=[speed("1.4")]), asked)
