"""The agent's own to-do tool: the whole list, or changes of single items."""

from __future__ import annotations

from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact


@extractor
def todos(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield a `todos` for each call of the to-do tool that came through."""
    if message.subagent:
        return
    for call in message.calls():
        if call.category != "todo" or call.failed or not (call.todos or call.todos_whole):
            continue
        items = [[todo.status, todo.text, todo.id] for todo in call.todos]
        quote = next((t.text for t in call.todos if t.status == "in_progress"), "")
        quote = quote or (call.todos[0].text if call.todos else "")
        yield fact(message, "todos", "", quote, Authority.TODO, items=items, whole=call.todos_whole)
