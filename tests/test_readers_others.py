"""Readers of the other agents: what their fixtures hold, packed files, cursors, damaged stores.

That each fixture is claimed by its reader alone and survives being cut is tested for all readers
alike elsewhere; here is what each must have understood.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkpoint.errors import ReadError
from checkpoint.model import Change, Compaction, Message, Reasoning, Text, ToolCall
from checkpoint.readers import by_name, identify

FIXTURES = Path(__file__).parent / "fixtures" / "readers"


def session(case: str) -> Path:
    return next((FIXTURES / case).glob("session.*"))


def read(path: Path, agent: str = "", name: str = "") -> list[Message]:
    reader = by_name(agent) if agent else identify(path)
    return list(reader.read(path, session=name))


def said(messages: list[Message]) -> list[str]:
    return [one.said() for one in messages if one.origin == "person"]


def calls(messages: list[Message]) -> list[ToolCall]:
    return [call for one in messages for call in one.calls()]


PERSONS = {
    "gemini/object": [
        "Make the import in @src/load.py faster, it takes 41 s. Keep the public API.",
        "do not push, only commit",
    ],
    "gemini/lines": ["add a --jobs flag", "call it --workers, default 4", "now document it"],
    "gemini/stream": ["list the fixtures"],
    "qwen-code/chat": ["why is the neap table empty?", "go on"],
    "aider/runs": [
        "speed up load()\nit takes 41 s, keep the API",
        "/run pytest -q",
        "is 4096 the best size?",
        "# AI! rename read_blocks to blocks",
    ],
    "specstory/claude": [
        "/review the loader",
        "The import went from 12 s to 41 s. Find out why.",
        "go on, but without new dependencies",
    ],
    "specstory/old": ["rename tide to level", "thanks"],
    "cline/export": ["Speed up load(), it takes 41 s.", "Now commit it."],
    "cline/history": ["Add a --workers flag"],
    "cline/display": ["Add a --workers flag", "document it too"],
    "roo-code/history": ["Fix the neap table", "go on with the test"],
    "kilo-code/history": ["Name the levels"],
    "copilot-cli/events": ["bench the loader, then fix it", "finish the docs"],
    "swe-agent/steps": ["load() takes 41 s for the tide table"],
    "mini-swe-agent/messages": ["load() takes 41 s"],
    "cursor/transcript": ["speed up the loader", "commit it"],
    "cursor/text": ["speed up the loader", "commit it"],
    "cursor/vscdb": ["speed up the loader", "use 4096"],
    "goose/store": ["speed up the loader", "commit only"],
    "goose/lines": ["speed up the loader", "commit only"],
    "crush/store": ["speed up the loader", "", "commit it"],
    "zed/store": ["speed up the loader", "go on"],
    "pi/tree": ["speed up the loader", "commit it"],
    "amp/thread": ["speed up the loader", "commit it"],
    "droid/messages": ["speed up the loader", "commit it"],
    "openhands/events": ["speed up the loader", "commit it"],
    "openhands/evaluation": ["speed up the loader", "commit it"],
    "openhands/kinds": ["speed up the loader"],
    "copilot-chat/object": ["speed up the loader", "commit it"],
    "copilot-chat/journal": ["commit it"],
    "markdown/headings": [
        "speed up the loader\n\n```text\n## Assistant\nnot a turn\n```",
        "commit it",
    ],
    "markdown/plain": ["speed up the loader\nIt takes 41 s.", "commit it"],
    "conversation-data/wrappers": ["speed up the loader", ""],
}


@pytest.mark.parametrize("case", PERSONS)
def test_only_a_persons_words_are_a_persons(case: str) -> None:
    assert said(read(session(case), case.split("/")[0])) == PERSONS[case]


COMMANDS = {
    "gemini/object": [("python bench.py", 0), ("pytest -q", 1), ("git push", None)],
    "qwen-code/chat": [("python -m tidepool check", 3)],
    "specstory/claude": [("python bench.py", None), ("cd src\npytest -q", 1)],
    "cline/export": [("pytest -q", None)],
    "cline/display": [("pytest -q", None)],
    "roo-code/history": [("pytest -q", 1)],
    "copilot-cli/events": [("python bench.py", 0), ("pytest -q", 1), ("git push", None)],
    "swe-agent/steps": [("python -m pytest -q", None)],
    "mini-swe-agent/messages": [("python bench.py", 1), ("echo COMPLETE_TASK", None)],
    "cursor/vscdb": [("python bench.py", 0)],
    "goose/store": [("python bench.py", None), ("git push", None)],
    "crush/store": [("python bench.py", 2)],
    "zed/store": [("python bench.py", None)],
    "pi/tree": [("python bench.py", 2), ("git status", 0)],
    "amp/thread": [("python bench.py", 0), ("git push", None)],
    "droid/messages": [("python bench.py", None)],
    "openhands/events": [("python bench.py", 1)],
    "openhands/kinds": [("python bench.py", 0), ("git push", None)],
    "copilot-chat/object": [("python bench.py", 1)],
    "markdown/headings": [("python bench.py", None), ("pytest -q", None)],
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_have_their_results(case: str) -> None:
    shell = [one for one in calls(read(session(case))) if one.category == "shell"]
    assert [(one.target, one.exit_code) for one in shell] == COMMANDS[case]
    for one in shell:
        assert one.failed == (bool(one.exit_code) or one.refused)
    measured = next((one for one in shell if one.target == "python bench.py"), None)
    if measured:
        assert measured.output.startswith("load: 41.2 s")


CHANGES = {
    "gemini/object": [("src/load.py", "edited"), ("src/blocks.py", "created")],
    "aider/runs": [
        ("src/load.py", "edited"),
        ("src/blocks.py", "created"),
        ("NOTES.md", "written"),
    ],
    "specstory/claude": [
        ("/home/mara/tidepool/src/load.py", "edited"),
        ("/home/mara/tidepool/NOTES.md", "created"),
    ],
    "cline/export": [],
    "cline/history": [("cli.py", "written")],
    "cline/display": [("cli.py", "edited")],
    "roo-code/history": [("src/neap.py", "edited")],
    "copilot-cli/events": [("src/load.py", "edited"), ("src/blocks.py", "created")],
    "swe-agent/steps": [("/tidepool/src/load.py", "edited"), ("src/load.py", "edited")],
    "cursor/transcript": [("src/load.py", "edited")],
    "cursor/vscdb": [],
    "goose/lines": [
        ("/home/mara/tidepool/src/load.py", "edited"),
        ("/home/mara/tidepool/NOTES.md", "written"),
    ],
    "crush/store": [("NOTES.md", "created")],
    "zed/store": [],
    "pi/tree": [("src/load.py", "edited")],
    "amp/thread": [("/home/mara/tidepool/src/load.py", "edited")],
    "droid/messages": [("NOTES.md", "written")],
    "openhands/kinds": [("/home/mara/tidepool/NOTES.md", "created")],
    "copilot-chat/object": [
        ("/home/mara/tidepool/src/load.py", "edited"),
        ("/home/mara/tidepool/NOTES.md", "edited"),
    ],
}


@pytest.mark.parametrize("case", CHANGES)
def test_changes_are_those_that_were_made(case: str) -> None:
    made = [change for one in calls(read(session(case))) for change in one.changes]
    assert [(one.path, one.action) for one in made] == CHANGES[case]


TODOS = {
    "gemini/object": [
        ("Measure", "completed"),
        ("Read in blocks", "in_progress"),
        ("Update the docs", "pending"),
    ],
    "qwen-code/chat": [("Fix the filter", "in_progress")],
    "cline/export": [("Read", "completed"), ("Change", "pending")],
    "roo-code/history": [
        ("Fix the filter", "completed"),
        ("Fix the test", "in_progress"),
        ("Docs", "pending"),
    ],
    "copilot-cli/events": [
        ("Fix the loader", "in_progress"),
        ("Don't forget docs", "pending"),
        ("Fix the loader", "completed"),
    ],
    "specstory/claude": [("Fix the failing test", "pending")],
    "cursor/transcript": [("Fix the loader", "completed")],
    "cursor/vscdb": [("Fix it", "in_progress")],
    "goose/store": [("Measure", "completed"), ("Change", "pending")],
    "amp/thread": [("Fix the loader", "in_progress")],
    "droid/messages": [("Measure", "completed"), ("Change", "in_progress")],
    "copilot-chat/object": [("Commit", "completed")],
}


@pytest.mark.parametrize("case", TODOS)
def test_todos(case: str) -> None:
    found = [todo for one in calls(read(session(case))) for todo in one.todos]
    assert [(one.text, one.status) for one in found] == TODOS[case]


PLACES = {
    "gemini/object": ("/home/mara/tidepool", ""),
    "gemini/lines": ("/home/mara/tidepool", ""),
    "qwen-code/chat": ("/home/mara/tidepool", "feat/tides"),
    "aider/runs": ("/home/mara/tidepool", ""),
    "cline/export": ("/home/mara/tidepool", ""),
    "roo-code/history": ("/home/mara/tidepool", ""),
    "copilot-cli/events": ("/home/mara/tidepool", "feat/tides"),
    "cursor/vscdb": ("/home/mara/tidepool", ""),
    "goose/store": ("/home/mara/tidepool", ""),
    "zed/store": ("/home/mara/tidepool", "feat/tides"),
    "pi/tree": ("/home/mara/tidepool", ""),
    "amp/thread": ("/home/mara/tidepool", "feat/tides"),
    "droid/messages": ("/home/mara/tidepool", ""),
}


@pytest.mark.parametrize("case", PLACES)
def test_the_head_names_directory_and_branch(case: str) -> None:
    reading = identify(session(case)).read(session(case))
    list(reading)
    assert (reading.head.cwd, reading.head.branch) == PLACES[case]


SUMMARIES = {
    "gemini/lines": ("unknown", None),
    "qwen-code/chat": ("auto", 9000),
    "specstory/claude": ("unknown", None),
    "roo-code/history": ("auto", None),
    "copilot-cli/events": ("unknown", 90000),
    "goose/store": ("auto", None),
    "crush/store": ("unknown", None),
    "pi/tree": ("unknown", 80000),
    "amp/thread": ("unknown", None),
    "droid/messages": ("unknown", None),
    "openhands/events": ("auto", None),
}


@pytest.mark.parametrize("case", SUMMARIES)
def test_a_compaction_is_a_part_and_its_text_a_summary(case: str) -> None:
    found = [
        (one, part)
        for one in read(session(case))
        for part in one.parts
        if isinstance(part, Compaction)
    ]
    assert [(part.trigger, part.tokens_before) for _one, part in found] == [SUMMARIES[case]]
    assert found[0][0].origin == "summary"


REFUSED = {
    "gemini/object": ("git push", ""),
    "specstory/claude": ("", "keep the tests as they are"),
    "cline/export": ("src/load.py", "keep the list, but read 64 kB at once"),
    "copilot-cli/events": ("git push", "only commit"),
    "cursor/vscdb": ("src/load.py", ""),
    "goose/store": ("git push", ""),
    "amp/thread": ("git push", "only commit"),
    "openhands/kinds": ("git push", "only commit"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_call_keeps_the_persons_reason(case: str) -> None:
    refused = [one for one in calls(read(session(case))) if one.refused]
    assert [(one.target, one.person) for one in refused] == [REFUSED[case]]
    assert refused[0].failed
    assert refused[0].changes == ()


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ("specstory/claude", "4096"),
        ("cline/history", "4"),
        ("copilot-cli/events", "8192, but measure both"),
    ],
)
def test_an_answer_is_a_persons(case: str, answer: str) -> None:
    asked = [one for one in calls(read(session(case))) if one.category == "question"]
    assert [one.person for one in asked] == [answer]


def test_a_rewind_takes_messages_back() -> None:
    words = [one.said() for one in read(session("gemini/lines"))]
    assert not any("--threads" in one for one in words)


def test_an_upsert_takes_the_place_of_the_earlier_record() -> None:
    messages = read(session("gemini/lines"))
    assert sum("I look at the parser." in one.said() for one in messages) == 1


def test_aider_reads_one_run_or_all(tmp_path: Path) -> None:
    path = session("aider/runs")
    assert len(said(read(path))) == 4
    assert said(read(path, name="20260304-090000"))[0].startswith("speed up load()")
    with pytest.raises(ReadError, match="no run of aider began at '20200101-000000'"):
        read(path, name="20200101-000000")


def test_aider_commits_are_calls() -> None:
    commits = [one for one in calls(read(session("aider/runs"))) if one.tool == "git commit"]
    assert [one.target for one in commits] == [
        "git commit -m 'perf: read the table in blocks'",
        "git commit -m 'docs: note the block size'",
    ]


def test_aider_finds_the_history_of_a_directory(tmp_path: Path) -> None:
    history = tmp_path / ".aider.chat.history.md"
    history.write_bytes(session("aider/runs").read_bytes())
    inner = tmp_path / "src"
    inner.mkdir()
    found = list(by_name("aider").find(inner))
    assert [(one.session, one.directory) for one in found] == [
        ("20260304-090000", str(tmp_path)),
        ("20260305-183000", str(tmp_path)),
    ]


def test_a_store_of_many_sessions_gives_the_newest_or_the_named() -> None:
    path = session("cursor/vscdb")
    assert said(read(path))[0] == "speed up the loader"
    assert said(read(path, name="old")) == ["hello"]
    with pytest.raises(ReadError, match="it holds no composer 'none'"):
        read(path, name="none")


def test_old_threads_of_zed() -> None:
    messages = read(session("zed/store"), name="th0")
    assert said(messages) == ["hello"]
    assert [one.output for one in calls(messages)] == ["none"]


def test_subagents_are_marked() -> None:
    marked = [one for one in read(session("specstory/claude")) if one.subagent]
    assert [one.said() for one in marked] == ["Looking for callers."]


# A cursor saves nothing but what is settled, and notices a rewritten past.


@pytest.mark.parametrize("case", sorted(PERSONS))
def test_going_on_from_a_cursor_gives_the_rest(case: str) -> None:
    reader = by_name(case.split("/")[0])
    first = reader.read(session(case))
    whole = list(first)
    again = reader.read(session(case), since=first.cursor)
    rest = list(again)
    assert again.fell_back == ""
    assert rest == [one for one in whole if one.number >= first.cursor.number]
    assert [one.settled for one in rest] == [False] * len(rest)


def test_a_rewritten_past_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(session("gemini/object").read_bytes())
    first = by_name("gemini").read(path)
    whole = list(first)
    changed = json.loads(path.read_text())
    changed["messages"][1]["content"] = "something else"
    path.write_text(json.dumps(changed))
    again = by_name("gemini").read(path, since=first.cursor)
    assert len(list(again)) == len(whole)
    assert again.fell_back == "the messages before the cursor are no longer the same"


def test_thoughts_are_reasoning() -> None:
    thoughts = [p for m in read(session("gemini/object")) for p in m.parts if type(p) is Reasoning]
    assert thoughts == [Reasoning("Measure\nTime the loader before changing it.")]


def test_referenced_files_are_injected() -> None:
    parts = read(session("gemini/object"))[1].parts
    assert [p.injected for p in parts if type(p) is Text] == [False, True, True, True, True]


def test_aider_diffs_in_fences(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_text(
        "# aider chat started at 2026-03-04 09:00:00\n\n#### go  \n\n```diff\n--- a.py\n+++ a.py\n"
        "@@ ... @@\n-x = 1\n+x = 2\n```\n\n> Applied edit to a.py  \n"
    )
    assert [one.changes for one in calls(read(path))] == [
        (Change("a.py", "edited", "x = 1", "x = 2"),)
    ]
