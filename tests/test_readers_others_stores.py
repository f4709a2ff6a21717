"""Readers of the other agents: packed files, stores that are damaged or written to, discovery."""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from checkpoint.errors import ReadError
from checkpoint.readers import by_name, identify
from checkpoint.readers._open import open_bytes

FIXTURES = Path(__file__).parent / "fixtures" / "readers"


def session(case: str) -> Path:
    return next((FIXTURES / case).glob("session.*"))


def said(path: Path, agent: str = "", name: str = "") -> list[str]:
    reader = by_name(agent) if agent else identify(path)
    return [one.said() for one in reader.read(path, session=name) if one.origin == "person"]


# Packed files.


@pytest.mark.parametrize(
    "case", ["gemini/lines", "aider/runs", "copilot-cli/events", "droid/messages"]
)
def test_packed_with_gzip_reads_the_same(case: str, tmp_path: Path) -> None:
    path = session(case)
    packed = tmp_path / (path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert identify(packed).name == case.split("/")[0]
    assert said(packed) == said(session(case))


def test_a_packed_file_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    rows = [{"type": "session", "version": 3, "id": "p", "timestamp": "2026-03-04T09:00:00Z",
             "cwd": "/x"}]  # fmt: skip
    for number in range(3000):
        message = {"role": "user", "content": f"line {number} {number * 7919}"}
        rows.append({"type": "message", "id": f"m{number}", "timestamp": "", "message": message})
    raw = gzip.compress("".join(json.dumps(one) + "\n" for one in rows).encode())
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(raw[: len(raw) // 2])
    reading = identify(packed).read(packed)
    messages = list(reading)
    assert 100 < len(messages) < 3000
    assert any("breaks off" in one.what for one in reading.problems)


def test_zstd_without_its_package_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00")
    with pytest.raises(ReadError, match=r"install `session-checkpoint\[zstd\]`"):
        identify(path)


def test_zstd_with_its_package_reads_the_same(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(session("pi/tree").read_bytes()))
    assert said(path) == said(session("pi/tree"))


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        open_bytes(tmp_path / "none")


# Damaged stores.


def test_a_store_in_wal_mode_is_read_beside_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    path.write_bytes(session("crush/store").read_bytes())
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    parts = json.dumps([{"type": "text", "data": {"text": "push it"}}])
    writer.execute(
        "INSERT INTO messages VALUES ('m9', 's1', 'user', ?, NULL, 1900000000, 1900000000, NULL,"
        " 'p', 0)", (parts,),
    )  # fmt: skip
    writer.commit()
    assert said(path)[-1] == "push it"
    writer.close()


@pytest.mark.parametrize("case", ["cursor/vscdb", "goose/store", "crush/store", "zed/store"])
@pytest.mark.parametrize("percent", [30, 60, 90])
def test_a_cut_store_is_a_problem_or_an_error_of_ours(
    case: str, percent: int, tmp_path: Path
) -> None:
    raw = session(case).read_bytes()
    path = tmp_path / "session.db"
    path.write_bytes(raw[: len(raw) * percent // 100])
    try:
        reading = by_name(case.split("/")[0]).read(path)
    except ReadError:
        return
    messages = list(reading)
    assert len(reading.problems) or messages


# Discovery.


def put(path: Path, case: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session(case).read_bytes())


STORES = {
    "gemini": (".gemini/tmp/tidepool/chats/session-1.jsonl", "gemini/lines"),
    "qwen-code": (".qwen/projects/-home-mara-tidepool/chats/7c1e-q.jsonl", "qwen-code/chat"),
    "copilot-cli": (".copilot/session-state/c0-1/events.jsonl", "copilot-cli/events"),
    "cursor": (".config/Cursor/User/globalStorage/state.vscdb", "cursor/vscdb"),
    "goose": (".local/share/goose/sessions/sessions.db", "goose/store"),
    "pi": (".pi/agent/sessions/--home-mara--/1_pi-1.jsonl", "pi/tree"),
    "amp": (".local/share/amp/threads/T-1.json", "amp/thread"),
    "droid": (".factory/sessions/-home-mara-tidepool/dr-1.jsonl", "droid/messages"),
    "zed": (".local/share/zed/threads/threads.db", "zed/store"),
    "cline": (
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1772614800000/"
        "api_conversation_history.json",
        "cline/history",
    ),
    "roo-code": (
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1772614800000/"
        "api_conversation_history.json",
        "roo-code/history",
    ),
}
IDS = {
    "gemini": "5f0c1d2e-0000-4000-8000-0000000000a2",
    "qwen-code": "7c1e-q",
    "copilot-cli": "c0-1",
    "cursor": "new",
    "goose": "20260304_1",
    "pi": "pi-1",
    "amp": "T-00000000-1111-4222-8333-444444444444",
    "droid": "dr-1",
    "zed": "th1",
    "cline": "1772614800000",
    "roo-code": "1772614800000",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the places are those of Linux")
@pytest.mark.parametrize("agent", STORES)
def test_sessions_are_found_where_the_agent_keeps_them(agent: str, home: Path) -> None:
    assert list(by_name(agent).find()) == []
    where, case = STORES[agent]
    put(home / where, case)
    if agent == "gemini":
        listed = {"projects": {"/home/mara/tidepool": "tidepool"}}
        (home / ".gemini" / "projects.json").write_text(json.dumps(listed))
    found = {one.session: one for one in by_name(agent).find()}
    assert IDS[agent] in found
    assert found[IDS[agent]].directory == "/home/mara/tidepool"
    assert found[IDS[agent]].updated > 0
    store = found[IDS[agent]]
    words = said(store.path, agent, store.session if agent in ("goose", "zed") else "")
    assert words == said(session(case), agent)


def test_copilot_chat_takes_the_folder_from_beside(home: Path) -> None:
    root = home / ".config" / "Code" / "User" / "workspaceStorage" / "h"
    put(root / "chatSessions" / "cc-1.json", "copilot-chat/object")
    (root / "workspace.json").write_text('{"folder": "file:///home/mara/tide%20pool"}')
    found = list(by_name("copilot-chat").find())
    if sys.platform == "linux":
        assert [(one.session, one.directory) for one in found] == [("cc-1", "/home/mara/tide pool")]
