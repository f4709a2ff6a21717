"""`checkpoint config`: the settings that hold here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from checkpoint.cli._app import examples, group
from checkpoint.cli._options import Directory, Json

app = group("config", "Look at the settings.")


@app.callback()
def _config() -> None:
    """Look at the settings."""


@app.command(**examples("checkpoint config show", "checkpoint config show --json"))
def show(json: Json = False, directory: Directory = Path()) -> None:
    """Print the settings that hold here.

    Which files they come from is said on standard error.
    """
    from dataclasses import fields

    from checkpoint.cli._print import note, out, out_json
    from checkpoint.settings import config_home, load

    directory = directory.resolve()
    settings = load(directory)
    values: dict[str, Any] = {
        one.name: getattr(settings, one.name)
        for one in fields(settings)
        if one.name != "user_folder"
    }
    values = {key: _plain(value) for key, value in values.items()}
    if json:
        out_json(values)
        return
    own = config_home() / "config.yaml"
    note(f"# yours: {own}{'' if own.is_file() else ' (none)'}; a repository's: .checkpoint.yaml")
    for key, value in values.items():
        if isinstance(value, dict):
            out(f"{key}:")
            for inner, number in value.items():
                out(f"  {inner}: {number}")
        else:
            out(f"{key}: {_yaml(value)}")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "items") else value


def _yaml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return value if isinstance(value, str) and value else repr(value) if value == "" else str(value)
