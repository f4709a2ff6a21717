"""Content of messages as lists of typed blocks, in the form that several agents took from an API.

Blocks are `text`, `thinking`, `tool_use`, `tool_result`, `image`; names and keys vary a little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from checkpoint.model import Attachment, Category, Part, Reasoning, Text
from checkpoint.readers._assemble import Assembler
from checkpoint.readers._calls import close_call, make_call
from checkpoint.readers._whole import Record, dict_of, list_of, text_of


class Result(NamedTuple):
    """What a call gave back."""

    call: str
    output: str
    failed: bool


def content_text(content: Any) -> str:
    """Return the text of a content: a text, or a list of text blocks or texts."""
    if isinstance(content, str):
        return content
    words = []
    for one in list_of(content):
        if isinstance(one, str):
            words.append(one)
        elif isinstance(one, dict):
            words.append(text_of(one.get("text")) or text_of(one.get("content")))
    return "\n".join(filter(None, words))


def take(
    content: Any, into: Assembler, table: Mapping[str, Category] | None = None
) -> tuple[list[Part], list[Result]]:
    """Return the parts of a message's content, and the results in it.

    An unknown kind of block is a problem.
    """
    parts: list[Part] = []
    results: list[Result] = []
    if isinstance(content, str):
        return ([Text(content)] if content.strip() else []), results
    for block in list_of(content):
        if isinstance(block, str):
            parts.append(Text(block))
        elif isinstance(block, dict):
            _block(block, parts, results, into, table)
    return parts, results


def _block(
    block: Record,
    parts: list[Part],
    results: list[Result],
    into: Assembler,
    table: Mapping[str, Category] | None,
) -> None:
    kind = text_of(block.get("type"))
    if kind in ("text", "input_text", "output_text"):
        if text_of(block.get("text")).strip():
            parts.append(Text(text_of(block.get("text"))))
    elif kind in ("thinking", "reasoning"):
        thought = text_of(block.get("thinking")) or text_of(block.get("text"))
        if thought.strip():
            parts.append(Reasoning(thought))
    elif kind in ("tool_use", "toolCall", "tool-call"):
        name = text_of(block.get("name")) or text_of(block.get("toolName"))
        number = text_of(block.get("id")) or text_of(block.get("toolCallId"))
        keys = [key for key in ("input", "arguments", "args") if key in block]
        given = block[keys[0]] if keys else {}
        parts.append(make_call(name, given, id=number, table=table))
    elif kind in ("tool_result", "tool-result"):
        number = text_of(block.get("tool_use_id")) or text_of(block.get("toolCallId"))
        given = block.get("content", block.get("result"))
        failed = block.get("is_error") is True or block.get("isError") is True
        results.append(Result(number, content_text(given), failed))
    elif kind in ("image", "document", "file", "image_url"):
        media = text_of(dict_of(block.get("source")).get("media_type"))
        name = text_of(block.get("name")) or text_of(block.get("filename"))
        media = media or text_of(block.get("mimeType")) or text_of(block.get("mediaType"))
        parts.append(Attachment(name, media))
    elif kind not in ("redacted_thinking", "redacted-reasoning", "step-start"):
        into.problems.add(f"unknown block {kind!r}", "content", "note")


def give_all(results: list[Result], into: Assembler) -> None:
    """Put results into the calls that wait for them; one without a call is a problem."""
    for result in results:
        call = into.call(result.call)
        if call is None:
            into.problems.add("a result without its call", result.call or "content", "note")
            continue
        close_call(call, result.output, failed=result.failed)
        if result.failed:
            call.changes = ()
        into.close(result.call)
