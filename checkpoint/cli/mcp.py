"""`checkpoint mcp`: the checkpoints as a server of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

from checkpoint.cli._app import command
from checkpoint.cli._options import Directory


@command("checkpoint mcp", "claude mcp add checkpoint -- checkpoint mcp")
def mcp(directory: Directory = Path()) -> None:
    """Serve the checkpoints of this repository over standard input and output.

    Tools: list, get, search, resume, note. It needs an extra: `pip install
    'session-checkpoint[mcp]'`.
    """
    from checkpoint.cli._server import serve

    serve(directory.resolve())
