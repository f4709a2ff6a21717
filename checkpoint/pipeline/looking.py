"""Where a line of the document comes from: its evidence, and what was said around it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checkpoint.errors import CheckpointError
from checkpoint.model import Attachment, Compaction, Message, Reasoning, Text, ToolCall
from checkpoint.pipeline.lines import line, standing
from checkpoint.pipeline.summary import redactor
from checkpoint.readers import identify
from checkpoint.settings import Settings
from checkpoint.state import Item, State

_MARK = re.compile(r"\[?#(\d+)\]?")


@dataclass(frozen=True)
class Looked:
    """One thing of the state that was asked for."""

    kind: str
    item: Item


def lookup(state: State, asked: str) -> list[Looked]:
    """Return what is meant by an id, by its beginning, by a mark such as `#4592`, or by words.

    The first of these that finds anything decides; a mark finds all that cites the message. The
    order is that of the document.

    Raises:
        CheckpointError: nothing is meant.
    """
    things = [Looked(kind, item) for kind, item in standing(state)]
    wanted = asked.strip().casefold()
    found = [thing for thing in things if thing.item.id.casefold() == wanted]
    if not found and wanted:
        found = [thing for thing in things if thing.item.id.casefold().startswith(wanted)]
    mark = _MARK.fullmatch(asked.strip())
    if not found and mark:
        number = int(mark[1])
        found = [t for t in things if any(e.message == number for e in t.item.evidence)]
    if not found and len(wanted) >= 3:
        found = [thing for thing in things if wanted in line(thing.item).casefold()]
    if not found:
        raise CheckpointError(
            f"no fact of this checkpoint is called {asked!r}, cites it or says it; "
            "`checkpoint why '#12'` asks by message, `checkpoint show --format json` lists the ids"
        )
    return found


def neighbours(
    path: Path,
    *,
    settings: Settings,
    around: Iterable[int],
    agent: str | None = None,
    session: str = "",
    reach: int = 1,
    longest: int = 600,
) -> dict[int, str]:
    """Return the messages around some numbers, as masked plain text, by number.

    Args:
        path: the session, as it was given to `summarise`.
        settings: where the user's own rules of redaction lie.
        around: numbers of messages.
        agent: read it as this agent's.
        session: which one, in a store of many.
        reach: how many messages before and after each.
        longest: longer messages are cut in the middle, in characters.

    Raises:
        ReadError: the session can no longer be read.
    """
    wanted = {n + d for n in around for d in range(-reach, reach + 1) if n + d >= 0}
    if not wanted:
        return {}
    rules = redactor(settings)
    end = max(wanted)
    found: dict[int, str] = {}
    for message in identify(path, agent).read(path, None, session):
        if message.number > end:
            break
        if message.number in wanted:
            found[message.number] = _cut(rules.text(_plain(message)), longest)
    return found


def _plain(message: Message) -> str:
    who = message.role if message.origin in ("person", "agent") else message.origin
    said = [text for part in message.parts if (text := _part(part)).strip()]
    return f"{who}: " + "\n".join(said)


def _part(part: Text | Reasoning | ToolCall | Compaction | Attachment) -> str:
    if isinstance(part, ToolCall):
        lines = [f"[{part.tool}] {part.target}"]
        lines += [f"{todo.status}: {todo.text}" for todo in part.todos]
        lines += [f"{change.action} {change.path}" for change in part.changes]
        lines.append(f"{'failed: ' if part.failed else ''}{part.output}")
        lines.append(f"person: {part.person}" if part.person else "")
        return "\n".join(line for line in lines if line.strip())
    if isinstance(part, Compaction):
        return "(the agent's memory was compacted here)"
    if isinstance(part, Attachment):
        return f"(attached: {part.name})"
    return "" if isinstance(part, Reasoning) else part.text


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half:,} characters left out) ...\n{text[-half:]}"
