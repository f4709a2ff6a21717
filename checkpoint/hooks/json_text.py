"""Edit JSON as text: what is not touched keeps every byte.

Other programs' settings are laid out by hand, with their own order, indent, line ends. So nothing
is decoded and written again: the places of the values are found in the text, and text is put in or
taken out there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}]+")


@dataclass
class Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    members: dict[str, Node] = field(default_factory=dict)
    """Of an object."""
    keys: dict[str, int] = field(default_factory=dict)
    """Where each member's key begins."""
    parts: list[Node] = field(default_factory=list)
    """Of an array."""


def parse(text: str) -> Node:
    """Return where the values of a JSON text stand.

    Raises:
        ValueError: it is not JSON (comments are not), or a key stands twice in one object.
    """
    json.loads(text, object_pairs_hook=_once)  # the judge of what is JSON
    return _value(text, _skip(text, 0))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _string_end(text: str, at: int) -> int:
    string = _STRING.match(text, at)
    return string.end() if string else at + 1


def _value(text: str, at: int) -> Node:
    if text[at] == "{":
        return _object(text, at)
    if text[at] == "[":
        return _array(text, at)
    if text[at] == '"':
        return Node(at, _string_end(text, at))
    plain = _PLAIN.match(text, at)
    return Node(at, plain.end() if plain else at + 1)


def _object(text: str, at: int) -> Node:
    node = Node(at, at)
    at = _skip(text, at + 1)
    while text[at] != "}":
        key_at = at
        key_end = _string_end(text, at)
        key = json.loads(text[at:key_end])
        at = _skip(text, _skip(text, key_end) + 1)  # the colon
        node.members[key] = _value(text, at)
        node.keys[key] = key_at
        at = _skip(text, node.members[key].end)
        at = _skip(text, at + 1) if text[at] == "," else at
    node.end = at + 1
    return node


def _array(text: str, at: int) -> Node:
    node = Node(at, at)
    at = _skip(text, at + 1)
    while text[at] != "]":
        node.parts.append(_value(text, at))
        at = _skip(text, node.parts[-1].end)
        at = _skip(text, at + 1) if text[at] == "," else at
    node.end = at + 1
    return node


def at(text: str, *path: str) -> Node | None:
    """Return where the value at a path of keys stands; None if it is not there."""
    node: Node | None = parse(text)
    for key in path:
        node = node.members.get(key) if node else None
    return node


def value(text: str, node: Node) -> Any:
    """Return the value of a node."""
    return json.loads(text[node.start : node.end])


def indent(text: str) -> str:
    """Return what one level is indented by; two spaces if nothing shows it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _shown(text: str, given: Any, level: int) -> str:
    """Return a value as text, its further lines indented for a level."""
    step = indent(text)
    lines = json.dumps(given, indent=step, ensure_ascii=False).split("\n")
    return (_line_end(text) + step * level).join(lines)


def _put_in(text: str, node: Node, last: int | None, new: str, level: int) -> str:
    """Put a member or part in behind the last one, or as the first."""
    step, end = indent(text), _line_end(text)
    if last is not None:
        return f"{text[:last]},{end}{step * level}{new}{text[last:]}"
    inside = f"{end}{step * level}{new}{end}{step * (level - 1)}"
    return f"{text[: node.start + 1]}{inside}{text[node.end - 1 :]}"


def add_member(text: str, path: tuple[str, ...], key: str, given: Any) -> str:
    """Return the text with one more member in the object at a path."""
    node = at(text, *path)
    if node is None or text[node.start] != "{":
        raise ValueError(f"{'.'.join(path) or 'it'} is not an object")
    level = len(path) + 1
    last = max((one.end for one in node.members.values()), default=None)
    new = f"{json.dumps(key, ensure_ascii=False)}: {_shown(text, given, level)}"
    return _put_in(text, node, last, new, level)


def add_part(text: str, path: tuple[str, ...], given: Any) -> str:
    """Return the text with one more part in the array at a path."""
    node = at(text, *path)
    if node is None or text[node.start] != "[":
        raise ValueError(f"{'.'.join(path)} is not a list")
    level = len(path) + 1
    last = node.parts[-1].end if node.parts else None
    return _put_in(text, node, last, _shown(text, given, level), level)


def drop_member(text: str, path: tuple[str, ...], key: str) -> str:
    """Return the text without a member of the object at a path."""
    node = at(text, *path)
    if node is None or key not in node.members:
        return text
    spans = [(node.keys[name], one.end) for name, one in node.members.items()]
    return _cut(text, node, spans, list(node.members).index(key))


def drop_parts(
    text: str, find: Callable[[str], Node | None], ours: Callable[[Any], bool]
) -> tuple[str, bool]:
    """Return the text without those parts of a list that are ours, and whether there was one.

    Args:
        text: the whole text.
        find: finds the list in a text.
        ours: judges a part by its value.
    """
    found = False
    while True:
        node = find(text)
        if node is None or text[node.start] != "[":
            return text, found
        index = next((i for i, one in enumerate(node.parts) if ours(value(text, one))), None)
        if index is None:
            return text, found
        found = True
        text = _cut(text, node, [(one.start, one.end) for one in node.parts], index)


def _cut(text: str, node: Node, spans: list[tuple[int, int]], index: int) -> str:
    if len(spans) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index:
        return text[: spans[index - 1][1]] + text[spans[index][1] :]
    return text[: spans[0][0]] + text[spans[1][0] :]
