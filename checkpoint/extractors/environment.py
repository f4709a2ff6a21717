"""Environment variables that were set: on commands, by exports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import runs
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

_NAME = re.compile(r"^[A-Z][A-Z0-9_]{2,}$")
_DULL = frozenset(
    [
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "SHELL",
        "TERM",
        "LANG",
        "LC_ALL",
        "USER",
        "TMPDIR",
        "EDITOR",
        "PAGER",
        "GIT_PAGER",
        "GIT_EDITOR",
        "COLUMNS",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CI",
        "PYTHONUNBUFFERED",
        "DEBIAN_FRONTEND",
        "PYTHONDONTWRITEBYTECODE",
        "IFS",
        "GIT_SEQUENCE_EDITOR",
        "GIT_TERMINAL_PROMPT",
    ]
)


@extractor
def environment(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield a `setting` for each variable that a command was given with a plain value."""
    for call in message.calls():
        if call.category != "shell" or call.failed or call.refused or "=" not in call.target:
            continue
        for run in runs(call.target):
            for name, value in run.env.items():
                if not _NAME.match(name) or name in _DULL or not value or "$" in value:
                    continue
                if len(value) > 200 or "`" in value:
                    continue
                yield fact(
                    message,
                    "setting",
                    "",
                    f"{name}={value}" if f"{name}={value}" in call.target else name,
                    Authority.INPUT,
                    name=name,
                    value=value,
                    host=run.host,
                    form="environment",
                )
