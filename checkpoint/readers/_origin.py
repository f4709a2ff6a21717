"""Who really wrote a "user" text: marks that several agents share.

Each reader knows its own agent's marks; here is only what more than one agent writes.
"""

from __future__ import annotations

import re

from checkpoint.model import Text

_BLOCKS = (
    "system-reminder",
    "system_reminder",
    "environment_context",
    "environment_details",
    "user_instructions",
    "permissions instructions",
    "collaboration_mode",
    "skills_instructions",
    "apps_instructions",
    "plugins_instructions",
    "INSTRUCTIONS",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "teammate-message",
    "ide_selection",
    "ide_opened_file",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "post-tool-use-hook",
    "turn_aborted",
    "skill",
    "subagent_notification",
    "user_shell_command",
    "hook_context",
    "context",
    "file_content",
    "current_datetime",
    "reminder",
    "sql_tables",
)
_BLOCK = re.compile(
    r"<(" + "|".join(map(re.escape, _BLOCKS)) + r")(?:\s[^<>]{0,200})?>.*?</\1>\s*", re.DOTALL
)
_OPEN = re.compile(r"\s*<(" + "|".join(map(re.escape, _BLOCKS)) + r")(?:\s[^<>]{0,200})?>")
_BRIEFING = re.compile(
    r"(?:Checkpoint \w{1,64} of an earlier session \((?:(?!<checkpoint-notes).)*)?"
    r"<checkpoint-notes nonce=(\w+)>.*?</checkpoint-notes nonce=\1>"
    r"(?:\s*\(The notes end[^)\n]*\))?",
    re.DOTALL,
)
"""What `checkpoint resume` gives an agent, maybe as its first prompt: notes of another session."""


def split_injected(text: str) -> list[Text]:
    """Cut a person's text into theirs and what a program put around it, in order.

    A block that is opened and never closed runs to the end of the text. Empty pieces are left out.
    """
    if "<" not in text:
        return [Text(text)] if text.strip() else []
    pieces: list[Text] = []
    at = 0
    for match in _BRIEFING.finditer(text) if "<checkpoint-notes" in text else ():
        _split(pieces, text[at : match.start()])
        pieces.append(Text(match.group(0).strip(), injected=True))
        at = match.end()
    _split(pieces, text[at:])
    return pieces


def _split(pieces: list[Text], text: str) -> None:
    at = 0
    for match in _BLOCK.finditer(text):
        _put(pieces, text[at : match.start()])
        pieces.append(Text(match.group(0).strip(), injected=True))
        at = match.end()
    _put(pieces, text[at:])


def _put(pieces: list[Text], text: str) -> None:
    if text.strip():
        pieces.append(Text(text.strip("\n"), injected=_OPEN.match(text) is not None))
