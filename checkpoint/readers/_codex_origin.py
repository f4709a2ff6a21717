"""Codex: whose words a `user` message holds; a program's blocks stand beside a person's.

Marks seen in 0.20 to 0.171, in the CLI, the desktop app and the editor extension.
"""

from __future__ import annotations

import re
from typing import Any

from checkpoint.model import Attachment, Part, Text
from checkpoint.readers._origin import split_injected
from checkpoint.readers._whole import list_of, text_of

SUMMARY_START = "Another language model started to solve this problem and produced a summary"
SUMMARY_END = "to assist with your own analysis:\n"
"""What stands between the words around a summary and the summary."""

_PROGRAM = (
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "<codex_internal_context",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<model_switch>",
    "<multi_agent_mode>",
    "<app-context>",
    "<user_action>",
    "<proposed_plan>",
    "Warning: ",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "## Memory",
    SUMMARY_START,
)
_IMAGE = re.compile(r"\s*(?:<image\b[^>]*>|</image>)\s*")
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)
_WRAPPED = (
    "# Files mentioned by the user:",
    "# Context from my IDE setup:",
    "# In app browser:",
    "# Selected text",
    "# Applications mentioned by the user:",
)
_SHELL = re.compile(r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>", re.DOTALL)
_SHELL_RESULT = re.compile(r"<result>\n?(.*?)\n?</result>", re.DOTALL)


def user_parts(content: Any) -> list[Part]:
    """Return the parts of a `user` message, a program's blocks marked as injected."""
    if isinstance(content, str):
        return _own(content)
    parts: list[Part] = []
    for block in list_of(content):
        if not isinstance(block, dict):
            continue
        text = text_of(block.get("text"))
        if block.get("type") in ("input_image", "image", "local_image", "input_file"):
            name = text_of(block.get("path")) or text_of(block.get("filename")) or "image"
            parts.append(Attachment(name, _media(block)))
        elif text.strip() and not _IMAGE.fullmatch(text):
            parts.extend(_own(text))
    return parts


def _media(block: dict[str, Any]) -> str:
    url = text_of(block.get("image_url"))
    return url[5:].partition(";")[0] if url.startswith("data:") else ""


def _own(text: str) -> list[Part]:
    start = text.lstrip()
    if start.startswith(_PROGRAM):
        return [Text(text, injected=True)]
    if start.startswith(_WRAPPED) and (found := list(_REQUEST.finditer(text))):
        at = found[-1].end()
        own = text[at:].strip("\n")
        return [Text(text[:at].strip("\n"), injected=True), *([Text(own)] if own.strip() else [])]
    return list(split_injected(text))


def shell_command(content: Any) -> tuple[str, str] | None:
    """Return the command that a person ran with `!`, and its result; None if it is no such."""
    text = content if isinstance(content, str) else ""
    for block in list_of(content):
        text = text or text_of(block.get("text") if isinstance(block, dict) else "")
    match = _SHELL.match(text)
    if not match:
        return None
    result = _SHELL_RESULT.search(text, match.end())
    return match.group(1), result.group(1) if result else ""


def plain_text(content: Any) -> str:
    """Return the texts of a message's content, joined."""
    if isinstance(content, str):
        return content
    texts = [text_of(block.get("text")) for block in list_of(content) if isinstance(block, dict)]
    return "\n".join(filter(None, texts))
