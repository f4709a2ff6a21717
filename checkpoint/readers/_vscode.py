"""Where VS Code and its forks keep a user's data, and which folder a workspace is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FORKS = (
    "Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Trae", "Kiro", "Antigravity",
)  # fmt: skip
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")


def user_folders() -> list[Path]:
    """Return the `User` folders of VS Code and its forks on this machine."""
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    elif os.name == "nt":
        base = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    found = [base / fork / "User" for fork in _FORKS]
    found += [home / server / "data" / "User" for server in _SERVERS]
    return [*found, home / ".local" / "share" / "code-server" / "User"]


def folder_of(about: Path) -> str:
    """Return the folder that a `workspace.json` names, "" if it names none."""
    try:
        named = json.loads(about.read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    uri = named.get("folder") if isinstance(named, dict) else None
    parts = urlsplit(uri) if isinstance(uri, str) else None
    return unquote(parts.path) if parts and parts.scheme in ("file", "vscode-remote") else ""
