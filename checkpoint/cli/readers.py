"""`checkpoint readers`: whose sessions can be read, and where they are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from checkpoint.cli._app import command
from checkpoint.cli._options import Json


@command("checkpoint readers", "checkpoint readers --json")
def readers(json: Json = False) -> None:
    """List the agents whose sessions can be read.

    With the places where they are looked for on this machine.
    """
    from checkpoint.cli._print import out_json, table
    from checkpoint.readers import readers as known

    told: list[dict[str, Any]] = [
        {
            "name": reader.name,
            "title": reader.title,
            "roots": [str(root) for root in reader.roots()],
            "present": [str(root) for root in reader.roots() if root.exists()],
        }
        for reader in known().values()
    ]
    if json:
        out_json(told)
        return
    rows = [("NAME", "AGENT", "SESSIONS ARE LOOKED FOR IN")]
    rows += [(one["name"], one["title"], _places(one["roots"], one["present"])) for one in told]
    table(rows)


def _places(roots: list[str], present: list[str]) -> str:
    """Name the places that there are; else the usual one, and how many more were looked at."""
    if not roots:
        return "files you name"
    if present:
        return ", ".join(_short(root) for root in present)
    more = f" and {len(roots) - 1} more" if len(roots) > 1 else ""
    return f"{_short(roots[0])}{more} (nothing there)"


def _short(root: str) -> str:
    home = str(Path.home())
    return "~" + root[len(home) :] if root.startswith(home + "/") else root
