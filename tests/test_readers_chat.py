"""Message lists: which files are one, who speaks, what tools do, which results are failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkpoint.errors import ReadError
from checkpoint.model import Compaction, Reasoning, Text, ToolCall
from checkpoint.readers import by_name, readers
from checkpoint.readers._base import Head
from checkpoint.readers._chat_calls import give, listed_call, shape_of
from checkpoint.readers._chat_words import is_summary, user_parts

CHAT = by_name("chat")
USER, AGENT = {"role": "user", "content": "make it so"}, {"role": "assistant", "content": "So."}
BLOCK = {"role": "user", "content": [{"type": "text", "text": "so"}]}


def put(path: Path, value: Any) -> Path:
    """Write a value as JSON; a tuple as lines."""
    lines = value if isinstance(value, tuple) else [value]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [USER, AGENT]},
        {"model": "m", "temperature": 0, "messages": [USER]},
        {"messages": [USER, AGENT], "tools": [], "metadata": {"n": 1}},
        [USER, AGENT],
        [BLOCK, AGENT],
        [{"messages": [USER]}, {"messages": [AGENT]}],
        (USER, AGENT),
        ({"session_id": "s", **USER}, {"session_id": "s", **AGENT}),
        ({"messages": [USER, AGENT]}, {"messages": [USER]}),
        USER,
        {"conversations": [{"from": "human", "value": "so"}, {"from": "gpt", "value": "."}]},
        ({"conversations": [{"from": "human", "value": "so"}]},),
        {"input": [{"role": "user", "content": "so"}, {"type": "reasoning", "summary": []}]},
        {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": []}]},
        [{"role": "user", "content": 'talk of "parts": [1], "sessionId": "x" and so on'}],
    ],
)
def test_is_a_message_list(value: Any, tmp_path: Path):
    head = Head.of(put(tmp_path / "a.json", value))
    assert [name for name, one in readers().items() if one.identify(head)] == ["chat"]
    assert list(CHAT.read(head.path))


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"messages": []},
        {"messages": "none"},
        {"name": "pkg", "type": "module"},
        [{"name": "x", "role": "admin", "content": "y"}],
        [{"role": "user", "parts": [{"text": "so"}]}],
        {"info": {}, "messages": [USER]},
        {"trajectory": [], "messages": [USER]},
        {"sessionId": "s", "messages": [USER]},
        (USER, {"type": "session", "id": "x"}),
        ({"role": "user", "message": {"content": "so"}},),
        [
            {
                "role": "user",
                "content": "<task>so</task><environment_details>x</environment_details>",
            }
        ],
        [{"role": "user", "content": [{"type": "toolRequest"}]}],
        [1, 2],
    ],
)
def test_is_none(value: Any, tmp_path: Path):
    assert not CHAT.identify(Head.of(put(tmp_path / "a.json", value)))


def test_a_long_list_is_known_by_its_start(tmp_path: Path):
    long = [{"role": "user", "content": "x" * 700_000}, AGENT]
    assert CHAT.identify(Head.of(put(tmp_path / "a.json", long)))
    assert CHAT.identify(Head.of(put(tmp_path / "b.json", {"messages": [USER, AGENT] * 9000})))


@pytest.mark.parametrize(
    ("words", "origin", "said"),
    [
        ("make it so", "person", "make it so"),
        ("", "person", ""),
        ("<user_query>\nmake it so\n</user_query>", "person", "make it so"),
        ("<task>\nso\n</task>\n<system-reminder>x</system-reminder>", "person", "so"),
        ("<conversation_data></conversation_data>", "person", ""),
        ("<conversation_data>so</conversation_data>", "person", "so"),
        ("<task>a</task> is a tag", "person", "<task>a</task> is a tag"),
        ("<b>bold</b> words", "person", "<b>bold</b> words"),
        ("<system-reminder>x</system-reminder>", "injected", ""),
        ("[Request interrupted by user]", "injected", ""),
        ("[Request interrupted by user for tool use]", "injected", ""),
        ("Request interrupted? No, go on with the rest\nof it", "person", None),
        ("Continue if you have next steps", "injected", ""),
        ("continue", "person", "continue"),
        ("<command-name>/clear</command-name>", "injected", ""),
        ("<command-name>/fix</command-name><command-args>the lid</command-args>", "person",
         "/fix the lid"),
        ("This session is being continued from a previous conversation. We did.", "summary", None),
    ],
)  # fmt: skip
def test_who_speaks(words: str, origin: str, said: str | None):
    parts, found = user_parts([Text(words)])
    own = "\n\n".join(p.text for p in parts if isinstance(p, Text) and not p.injected)
    assert (found, own) == (origin, words if said is None else said)
    assert (
        (type(parts[0]) is Compaction) == (origin == "summary") if parts else not words or not own
    )


@pytest.mark.parametrize(
    ("fields", "category"),
    [
        ({}, "other"),
        ({"cups": 2}, "other"),
        ({"cmd": "make"}, "shell"),
        ({"command": ["make"], "path": "/k"}, "shell"),
        ({"path": "a", "old_string": "1", "new_string": "2"}, "edit"),
        ({"patchText": "*** Begin Patch"}, "edit"),
        ({"filePath": "a", "content": "1"}, "write"),
        ({"filePath": "a"}, "read"),
        ({"todos": [{"content": "x"}]}, "todo"),
        ({"url": "https://k.example"}, "fetch"),
        ({"pattern": "x", "path": "/k"}, "search"),
        ({"question": "Beep?"}, "question"),
        ({"subagent_type": "general", "prompt": "look"}, "subagent"),
    ],
)
def test_a_tool_of_any_name_is_known_by_its_arguments(fields: dict[str, Any], category: str):
    assert shape_of(fields) == category
    assert listed_call("do_it", json.dumps(fields), "c").category == category


@pytest.mark.parametrize(
    ("tool", "target", "output", "failed"),
    [
        ("bash", "make", "3 passed", False),
        ("bash", "make", "no errors: 0 errors found", False),
        ("bash", "make", "", False),
        ("bash", "make", "ok\n[exit code: 0]", False),
        ("bash", "make", "Exit code: 2\nno rule", True),
        ("bash", "make", "no rule\n[Process exited with code 2]", True),
        ("bash", "make", "<returncode>1</returncode>\n<output>x</output>", True),
        ("bash", "make", '{"output": "x", "metadata": {"exit_code": 1}}', True),
        ("bash", "make", '{"output": "x", "metadata": {"exit_code": 0}}', False),
        ("bash", "make", "Traceback (most recent call last):\n  x", True),
        ("bash", "make", "bash: line 1: mkae: command not found", True),
        ("bash", "pip install x", "Building wheels\nERROR: Failed building wheel for x", True),
        ("bash", "cat run.log", "step 1\nERROR: too hot", False),
        ("bash", "make 2>&1 | tail -3", "error: too hot", False),
        ("read", "a.py", "import errors\nError = 1", False),
        ("read", "a.py", "Error: file not found", True),
        ("edit", "a.py", "<tool_use_error>no match</tool_use_error>", True),
        ("edit", "a.py", "Edited a.py", False),
    ],
)
def test_failures(tool: str, target: str, output: str, failed: bool):
    call = listed_call(tool, {"command": target, "path": target}, "c")
    give(call, output)
    assert (call.failed, call.finished) == (failed, True)


def test_the_output_in_an_object_is_taken_out():
    call = listed_call("shell", {"command": "make"}, "c")
    give(call, '{"stdout": "a", "stderr": "b", "exit_code": 3}')
    assert (call.output, call.exit_code) == ("a\nb", 3)


def test_an_edit_that_failed_changes_nothing():
    call = listed_call("edit", {"path": "a", "old_string": "1", "new_string": "2"}, "c")
    assert call.changes
    give(call, "no match", failed=True)
    assert call.changes == ()


def calls(path: Path) -> list[tuple[int, str, str, bool]]:
    found = []
    for message in CHAT.read(path):
        found += [(message.number, one.target, one.output, one.finished) for one in message.calls()]
    return found


def asked(*commands: str, **more: Any) -> dict[str, Any]:
    made = [{"function": {"name": "bash", "arguments": json.dumps({"command": one})},
             **({"id": f"c{n}"} if more.get("named") else {})}
            for n, one in enumerate(commands)]  # fmt: skip
    return {"role": "assistant", "content": "", "tool_calls": made}


def test_results_are_paired_by_id_whatever_their_order(tmp_path: Path):
    results = [{"role": "tool", "tool_call_id": one, "content": one} for one in ("c1", "c0")]
    path = put(tmp_path / "a.json", [USER, asked("a", "b", named=True), *results])
    assert calls(path) == [(1, "a", "c0", True), (1, "b", "c1", True)]


def test_results_without_ids_are_paired_in_order(tmp_path: Path):
    results = [{"role": "tool", "content": one} for one in ("first", "second")]
    path = put(tmp_path / "a.json", [USER, asked("a"), asked("b"), *results, asked("c")])
    assert calls(path) == [(1, "a", "first", True), (2, "b", "second", True), (3, "c", "", False)]


def test_a_result_without_its_call_is_a_problem(tmp_path: Path):
    path = put(tmp_path / "a.json", [USER, {"role": "tool", "tool_call_id": "x", "content": "y"}])
    reading = CHAT.read(path)
    assert len(list(reading)) == 1
    assert [one.what for one in reading.problems] == ["a result without its call"]


def test_thoughts_and_calls_written_into_the_text(tmp_path: Path):
    made = '<tool_call>{"name": "sh", "arguments": {"cmd": "m"}}</tool_call>'
    words = f"<think>Hm.</think>I run it.{made}"
    path = put(tmp_path / "a.json", [USER, {"role": "assistant", "content": words}])
    thought, said, call = list(CHAT.read(path))[1].parts
    assert (thought, said) == (Reasoning("Hm."), Text("I run it."))
    assert isinstance(call, ToolCall)
    assert (call.category, call.target) == ("shell", "m")


def test_all_conversations_of_a_file_or_the_one_that_is_asked_for(tmp_path: Path):
    path = put(
        tmp_path / "a.jsonl", ({"id": "x", "messages": [USER]}, {"messages": [BLOCK, AGENT]})
    )
    assert [one.said() for one in CHAT.read(path)] == ["make it so", "so", "So."]
    assert [one.said() for one in CHAT.read(path, session="2")] == ["so", "So."]
    assert [one.said() for one in CHAT.read(path, session="x")] == ["make it so"]
    with pytest.raises(ReadError, match="holds no conversation '3'"):
        CHAT.read(path, session="3")


def test_a_log_of_requests_says_nothing_twice(tmp_path: Path):
    said = [USER, AGENT, BLOCK, AGENT]
    path = put(tmp_path / "a.jsonl", tuple({"messages": said[:count]} for count in (1, 3, 4)))
    assert [one.said() for one in CHAT.read(path)] == ["make it so", "So.", "so", "So."]


def test_a_summary_is_known_by_its_headings_after_an_empty_message(tmp_path: Path):
    summary = "## Goal\nSo.\n\n## Discoveries\n- x\n\n## Next steps\n- y"
    assert is_summary(summary)
    assert not is_summary("## Goal\nSo.\n\n## Results\n- x")
    answer = {"role": "assistant", "content": summary}
    path = put(tmp_path / "a.json", [USER, answer, {"role": "user", "content": ""}, answer])
    assert [one.origin for one in CHAT.read(path)] == ["person", "agent", "person", "summary"]


def test_a_torn_list_gives_what_is_whole(tmp_path: Path):
    path = put(tmp_path / "a.json", {"messages": [USER, AGENT] * 20})
    raw = path.read_bytes()
    path.write_bytes(raw[: raw.rindex(b"So") + 1])  # within a text
    reading = CHAT.read(path)
    assert [one.said() for one in reading][:39] == ["make it so", "So."] * 19 + ["make it so"]
    assert [one.severity for one in reading.problems] == ["warning"]
