"""Which agent sent an event, told from the payload first.

Cursor and Copilot also run the hooks of Claude's settings, and an agent started from another one
inherits its environment: so what the payload itself shows comes before the environment, and an
explicit `--agent` before both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

_FOLDERS = (
    ("/.claude/projects/", "claude-code"),
    ("/.copilot/", "copilot-cli"),
    ("/.qwen/", "qwen-code"),
    ("/.gemini/", "gemini-cli"),
    ("/.cursor/", "cursor"),
    ("/.codex/", "codex"),
)
_NAMES = {"claude": "claude-code", "gemini": "gemini-cli", "qwen": "qwen-code",
          "copilot": "copilot-cli"}  # fmt: skip

EVENTS = {
    "sessionend": "end",
    "precompact": "compaction",
    "precompress": "compaction",
    "postcompact": "compacted",
    "stop": "stop",
    "afteragent": "stop",
    "agentstop": "stop",
    "sessionstart": "start",
    "subagentstop": "subagent",
    "subagentstart": "subagent",
    "agent-turn-complete": "stop",
}
"""The agents' names of events, lower case, in our words."""


def agent(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return the name of the agent (as readers are called), or "" when nothing tells."""
    given = payload.get("agent")
    if isinstance(given, str) and given:
        return _NAMES.get(given, given)
    if "cursor_version" in payload or "conversation_id" in payload:
        return "cursor"
    path = str(payload.get("transcript_path") or payload.get("transcriptPath") or "")
    path = path.replace("\\", "/")
    if "sessionId" in payload:
        return "copilot-cli"
    if os.path.basename(path).startswith("rollout-") or "thread-id" in payload:
        return "codex"
    for mark, name in _FOLDERS:
        if mark in path:
            return name
    if "turn_id" in payload:
        return "codex"
    return _by_environment(payload, path, environ)


def _by_environment(payload: Mapping[str, Any], path: str, environ: Mapping[str, str]) -> str:
    if environ.get("CURSOR_VERSION"):
        return "cursor"
    if environ.get("GEMINI_SESSION_ID"):
        return "gemini-cli"
    if "timestamp" in payload and not path and "permission_mode" not in payload:
        return "copilot-cli"
    if environ.get("CLAUDECODE") or environ.get("CLAUDE_PROJECT_DIR"):
        return "claude-code"
    return ""


def event(payload: Mapping[str, Any]) -> str:
    """Return what happened.

    End, compaction, compacted, stop, start, subagent, or "" for the rest.
    """
    name = payload.get("hook_event_name") or payload.get("hookEventName") or payload.get("type")
    return EVENTS.get(str(name or "").lower(), "")


def session(payload: Mapping[str, Any]) -> str:
    """Return the agent's id of the session, "" if the payload names none."""
    for key in ("session_id", "sessionId", "conversation_id", "thread-id"):
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def directory(payload: Mapping[str, Any], fallback: str) -> str:
    """Return the directory of the session, as far as it exists; else `fallback`."""
    roots = payload.get("workspace_roots")
    for value in (payload.get("cwd"), roots[0] if isinstance(roots, list) and roots else None):
        if isinstance(value, str) and os.path.isdir(value):
            return value
    return fallback
