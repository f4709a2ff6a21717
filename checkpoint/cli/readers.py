"""`checkpoint readers`: whose sessions can be read, and where they are looked for."""

from __future__ import annotations

from pathlib import Path

from checkpoint.cli._app import command
from checkpoint.cli._options import Json


@command("checkpoint readers", "checkpoint readers --json")
def readers(json: Json = False) -> None:
    """List the agents whose sessions can be read.

    With the places where they are looked for on this machine.
    """
    from checkpoint.cli._print import out_json, table
    from checkpoint.readers import readers as known

    told = [
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
    for one in told:
        places = [_place(root, root in one["present"]) for root in one["roots"]]
        rows.append((str(one["name"]), str(one["title"]), ", ".join(places) or "files you name"))
    table(rows)


def _place(root: str, there: bool) -> str:
    home = str(Path.home())
    short = "~" + root[len(home) :] if root.startswith(home + "/") else root
    return short if there else f"{short} (none)"
