"""The parts that readers share: edits, calls, times, broken JSON, role headings."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoint.model import Change, Todo
from checkpoint.readers import by_name
from checkpoint.readers._base import Head, Problems
from checkpoint.readers._calls import checklist, make_call, status_of, target_of, todos_of
from checkpoint.readers._edits import patch, search_replace, unified
from checkpoint.readers._whole import at_of, decode


def test_search_replace_blocks() -> None:
    assert search_replace("no block here", "x") == []
    assert search_replace("<<<<<<< SEARCH\na\n=======\nb\n", "x") == []
    text = "<<<<<<< SEARCH\n:start_line:4\n-------\na\n=======\nb\n>>>>>>> REPLACE\n"
    text += "------- SEARCH\n=======\nnew\n+++++++ REPLACE\n"
    assert search_replace(text, "x") == [
        Change("x", "edited", "a", "b"),
        Change("x", "created", "", "new"),
    ]


def test_patches() -> None:
    text = (
        "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n"
        "*** Delete File: d\n*** End Patch"
    )
    assert patch("nothing") == []
    assert patch(text) == [
        Change("a", "created", "", "1"),
        Change("c", "renamed", "x", "y", "b"),
        Change("d", "deleted"),
    ]


def test_unified_diffs() -> None:
    assert unified("words") == []
    text = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
        "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+n\n--- a/z\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n"
    )
    assert unified(text) == [
        Change("x", "edited", "a", "b"),
        Change("y", "created", "", "n"),
        Change("z", "deleted", "o", ""),
    ]


@pytest.mark.parametrize(
    ("text", "todos"),
    [
        ("no list", []),
        (
            "- [x] a\n* [ ] b\n1. [-] c",
            [("a", "completed"), ("b", "pending"), ("c", "in_progress")],
        ),
    ],
)
def test_check_lists(text: str, todos: list[tuple[str, str]]) -> None:
    assert [(one.text, one.status) for one in checklist(text)] == todos


def test_calls_from_arguments() -> None:
    assert make_call("bash", "not json").input == {"input": "not json"}
    assert make_call("shell", {"command": ["bash", "-lc", "ls | wc"]}).target == "ls | wc"
    assert make_call("shell", {"command": ["ls", "a b"]}).target == "ls 'a b'"
    assert make_call("unknown_tool", {"path": "x"}).category == "other"
    assert target_of("read", {"files": [{"path": "a"}, {"path": "b"}]}) == "a, b"
    assert todos_of({"todos": [{"title": "a", "done": True}, 3, ""]}) == [Todo("a", "completed")]
    assert status_of(None) == "pending"


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("", None),
        ("tomorrow", None),
        (True, None),
        (float("nan"), None),
        (1e300, None),
        ("2026-03-04T09:00:00Z", "2026-03-04T09:00:00+00:00"),
        ("2026-03-04 09:00:00", "2026-03-04T09:00:00+00:00"),
        (1772614800, "2026-03-04T09:00:00+00:00"),
        (1772614800000, "2026-03-04T09:00:00+00:00"),
        ("1772614800000", "2026-03-04T09:00:00+00:00"),
    ],
)
def test_times(value: object, iso: str | None) -> None:
    at = at_of(value)
    assert (at.isoformat() if at else None) == iso


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"", None),
        (b"nothing", None),
        (b'{"a": [1, {"b": "x"}, {"b": "y', {"a": [1, {"b": "x"}]}),
        (b'{"a": "x", "b": "\\ud83d"}', {"a": "x", "b": "?"}),
    ],
)
def test_broken_json_gives_what_was_whole(raw: bytes, value: object) -> None:
    problems = Problems()
    assert decode(raw, "here", problems) == value


@pytest.mark.parametrize(
    "text",
    [
        "# A document\n\n## User\n\nhow a user sees it\n\n## Installation\n\nrun it\n",
        "User: only one side\n\nUser: speaks\n",
        "plain words",
    ],
)
def test_a_document_is_no_transcript(text: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(text)
    assert not by_name("markdown").identify(Head.of(path))
