"""opencode: prompts and who wrote them, compactions, tools and their states, torn exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkpoint.model import Compaction, Message, Text, ToolCall
from checkpoint.readers import by_name, identify
from checkpoint.readers._base import MAX_TEXT
from checkpoint.readers._opencode import unquoted
from checkpoint.readers._opencode_calls import call_of
from checkpoint.readers._opencode_records import part_of

FIXTURES = Path(__file__).parent / "fixtures" / "readers" / "opencode"
OPENCODE = by_name("opencode")
T = 1772442000000


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def message(number: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    times = {"created": T + number * 1000} | ({"completed": T} if role == "assistant" else {})
    info = {"id": f"msg_{number:04d}", "role": role, "time": times, **more}
    named = [{"id": f"prt_{number:04d}{place}", **part} for place, part in enumerate(parts)]
    return {"info": info, "parts": named}


def export(path: Path, *messages: dict[str, Any], **about: Any) -> Path:
    info = {"id": "ses_one", "directory": "/k", "version": "1.18.33", **about}
    path.write_text(json.dumps({"info": info, "messages": list(messages)}), encoding="utf-8")
    return path


def heard(messages: list[Message]) -> list[tuple[int, str, str, str]]:
    return [(one.number, one.role, one.origin, one.said()) for one in messages]


def bare(messages: list[Message]) -> list[bytes]:
    return [msgspec.json.encode(one) for one in messages]


def test_a_database_says_what_the_export_says():
    stored = bare(list(OPENCODE.read(FIXTURES / "database" / "session.db")))
    assert stored == bare(list(OPENCODE.read(FIXTURES / "export" / "session.json")))


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("go", "go"),
        ('"go"', '"go"'),
        ('"', '"'),
        ('"make it so"', "make it so"),
        ('"make it so"\n', "make it so"),
        ('"say \\"hi\\" to it"', 'say "hi" to it'),
        ('"make it so"\na log\nof it', "make it so\na log\nof it"),
        ('"one thing" and "another"', '"one thing" and "another"'),
        ('"not closed', '"not closed'),
        ('a "b c"', 'a "b c"'),
    ],
)
def test_quotes_around_a_prompt(typed: str, own: str):
    assert unquoted(typed) == own


FRAME = (
    """# Harness System Context

You are **Ro**, powered by **opencode**, operating as a managed agent.

- **Agent Name:** Ro
- **Working Directory:** /k
- **Git Branch:** main
- **Session ID:** 12

## Rules

