"""What Cursor puts around a person's words, and its tools."""

from __future__ import annotations

import re

from checkpoint.model import Category, Text
from checkpoint.readers._origin import split_injected

TABLE: dict[str, Category] = {
    "Shell": "shell",
    "run_terminal_cmd": "shell",
    "AwaitShell": "shell",
    "StrReplace": "edit",
    "ApplyPatch": "edit",
    "Write": "write",
    "Delete": "edit",
    "delete_file": "edit",
    "reapply": "other",
    "ReadLints": "other",
    "read_lints": "other",
    "SemanticSearch": "search",
    "Task": "subagent",
    "TodoWrite": "todo",
    "AskQuestion": "question",
    "SwitchMode": "other",
    "fetch_rules": "read",
    "get_terminal_output": "shell",
}

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*(?:</user_query>|\Z)", re.DOTALL)
_BLOCKS = re.compile(
    r"<(attached_files|open_and_recently_viewed_files|user_info|git_status|rules|timestamp|project_layout|"
    r"manually_attached_skills|agent_skills|additional_data|current_file|linter_errors|folder_tree|"
    r"external_links|cursor_commands|task_notification|image_files|agent_transcripts|mcp_file_system)"
    r"\b[^>]*>.*?</\1>",
    re.DOTALL,
)


def person_texts(text: str) -> list[Text]:
    """Return a person's words, and what the program put around them marked as injected.

    The words stand in `<user_query>`; a text without it is the person's but for known blocks.
    """
    query = _QUERY.search(text)
    if query:
        around = text[: query.start()].strip(), text[query.end() :].strip()
        found = [Text(one, injected=True) for one in around if one]
        return [*found, *([Text(query.group(1))] if query.group(1) else [])]
    found = [Text(match.group(0), injected=True) for match in _BLOCKS.finditer(text)]
    rest = _BLOCKS.sub("", text).strip("\n")
    return found + split_injected(rest)
