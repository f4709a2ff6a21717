"""Codex: commands and patches in all their forms, outputs unwrapped, who speaks, what counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkpoint.model import Compaction, Message, Text, ToolCall
from checkpoint.readers import by_name
from checkpoint.readers._codex_calls import call_of, command_line, event_changes, give_result
from checkpoint.readers._codex_origin import user_parts
from checkpoint.readers._codex_outputs import answers, flatten, unwrap
from checkpoint.readers._codex_script import calls

READER = by_name("codex")
ADD = "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"
UPDATE = "*** Begin Patch\n*** Update File: b.md\n@@\n-x\n+y\n*** End Patch"


def _call(name: str, arguments: Any, **more: Any) -> ToolCall:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return call_of({"type": "function_call", "name": name, "arguments": given, **more})


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (None, ""),
        ([], ""),
        ("", ""),
        (" ls -l ", "ls -l"),
        (["bash", "-lc", "ls | wc"], "ls | wc"),
        (["/bin/zsh", "-c", "ls"], "ls"),
        (["powershell.exe", "-NoProfile", "-Command", "dir"], "dir"),
        (["cmd", "/c", "dir"], "dir"),
        (["git", "commit", "-m", "a b"], "git commit -m 'a b'"),
        (["bash", "script.sh"], "bash script.sh"),
        (["python", "-c", "print(1)"], "python -c 'print(1)'"),
        (["ls", 3], "ls"),
    ],
)
def test_shows_a_command_as_it_would_be_typed(command: Any, expected: str):
    assert command_line(command) == expected


@pytest.mark.parametrize(
    ("call", "category", "target", "changes"),
    [
        (_call("shell", {"command": ["bash", "-lc", "ls"]}), "shell", "ls", []),
        (_call("exec_command", {"cmd": "ls"}), "shell", "ls", []),
        (_call("shell_command", {"command": "ls"}), "shell", "ls", []),
        (_call("shell", "{not json"), "shell", "", []),
        (_call("shell", {"command": ["apply_patch", ADD]}), "edit", "a.md", ["created a.md"]),
        (
            _call("exec_command", {"cmd": f"apply_patch <<'EOF'\n{UPDATE}\nEOF"}),
            "edit",
            "b.md",
            ["edited b.md"],
        ),
        (
            _call(
                "shell",
                {"command": ["bash", "-lc", f"cd /x && apply_patch <<'EOF'\n{UPDATE}\nEOF"]},
            ),
            "edit",
            "b.md",
            ["edited b.md"],
        ),
        (
            _call("exec_command", {"cmd": f"make && apply_patch <<'EOF'\n{ADD}\nEOF"}),
            "shell",
            f"make && apply_patch <<'EOF'\n{ADD}\nEOF",
            ["created a.md"],
        ),
        (_call("apply_patch", {"input": UPDATE}), "edit", "b.md", ["edited b.md"]),
        (_call("apply_patch", "no patch"), "edit", "", []),
        (
            call_of({"type": "custom_tool_call", "name": "apply_patch", "input": ADD}),
            "edit",
            "a.md",
            ["created a.md"],
        ),
        (
            call_of({"type": "local_shell_call", "action": {"command": ["ls", "-l"]}}),
            "shell",
            "ls -l",
            [],
        ),
        (_call("view_image", {"path": "/a.png"}), "read", "/a.png", []),
        (_call("spawn_agent", {"message": "look"}), "subagent", "look", []),
        (_call("create_issue", {"title": "x"}, namespace="mcp__t__"), "other", "", []),
        (_call("update_plan", {"plan": [{"step": "x", "status": "pending"}]}), "todo", "", []),
        (_call("request_user_input", {"questions": [{"question": "Q?"}]}), "question", "Q?", []),
    ],
)
def test_knows_its_tools(call: ToolCall, category: str, target: str, changes: list[str]):
    assert (call.category, call.target) == (category, target)
    assert [f"{one.action} {one.path}" for one in call.changes] == changes


HEADER = "Chunk ID: a1\nWall time: 1.0 seconds\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (None, {"text": "", "exit_code": None, "failed": False}),
        ("plain", {"text": "plain", "exit_code": None}),
        ("Output: is a word\n", {"text": "Output: is a word\n"}),
        ('{"output":"a\\n","metadata":{"exit_code":0}}', {"text": "a\n", "exit_code": 0}),
        ('{"output":"a","metadata":{"exit_code":3}}', {"exit_code": 3, "failed": True}),
        ('{"a":1}', {"text": '{"a":1}', "exit_code": None}),
        ('{"output":', {"text": '{"output":', "exit_code": None}),
        (
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nno",
            {"text": "no", "exit_code": 1, "failed": True},
        ),
        (
            "Process exited with code 0\nOutput:\nyes",
            {"text": "yes", "exit_code": 0, "failed": False},
        ),
        (
            HEADER + "Process exited with code -1\nOriginal token count: 1\nOutput:\nx",
            {"text": "x", "exit_code": -1},
        ),
        (
            HEADER + "Process running with session ID 7\nOutput:\nx",
            {"running": "7", "truncated": True},
        ),
        (
            "Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n",
            {"text": "", "running": "3"},
        ),
        (
            "Script failed\nWall time 0.1 seconds\nOutput:\nx",
            {"text": "x", "failed": True, "exit_code": None},
        ),
        (
            "Script completed\nWall time 0.1 seconds\nOutput:\nx",
            {"failed": False, "exit_code": None},
        ),
        ("Exit code: 0\nTotal output lines: 900\nOutput:\na", {"text": "a", "truncated": True}),
        ("a …12 tokens truncated… b", {"truncated": True}),
        ("exec command rejected by user", {"refused": True, "failed": True}),
        ("the form was rejected by the server for this user", {"refused": False, "failed": False}),
        ("apply_patch verification failed: no such file", {"failed": True}),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:x"}],
            {"text": "a\n[input_image]"},
        ),
        ({"content": "a", "success": False}, {"text": "a", "failed": True}),
    ],
)
def test_unwraps_an_output(output: Any, expected: dict[str, Any]):
    found = unwrap(output)
    assert {key: getattr(found, key) for key in expected} == expected


def test_a_failed_patch_changed_nothing():
    call = call_of({"type": "custom_tool_call", "name": "apply_patch", "input": UPDATE})
    give_result(call, unwrap("apply_patch verification failed: no such file"))
    assert (call.failed, call.changes) == (True, ())


@pytest.mark.parametrize(
    ("script", "printed", "code"),
    [
        ("const r = await tools.exec_command({cmd:'a'}); text(r.output)", "exit:1", None),
        (
            "const r = await tools.exec_command({cmd:'a'}); text(`exit:${r.exit_code}`)",
            "x\nexit:1",
            1,
        ),
        (
            "const r = await tools.exec_command({cmd:'a'}); text(`exit:${r.exit_code}`)",
            "exit:1\nx",
            None,
        ),
        (
            "await tools.exec_command({cmd:'a'}); tools.exec_command({cmd:'b'}).exit_code",
            "exit:1",
            None,
        ),
    ],
)
def test_a_script_tells_an_exit_code(script: str, printed: str, code: int | None):
    call = call_of({"type": "custom_tool_call", "name": "exec", "input": script})
    give_result(call, unwrap(f"Script completed\nWall time 0.1 seconds\nOutput:\n{printed}"))
    assert call.exit_code == code


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("text('tools.exec_command')", []),
        (
            'tools.exec_command({cmd:"ls", yield_time_ms:1e3})',
            [("exec_command", {"cmd": "ls", "yield_time_ms": 1000.0})],
        ),
        (
            "tools.f({'a':[1,-2.5,null,true],b:{c:'d',},})",
            [("f", {"a": [1, -2.5, None, True], "b": {"c": "d"}})],
        ),
        ("tools.f(`a\n$5 \\` b`)", [("f", "a\n$5 ` b")]),
        ("tools.f(String.raw`a\\n`)", [("f", "a\\n")]),
        (r"tools.f('a\n\x41\u0042\'')", [("f", "a\nAB'")]),
        ("tools.f({cmd: name, a: 1})", [("f", {"cmd": None, "a": 1})]),
        ("tools.f(`a ${b}`)", [("f", None)]),
        ("tools.f({cmd: a + b})", [("f", None)]),
        ("tools.f('never closed", [("f", None)]),
        ("tools.f(" + "[" * 5000, [("f", None)]),
        ("tools.a(1); /* x */ tools.b( // y\n 2)", [("a", 1), ("b", 2)]),
    ],
)
def test_reads_the_calls_of_a_script(script: str, expected: list[Any]):
    assert calls(script) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (None, []),
        ({"/a": {"type": "add", "content": "x"}}, [("created", "/a", "", "x")]),
        ({"/a": {"add": {"content": "x"}}}, [("created", "/a", "", "x")]),
        ({"/a": {"type": "delete", "content": "x"}}, [("deleted", "/a", "x", "")]),
        (
            {"/a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n"}},
            [("edited", "/a", "x", "y")],
        ),
        (
            {"/a": {"type": "update", "unified_diff": "", "move_path": "/b"}},
            [("renamed", "/b", "", "")],
        ),
    ],
)
def test_takes_the_changes_of_an_event(changes: Any, expected: list[Any]):
    assert [(c.action, c.path, c.old, c.new) for c in event_changes(changes)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("no json", ""),
        ('{"answers":{"a":{"answers":["kPa","user_note: exact"]},"b":"no"}}', "kPa\nexact\nno"),
    ],
)
def test_hears_a_person_answer(text: str, expected: str):
    assert answers(text) == expected


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("fix it", ["fix it"]),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", []),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>", []),
        ("<turn_aborted>\nx\n</turn_aborted>", []),
        (
            "# Context from my IDE setup:\n\n## File: a\n\n## My request for Codex:\nfix it\n",
            ["fix it"],
        ),
        (
            "# Files mentioned by the user:\n\n## a: /a\n",
            ["# Files mentioned by the user:\n\n## a: /a\n"],
        ),
        ("## My request for Codex:\nquoted", ["## My request for Codex:\nquoted"]),
    ],
)
def test_tells_a_person_from_the_program(text: str, own: list[str]):
    parts = user_parts([{"type": "input_text", "text": text}])
    assert [p.text for p in parts if isinstance(p, Text) and not p.injected] == own


def _line(record: str, seconds: float = 0.0, **payload: Any) -> dict[str, Any]:
    minute, second = divmod(seconds, 60)
    at = f"2026-03-02T09:{int(minute):02d}:{second:06.3f}Z"
    return {"timestamp": at, "type": record, "payload": payload}


def _said(role: str, text: str, seconds: float = 0.0) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return _line("response_item", seconds, type="message", role=role, content=content)


def _typed(text: str) -> dict[str, Any]:
    return _line("event_msg", type="user_message", message=text)


def _shell(number: str, seconds: float = 0.0) -> dict[str, Any]:
    return _line(
        "response_item",
        seconds,
        type="function_call",
        name="exec_command",
        call_id=number,
        arguments='{"cmd":"ls"}',
    )


def _out(number: str, seconds: float = 0.0) -> dict[str, Any]:
    return _line("response_item", seconds, type="function_call_output", call_id=number, output="x")


def _read(tmp_path: Path, records: list[dict[str, Any]]) -> list[Message]:
    path = tmp_path / "rollout.jsonl"
    meta = _line("session_meta", id="s", cwd="/home/ada/pump", cli_version="0.98.0")
    lines = [json.dumps(one) for one in (meta, *records)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(READER.read(path))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([_said("assistant", "a"), _said("assistant", "b")], [1, 1]),
        ([_said("assistant", "a"), _shell("1", 1), _out("1", 2)], [2]),
        ([_said("assistant", "a"), _shell("1", 9), _out("1", 9)], [1, 1]),
        ([_shell("1"), _shell("2"), _out("1"), _out("2"), _said("assistant", "a")], [2, 1]),
        ([_shell("1"), _out("1"), _shell("2"), _out("2")], [1, 1]),
        ([_said("assistant", "a"), _line("event_msg", type="token_count"), _shell("1")], [1, 1]),
    ],
)
def test_what_one_answer_holds(tmp_path: Path, records: list[dict[str, Any]], expected: list[int]):
    assert [len(one.parts) for one in _read(tmp_path, records)] == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([_said("user", "a")], ["person"]),
        ([_said("user", "a"), _typed("a")], ["person"]),
        (
            [_said("user", "a"), _typed("a"), _said("user", "b"), _said("user", "c"), _typed("c")],
            ["person", "injected", "person"],
        ),
        ([_typed("a")], ["person"]),
        ([_said("user", "Warning: it burns")], ["injected"]),
        ([_said("user", "Warning: it burns"), _typed("Warning: it burns")], ["person"]),
        ([_said("developer", "a")], ["injected"]),
        ([_line("event_msg", type="user_message", message="a", kind="environment_context")], []),
    ],
)
def test_an_event_tells_who_typed(tmp_path: Path, records: Any, expected: list[str]):
    assert [one.origin for one in _read(tmp_path, records)] == expected


def test_what_a_compaction_kept_is_not_read_again(tmp_path: Path):
    old = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}]
    cut = _line("compacted", message="", replacement_history=old)
    messages = _read(tmp_path, [_said("user", "a"), cut])
    assert [one.said() for one in messages] == ["a", ""]
    assert messages[1].parts == [Compaction()]


def test_flattens_what_it_does_not_know():
    assert flatten([{"type": "input_audio"}, "x", 3]) == "[input_audio]\nx"
