"""What the output parsers make of one shell call."""

from __future__ import annotations

from typing import Any

from checkpoint.extractors.tool_outputs import tool_outputs
from checkpoint.model import Message, ToolCall
from checkpoint.settings import shipped
from checkpoint.state import Fact

SETTINGS = shipped()


def told(command: str, output: str, *, failed: bool = False, kind: str = "") -> list[Fact]:
    """Return the facts that a call's output yields, in order; of one kind if it is given."""
    call = ToolCall("bash", "shell", command, output=output, failed=failed)
    facts = list(tool_outputs(Message(1, "assistant", [call], "agent"), SETTINGS))
    return [f for f in facts if not kind or f.kind == kind]


def figures(command: str, output: str, *, failed: bool = False) -> list[tuple[str, ...]]:
    """Return (subject, metric, text, configuration) of each measurement."""
    return [
        tuple(str(f.fields[k]) for k in ("subject", "metric", "text", "configuration"))
        for f in told(command, output, failed=failed, kind="measurement")
    ]


def picked(fact: Fact, *names: str) -> tuple[Any, ...]:
    """Return these fields of a fact."""
    return tuple(fact.fields[name] for name in names)
