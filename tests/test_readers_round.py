"""One session written in the forms of many agents: the state that is extracted must be the same.

What a form cannot hold is named here, agent by agent; nothing else may differ.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checkpoint.model import Message
from checkpoint.pipeline.summary import summarise
from checkpoint.readers import identify
from checkpoint.settings import load
from tests.writers import WRITERS

CWD = "/home/mara/tidewatch"

CANNOT_HOLD: dict[str, tuple[str, ...]] = {
    "gemini": (),
    "gemini-lines": (),
    "qwen-code": (),
    "cline": ("background",),
    "copilot-cli": ("trigger",),
    "amp": ("background", "trigger"),
    "droid": ("background", "trigger", "exit code"),
    "pi": ("background", "trigger", "exit code"),
    "goose": ("background", "exit code"),
    "openhands": ("background",),
}


@pytest.fixture(scope="module")
def original(demo: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    written: Path = demo.write(CWD, tmp_path_factory.mktemp("original") / "session.jsonl")
    return written


@pytest.fixture(scope="module")
def messages(original: Path) -> list[Message]:
    return list(identify(original).read(original))


def bare(value: Any, without: tuple[str, ...]) -> Any:
    """Leave out the agents' own ids of messages, and what the form cannot hold."""
    if isinstance(value, dict):
        own = {"trigger"} & set(without)
        own |= {"id"} if "message" in value else set()
        return {key: bare(one, without) for key, one in value.items() if key not in own}
    if isinstance(value, list):
        return [bare(one, without) for one in value]
    return value


def state(path: Path, without: tuple[str, ...]) -> dict[str, Any]:
    found = summarise(path, settings=load(path.parent, {})).state.model_dump(mode="json")
    ours = ("session", "cursor") + (("processes", "commands") if "background" in without else ())
    kept = {key: one for key, one in found.items() if key not in ours}
    result: dict[str, Any] = bare(kept, without)
    return result


def heard(message: Message, without: tuple[str, ...]) -> tuple[Any, ...]:
    calls = [
        (
            (call.category, call.target, call.output.rstrip("\n"), call.failed, call.changes),
            None if "exit code" in without else call.exit_code,
            [(todo.text, todo.status) for todo in call.todos],
        )
        for call in message.calls()
    ]
    return message.number, message.said().strip(), message.origin in ("injected", "summary"), calls


@pytest.mark.parametrize("form", WRITERS)
def test_the_messages_are_the_same(form: str, messages: list[Message], tmp_path: Path) -> None:
    agent, write = WRITERS[form]
    path = tmp_path / "session.json"
    path.write_text(write(messages, CWD), encoding="utf-8")
    reader = identify(path)
    assert reader.name == agent
    reading = reader.read(path)
    without = CANNOT_HOLD[form]
    assert [heard(one, without) for one in reading] == [heard(one, without) for one in messages]
    assert list(reading.problems) == []


@pytest.mark.parametrize("form", WRITERS)
def test_the_state_is_the_same(
    form: str, messages: list[Message], original: Path, tmp_path: Path
) -> None:
    path = tmp_path / "session.json"
    path.write_text(WRITERS[form][1](messages, CWD), encoding="utf-8")
    without = CANNOT_HOLD[form]
    assert state(path, without) == state(original, without)