"""
    + "Keep the rules. " * 50
)

REPORT = (
    "Provide a short synopsis of what you just did in this exact format:\n\n**Summary:** [one]\n\n"
    + "Be factual. " * 60
    + "\n- If nothing was done, respond with ONLY the text: NOTHING_DONE"
)


@pytest.mark.parametrize(
    ("part", "origin", "said"),
    [
        (text("make it so"), "person", "make it so"),
        (text("make it so", synthetic=True), "injected", ""),
        (text("make it so", ignored=True), "injected", ""),
        (text("Continue if you have next steps"), "injected", ""),
        (text("<system-reminder>Plan</system-reminder>"), "injected", ""),
        (text("so<system-reminder>Plan</system-reminder>"), "person", "so"),
        (text(FRAME), "injected", ""),
        (text(f"{FRAME}\n\n# User Request\n\nmake it so\n"), "person", "make it so"),
        (text(f"{FRAME}\n\n## Tasks\n\nDo a.md\n"), "person", "Do a.md"),
        (text(f"{FRAME}\n<user_request>\nso\n</user_request>\nBye."), "person", "so"),
        (text(f"{FRAME}\n```md\n# Task\nno\n```\n"), "injected", ""),
        (text(REPORT), "injected", ""),
        # a person's own well-ordered prompt, however long
        (text("# Context\n\nA kettle.\n\n# Task\n\nFix it." + " Now." * 300), "person", None),
        (text("You are a senior engineer. Fix it." + " Now." * 300), "person", None),
        ({"type": "compaction", "auto": False}, "injected", ""),
        ({"type": "subtask", "prompt": "look around"}, "injected", ""),
        ({"type": "file", "url": "data:image/png;base64,AAAA", "mime": "image/png"}, "person", ""),
    ],
)
def test_who_wrote_a_user_message(
    part: dict[str, Any], origin: str, said: str | None, tmp_path: Path
):
    read = list(OPENCODE.read(export(tmp_path / "a.json", message(0, "user", part))))
    assert read[0].origin == origin
    assert read[0].said() == (part["text"].strip() if said is None else said)


def test_words_sent_again_after_a_compaction_are_not_the_persons(tmp_path: Path):
    cut = {"type": "compaction", "auto": True, "overflow": True}
    path = export(
        tmp_path / "a.json",
        message(0, "user", text("look at the picture")),
        message(1, "user", cut),
        message(2, "assistant", text("## Goal"), summary=True),
        message(3, "user", text("look at the picture\n[Attached image/png: a.png]")),
        message(4, "assistant", text("I look.")),
        message(5, "user", text("look at the picture")),
    )
    assert [(one.number, one.origin) for one in OPENCODE.read(path)] == [
        (0, "person"), (1, "injected"), (2, "summary"), (3, "injected"), (4, "agent"),
        (5, "injected"),
    ]  # fmt: skip
    path = export(
        path,
        message(0, "user", text("go on")),
        message(1, "user", cut),
        message(2, "assistant", text("## Goal"), summary=True),
        message(3, "user", text("stop")),
        message(4, "user", text("go on")),
    )
    origins = [one.origin for one in OPENCODE.read(path)]
    assert origins == ["person", "injected", "summary", "person", "person"]


def test_a_summary_without_a_mark_is_a_compaction(tmp_path: Path):
    path = export(tmp_path / "a.json", message(0, "assistant", text("We did."), summary=True))
    assert next(iter(OPENCODE.read(path))).parts == [Compaction(), Text("We did.")]


def test_a_childs_user_is_the_agent(tmp_path: Path):
    path = export(tmp_path / "a.json", message(0, "user", text("find it")), parentID="ses_main")
    reading = OPENCODE.read(path)
    assert [(one.origin, one.subagent) for one in reading] == [("agent", "ses_one")]
    assert reading.head.parent == "ses_main"


def test_what_was_taken_back_is_left_out(tmp_path: Path):
    said = [message(n, "user", text(f"a{n}"), text(f"b{n}")) for n in range(4)]
    path = export(tmp_path / "a.json", *said, revert={"messageID": "msg_0002"})
    assert [one.id for one in OPENCODE.read(path)] == ["msg_0000", "msg_0001"]
    revert = {"messageID": "msg_0002", "partID": "prt_00021"}
    path = export(path, *said, revert=revert)
    assert [one.said() for one in OPENCODE.read(path)][2:] == ["a2"]
    path = export(path, *said, revert={"messageID": "msg_9999"})
    assert len(list(OPENCODE.read(path))) == 4


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "pending", "input": {}, "raw": ""}, {"finished": False}),
        ({"status": "running", "input": {"command": "m"}}, {"finished": False, "target": "m"}),
        ({"status": "completed", "output": "ok", "metadata": {"exit": 0}}, {"exit_code": 0}),
        ({"status": "completed", "output": "", "metadata": {"exit": 2}}, {"failed": True}),
        ({"status": "completed", "output": "", "metadata": {"exit": True}}, {"exit_code": None}),
        ({"status": "completed", "metadata": {"truncated": True}}, {"truncated": True}),
        ({"status": "error", "error": "bad"}, {"failed": True, "output": "bad", "refused": False}),
        (
            {"status": "completed", "metadata": {"exit": None}, "output": "x\n\n<bash_metadata>\n"
             "bash tool terminated command after exceeding timeout 9 ms\n</bash_metadata>"},
            {"failed": True},
        ),
        (
            {"status": "error", "error": "The user rejected permission to use this specific tool "
             "call with the following feedback: not there\nnever"},
            {"refused": True, "person": "not there\nnever"},
        ),
        (
            {"status": "error", "error": "The user rejected permission to use this specific tool "
             "call."},
            {"refused": True, "person": ""},
        ),
        ({"status": 7, "input": [], "metadata": 3}, {"finished": False}),
    ],
)  # fmt: skip
def test_the_state_of_a_call(state: dict[str, Any], expected: dict[str, Any]):
    call = call_of(part_of({"type": "tool", "tool": "bash", "callID": "c", "state": state}))
    assert {name: getattr(call, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("tool", "given", "category", "target"),
    [
        ("bash", {"command": "make"}, "shell", "make"),
        ("read", {"filePath": "/a"}, "read", "/a"),
        ("list", {"path": "/d"}, "read", "/d"),
        (
            "multiedit",
            {"filePath": "/a", "edits": [{"oldString": "1", "newString": "2"}]},
            "edit",
            "/a",
        ),
        (
            "patch",
            {"patchText": "*** Begin Patch\n*** Add File: b\n+1\n*** End Patch"},
            "edit",
            "b",
        ),
        ("write", {"filePath": "/a", "content": "1"}, "write", "/a"),
        ("grep", {"pattern": "x", "path": "/d"}, "search", "x"),
        ("glob", {"pattern": "*.py"}, "search", "*.py"),
        ("webfetch", {"url": "https://k.example"}, "fetch", "https://k.example"),
        ("websearch", {"query": "kettles"}, "fetch", "kettles"),
        ("task", {"description": "look", "prompt": "Look."}, "subagent", "look"),
        ("question", {"questions": [{"question": "Beep?"}]}, "question", "Beep?"),
        ("skill", {"name": "tea"}, "other", "tea"),
        ("kettle_boil", {"cups": 1}, "other", ""),
    ],
)
def test_tools(tool: str, given: dict[str, Any], category: str, target: str):
    call = call_of(
        part_of({"tool": tool, "state": {"status": "completed", "input": given, "output": "ok"}})
    )
    assert (call.category, call.target) == (category, target)
    assert bool(call.changes) == (category in ("edit", "write"))


def test_a_list_that_was_read_is_the_list():
    state = {"status": "completed", "output": '[{"content": "a", "status": "completed"}]'}
    call = call_of(part_of({"tool": "todoread", "state": state}))
    assert [(one.text, one.status) for one in call.todos] == [("a", "completed")]


def test_long_texts_and_pictures_are_bounded(tmp_path: Path):
    long = "x" * (MAX_TEXT + 5000)
    state = {"status": "completed", "input": {"filePath": "a", "content": long}, "output": long}
    picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64," + long}
    call = {"type": "tool", "tool": "write", "state": state}
    path = export(tmp_path / "a.json", message(0, "user", picture), message(1, "assistant", call))
    reading = OPENCODE.read(path)
    assert sum(len(one) for one in bare(list(reading))) < 4 * MAX_TEXT
    assert [one.what for one in reading.problems] == ["a text is too long; its middle was left out"]


@pytest.mark.parametrize("part", [0.2, 0.4, 0.5, 0.6, 0.8, 0.97])
def test_a_torn_export_gives_what_is_whole(part: float, tmp_path: Path):
    raw = (FIXTURES / "export" / "session.json").read_bytes()
    whole = bare(list(OPENCODE.read(FIXTURES / "export" / "session.json")))
    path = tmp_path / "torn.json"
    path.write_bytes(raw[: int(len(raw) * part)])
    reading = OPENCODE.read(path)
    read = list(reading)
    given = {one["info"]["id"] for one in json.loads(raw)["messages"]}
    begun = sum(raw.find(f'"id": "{one}"'.encode()) < len(raw) * part for one in given)
    assert min(begun, len(whole)) - 1 <= len(read) <= len(whole)
    ids = {msgspec.json.decode(one)["id"]: one for one in whole}
    same = sum(ids.get(one.id) == msgspec.json.encode(one) for one in read)
    assert same >= len(read) - 3  # the torn one, and the last two, which may still change
    assert "the JSON breaks off; what was whole before that was read" in [
        one.what for one in reading.problems
    ]


@pytest.mark.parametrize(
    "raw", [b'\xef\xbb\xbf{"info": {"id": "ses_one"}, "messages": []}',
            b'{"info": {"id": "ses_one", "cost": NaN, "title": "\\ud83d"}, "messages": []}'],
)  # fmt: skip
def test_what_strict_decoders_refuse_is_read(raw: bytes, tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    reading = identify(path).read(path)
    assert list(reading) == []
    reading.head.title.encode("utf-8")
    assert (reading.head.id, list(reading.problems)) == ("ses_one", [])


def test_calls_of_a_failed_edit_change_nothing():
    state = {"status": "error", "input": {"filePath": "a", "oldString": "1", "newString": "2"},
             "error": "no match"}  # fmt: skip
    call: ToolCall = call_of(part_of({"tool": "edit", "state": state}))
    assert (call.target, call.changes, call.failed) == ("a", (), True)
