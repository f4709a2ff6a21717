"""Claude Code: who speaks, what calls did, which records count, where sessions are found."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from checkpoint.errors import ReadError
from checkpoint.model import Message, Text, ToolCall
from checkpoint.readers import by_name, identify
from checkpoint.readers._claude_calls import call_of, give_result, result_text
from checkpoint.readers._claude_origin import said

READER = by_name("claude-code")
SESSION = "0f0f0f0f-1111-4222-8333-444455556666"


def _record(kind: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "cwd": "/home/ada/pump",
        "sessionId": SESSION,
        "version": "2.1.81",
        "gitBranch": "main",
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": f"2026-03-02T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        **more,
    }


def _user(number: int, content: Any, **more: Any) -> dict[str, Any]:
    return _record("user", number, message={"role": "user", "content": content}, **more)


def _says(number: int, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"id": f"m{number}", "role": "assistant", "model": "c", "content": list(blocks)}
    return _record("assistant", number, message=message, **more)


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _bash(call: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def _result(number: int, call: str, content: Any, **more: Any) -> dict[str, Any]:
    return _user(number, [{"type": "tool_result", "tool_use_id": call, "content": content}], **more)


def _write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def _read(path: Path, records: list[dict[str, Any]]) -> list[Message]:
    return list(READER.read(_write(path, records)))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def _command(name: str, words: str) -> str:
    return f"<command-name>/{name}</command-name>\n<command-args>{words}</command-args>"


@pytest.mark.parametrize(
    ("record", "content", "origin", "words"),
    [
        ({}, "", "person", ""),
        ({}, [], "person", ""),
        ({}, "fix it", "person", "fix it"),
        ({}, "a <system-reminder>b</system-reminder> c", "person", "a \n\nc"),
        ({}, "why `<system-reminder>`?", "person", "why `<system-reminder>`?"),
        ({}, [_text("<ide_selection>x</ide_selection>"), _text("this one")], "person", "this one"),
        ({}, _command("review", "the parser"), "person", "the parser"),
        ({}, _command("model", "opus"), "injected", ""),
        ({}, _command("clear", ""), "injected", ""),
        ({}, "<local-command-stdout>Compacted</local-command-stdout>", "injected", ""),
        ({}, "[Request interrupted by user]", "injected", ""),
        ({}, "[Request interrupted by user for tool use]", "injected", ""),
        ({}, "<task-notification><status>completed</status></task-notification>", "injected", ""),
        ({}, '<teammate-message teammate_id="x">do it</teammate-message>', "injected", ""),
        ({}, "<user-prompt-submit-hook>x</user-prompt-submit-hook>", "injected", ""),
        ({}, "Base directory for this skill: /x\n\n# S", "injected", ""),
        ({}, "Implement the following plan:\n\n# P", "injected", ""),
        ({}, "This session is being continued from a previous conversation that", "summary", None),
        ({}, "Warmup", "injected", ""),
        ({"isMeta": True}, "fix it", "injected", ""),
        ({"isVisibleInTranscriptOnly": True}, "fix it", "injected", ""),
        ({"isCompactSummary": True}, "Summary", "summary", "Summary"),
        ({"promptSource": "system"}, "fix it", "injected", ""),
        ({"promptSource": "typed"}, "fix it", "person", "fix it"),
        ({"rowSource": "harness"}, "fix it", "injected", ""),
        ({"origin": {"kind": "task-notification"}}, "fix it", "injected", ""),
        ({"origin": {"kind": "human"}}, "fix it", "person", "fix it"),
        ({"planContent": "# P"}, "# P", "injected", ""),
    ],
)  # fmt: skip
def test_tells_who_speaks(record: dict[str, Any], content: Any, origin: str, words: str | None):
    found = said(record, content)
    assert found.origin == origin
    if words is not None:
        own = [p.text for p in found.parts if isinstance(p, Text) and not p.injected]
        assert "\n\n".join(own) == words


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("text", "error", "twin", "expected"),
    [
        ("ok", None, None, {"output": "ok", "exit_code": 0}),
        ("Exit code 2\nno rule", True, None, {"output": "no rule", "exit_code": 2, "failed": True}),
        ("Exit code 2 is bad", None, None, {"output": "Exit code 2 is bad", "exit_code": 0}),
        ("", None, {"interrupted": True}, {"exit_code": None}),
        ("", None, {"returnCodeInterpretation": "No matches found"}, {"exit_code": None}),
        ("ID: b1", None, {"backgroundTaskId": "b1"}, {"exit_code": None, "background": True}),
        (f"{REFUSED} To tell you how to proceed, the user said:\nnot now", True, None,
         {"refused": True, "failed": True, "person": "not now", "exit_code": None}),
        (f"{REFUSED} STOP what you are doing", True, None, {"refused": True, "person": ""}),
        ("a\n... [9 lines truncated] ...\nb", None, None, {"truncated": True}),
        ("<persisted-output>\nOutput too large", None, {"stdout": "x" * 99},
         {"output": "x" * 99, "truncated": False}),
        ("<persisted-output>\nOutput too large", None, None, {"truncated": True}),
        ("a\n\n<system-reminder>\nb\n</system-reminder>", None, None, {"output": "a"}),
    ],
)  # fmt: skip
def test_takes_a_shell_result(text: str, error: bool | None, twin: Any, expected: dict[str, Any]):
    call = ToolCall("Bash", "shell", "make")
    give_result(call, {"is_error": error}, twin, text)
    assert call.finished
    assert {key: getattr(call, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "fields", "category", "target"),
    [
        ("Bash", {"command": " ls "}, "shell", "ls"),
        ("Read", {"file_path": "/a"}, "read", "/a"),
        ("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "x"}, "edit", "/n.ipynb"),
        ("Grep", {"pattern": "x", "path": "/a"}, "search", "x"),
        ("WebFetch", {"url": "https://x.org", "prompt": "p"}, "fetch", "https://x.org"),
        ("Task", {"description": "d", "prompt": "p"}, "subagent", "d"),
        ("Skill", {"skill": "review"}, "other", "review"),
        ("KillShell", {"shell_id": "b1"}, "other", "b1"),
        ("mcp__db__query", {"query": "select 1"}, "other", "select 1"),
        ("SomethingNew", {}, "other", ""),
        ("Bash", None, "shell", ""),
    ],
)
def test_knows_its_tools(name: str, fields: Any, category: str, target: str):
    call = call_of({"name": name, "id": "t", "input": fields})
    assert (call.category, call.target, call.finished) == (category, target, False)


@pytest.mark.parametrize(
    ("name", "fields", "twin", "failed", "expected"),
    [
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, {}, False, ["edited"]),
        ("Edit", {"file_path": "/a", "old_string": "", "new_string": "y"}, {}, False, ["created"]),
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, {}, True, []),
        ("Write", {"file_path": "/a", "content": "y"}, {"type": "create"}, False, ["created"]),
        ("Write", {"file_path": "/a", "content": "y"}, {"type": "update"}, False, ["edited"]),
        ("Write", {"file_path": "/a", "content": "y"}, None, False, ["written"]),
        ("Bash", {"command": "rm a"}, {}, False, []),
    ],
)
def test_tells_what_an_edit_did(
    name: str, fields: Any, twin: Any, failed: bool, expected: list[str]
):
    call = call_of({"name": name, "id": "t", "input": fields})
    give_result(call, {"is_error": failed}, twin, "done")
    assert [change.action for change in call.changes] == expected


@pytest.mark.parametrize(
    ("text", "twin", "person"),
    [
        ("", {"answers": {}}, ""),
        ("", {"answers": {"Q?": "kPa"}, "annotations": {"Q?": {"notes": "exact"}}}, "kPa\nexact"),
        ('User has answered your questions: "Q?"="say "hi"", "R?"="no". You can now continue with '
         "the user's answers in mind.", None, 'say "hi"\nno'),
        ('Your questions have been answered: "Q?"="a", "R?"="b".', None, "a\nb"),
    ],
)  # fmt: skip
def test_hears_a_person_answer(text: str, twin: Any, person: str):
    fields = {"questions": [{"question": "Q?"}, {"question": "R?"}]}
    call = call_of({"name": "AskUserQuestion", "id": "t", "input": fields})
    give_result(call, {}, twin, text)
    assert call.person == person


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ""),
        ("x", "x"),
        ([_text("a"), _text("b")], "a\nb"),
        ([{"type": "image", "source": {"media_type": "image/png"}}], "[image image/png]"),
        ([{"type": "tool_reference", "tool_name": "T"}], "T"),
        ([7, None, {}], ""),
    ],
)  # fmt: skip
def test_flattens_a_result(content: Any, expected: str):
    assert result_text(content) == expected


@pytest.mark.parametrize(
    ("queue", "after", "expected"),
    [
        ([("enqueue", "more"), ("dequeue", None)], [], ["go"]),
        ([("enqueue", "more"), ("popAll", "more")], [], ["go"]),
        ([("enqueue", "more"), ("remove", None)], [], ["go", "more"]),
        ([("enqueue", "/config"), ("remove", None)], [], ["go"]),
        ([("enqueue", "<task-notification>x"), ("remove", None)], [], ["go"]),
        ([("enqueue", "a"), ("enqueue", "b"), ("remove", None)], [], ["go", "a"]),
        ([("enqueue", "more"), ("remove", None)], [_user(2, "more")], ["go", "more"]),
        ([("enqueue", "more"), ("remove", None)], [_user(2, "else")], ["go", "more", "else"]),
    ],
)
def test_hears_what_was_typed_while_the_agent_worked(
    session: Path, queue: Any, after: list[Any], expected: list[str]
):
    lines = [{"type": "queue-operation", "operation": one, "content": text} for one, text in queue]
    messages = _read(session, [_user(0, "go"), _says(1, _text("ok")), *lines, *after])
    assert [one.said() for one in messages if one.origin == "person"] == expected


def test_parallel_calls_are_no_rewind(session: Path):
    records = [
        _user(0, "go"),
        _says(1, _bash("a", "ls a")),
        _says(2, _bash("b", "ls b")),
        _result(3, "a", "1", parentUuid="u1"),
        _result(4, "b", "2", parentUuid="u2"),
        _says(5, _text("both")),
    ]
    assert [len(one.parts) for one in _read(session, records)] == [1, 1, 1, 1]


def test_two_prompts_typed_before_an_answer_both_count(session: Path):
    records = [
        _user(0, "go"),
        _says(1, _text("ok")),
        _user(2, "a"),
        _user(3, "b", parentUuid="u1"),
        _says(4, _text("both")),
    ]
    assert [one.said() for one in _read(session, records)] == ["go", "ok", "a", "b", "both"]


def test_a_rewind_far_back_is_found_on_going_on(session: Path):
    padding = [_says(number, _text("x" * 4000)) for number in range(4, 120)]
    past = [_user(0, "go"), _says(1, _text("ok")), _user(2, "red"), _says(3, _text("it is red"))]
    reading = READER.read(_write(session, [*past, *padding]))
    assert len(list(reading)) == 120
    records = [
        *past,
        *padding,
        _user(120, "blue", parentUuid="u1"),
        _says(121, _text("it is blue")),
    ]
    again = READER.read(_write(session, records), reading.cursor)
    assert [one.said() for one in again] == ["go", "ok", "blue", "it is blue"]
    assert "rewind" in again.fell_back


def test_records_told_again_count_once(session: Path):
    records = [_user(0, "go"), _says(1, _text("ok"))]
    reading = READER.read(_write(session, [*records, _user(2, "on"), _says(3, _text("yes"))]))
    assert len(list(reading)) == 4
    again = READER.read(
        _write(session, [*records, _user(2, "on"), _says(3, _text("yes")), *records]),
        reading.cursor,
    )
    assert [one.said() for one in again] == ["yes"]
    assert not again.fell_back


def test_a_result_that_comes_late_still_finds_its_call(session: Path):
    records = [_says(0, _bash("a", "make")), *(_user(n, f"and {n}") for n in range(1, 30))]
    first = _read(session, [*records, _result(30, "a", "made")])[0]
    assert first.calls()[0].output == "made"


def test_a_result_without_its_call_is_told(session: Path):
    reading = READER.read(_write(session, [_user(0, "go"), _result(1, "lost", "x")]))
    assert len(list(reading)) == 1
    assert [one.what for one in reading.problems] == ["a tool result without its call"]


def test_a_saved_output_is_read_from_beside(tmp_path: Path):
    path = tmp_path / f"{SESSION}.jsonl"
    saved = tmp_path / SESSION / "tool-results" / "toolu_1.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text("all of it", encoding="utf-8")
    cut = "<persisted-output>\nOutput too large (50KB). Full output saved to: /elsewhere"
    records = [_says(0, _bash("toolu_1", "make"), _bash("../x", "ls")),
               _result(1, "toolu_1", cut), _result(2, "../x", cut)]  # fmt: skip
    calls = _read(path, records)[0].calls()
    assert [call.output for call in calls] == ["all of it", cut]


def test_a_line_of_any_length_is_read_in_bounds(session: Path):
    words = 'say \\ "hi" \u00e4\u4e2d ' * 600_000
    reading = READER.read(_write(session, [_user(0, "go"), _says(1, _text(words)), _user(2, "on")]))
    messages = list(reading)
    assert [len(one.said()) < 500_000 for one in messages] == [True] * 3
    assert messages[1].said().startswith(words[:1000])
    assert messages[1].said().endswith(words[-1000:].lstrip())
    assert {one.what for one in reading.problems} == {"a text is too long; its middle was left out"}


def test_packed_pictures_in_outputs_are_named_only(session: Path):
    picture = f"see data:image/png;base64,{'A' * 40_000} there"
    records = [_says(0, _bash("a", "show")), _result(1, "a", picture), _user(2, "on")]
    assert _read(session, records)[0].calls()[0].output == "see [image/png 30 kB] there"


def test_a_packed_file_is_read_and_gone_on_with(tmp_path: Path):
    records = [_user(0, "go"), _says(1, _text("ok")), _user(2, "on"), _says(3, _text("yes"))]
    path = tmp_path / "session.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in records).encode()))
    assert identify(path).name == "claude-code"
    reading = READER.read(path)
    assert [one.said() for one in reading] == ["go", "ok", "on", "yes"]
    rest = READER.read(path, reading.cursor)
    assert [one.said() for one in rest] == ["yes"]


def test_no_such_file(tmp_path: Path):
    with pytest.raises(ReadError, match=r"none\.jsonl"):
        READER.read(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "summary", "summary": "x", "leafUuid": "y"},
        {"role": "user", "message": {"content": "x"}},
        {"type": "session", "id": "x"},
        {"type": "user", "sessionId": "x", "uuid": "y", "message": {"role": "user", "parts": []}},
    ],
)
def test_does_not_claim(session: Path, line: dict[str, Any]):
    with pytest.raises(ReadError):
        raise ReadError(identify(_write(session, [line])).name.replace("claude-code", ""))
