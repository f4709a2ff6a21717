"""Words that Claude Code puts into users' mouths, which other programs' pages and logs repeat."""

from __future__ import annotations

import re

SUMMARY = (
    "This session is being continued from a previous conversation",
    "This conversation is being continued from a previous",
)
"""How the text begins that stands for what a compaction left out."""

_NAME = re.compile(r"<command-name>\s*(/?[^<\n]+?)\s*</command-name>")
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_REFUSED = "The user doesn't want to proceed with this tool use"
_SAID = re.compile(r"the user said:\s*\n?(.*)", re.DOTALL)


def command_of(text: str) -> str | None:
    """Return the words of a command echo, as typed: `/name arguments`.

    None if the text is no echo; "" for a command without arguments, which is an order to the
    program and not to the agent.
    """
    name = _NAME.search(text)
    if name is None or not text.lstrip().startswith("<command-"):
        return None
    args = _ARGS.search(text)
    words = args.group(1).strip() if args else ""
    return f"{name.group(1)} {words}" if words else ""


def refusal_of(output: str) -> str | None:
    """Return a person's reason for refusing a call, "" without one; None if it was not refused."""
    if not output.startswith(_REFUSED):
        return None
    said = _SAID.search(output)
    return said.group(1).strip() if said else ""
