"""Settings: the shipped `config/defaults.yaml` with the user's and the repository's laid over.

A repository's own file is foreign: only the harmless keys (`REPOSITORY_KEYS`) are taken from it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from checkpoint.errors import SettingsError
from checkpoint.resources import folder

REPOSITORY_KEYS = frozenset({"budget", "briefing_budget", "languages", "gap_hours"})

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Settings:
    """What can be set; `config/defaults.yaml` says what each means."""

    budget: int
    briefing_budget: int
    languages: tuple[str, ...]
    gap_hours: float
    caps: Mapping[str, int]
    templates: str = ""
    user_folder: Path | None = field(default=None, compare=False)
    """Where the user's `cues/`, `redact.yaml` and `templates/` may lie."""

    def __hash__(self) -> int:
        """Hash by what decides which cues are compiled."""
        return hash((self.languages, self.user_folder))


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; {} if it is empty.

    Raises:
        SettingsError: it cannot be read, or is not YAML; the message names the line.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return yaml.load(file, Loader=_Loader) or {}  # noqa: S506 - a safe loader
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: not valid YAML: {error}") from error


def config_home(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's own files."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "checkpoint"


@cache
def shipped() -> Settings:
    """Return the settings without anything laid over."""
    return _build(read_yaml(folder("config") / "defaults.yaml"), {}, "defaults.yaml")


def load(directory: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings for work in `directory`.

    Raises:
        SettingsError: a file says something unknown or of the wrong kind.
    """
    settings = shipped()
    home = config_home(environ)
    path = home / "config.yaml"
    if path.is_file():
        settings = _build(read_yaml(path), settings, str(path))
    if home.is_dir():
        settings = replace(settings, user_folder=home)
    for folder_ in (directory, *directory.parents) if directory else ():
        own = folder_ / ".checkpoint.yaml"
        if own.is_file():
            given = read_yaml(own)
            if not isinstance(given, dict):
                raise SettingsError(f"{own}: expected keys and values")
            strange = sorted(set(given) - REPOSITORY_KEYS)
            if strange:
                raise SettingsError(
                    f"{own}: a repository may not set {', '.join(strange)}; "
                    f"move it to {home / 'config.yaml'}"
                )
            return _build(given, settings, str(own))
        if (folder_ / ".git").exists():
            break
    return settings


def _build(given: Any, base: Settings | Mapping[str, Any], where: str) -> Settings:
    if not isinstance(given, dict):
        raise SettingsError(f"{where}: expected keys and values")
    known = {f.name for f in fields(Settings)} - {"user_folder"}
    strange = sorted(set(map(str, given)) - known)
    if strange:
        raise SettingsError(
            f"{where}: unknown key {', '.join(strange)}; known are {', '.join(sorted(known))}"
        )
    start = (
        {f.name: getattr(base, f.name) for f in fields(base)} if isinstance(base, Settings) else {}
    )
    merged = {**start, **{key: _checked(key, value, where) for key, value in given.items()}}
    if isinstance(base, Settings) and "caps" in given:
        merged["caps"] = {**base.caps, **merged["caps"]}
    return Settings(**merged)


def _checked(key: str, value: Any, where: str) -> Any:
    if key in ("budget", "briefing_budget"):
        if not isinstance(value, int) or isinstance(value, bool) or value < 200:
            raise SettingsError(f"{where}: {key} must be a whole number of at least 200")
    elif key == "gap_hours":
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise SettingsError(f"{where}: gap_hours must be a number above 0")
    elif key == "languages":
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise SettingsError(f"{where}: languages must be a list such as [en, de]")
        return tuple(value)
    elif key == "caps":
        good = isinstance(value, dict) and all(isinstance(v, int) and v > 0 for v in value.values())
        if not good:
            raise SettingsError(f"{where}: caps must give a whole number above 0 for each kind")
    elif not isinstance(value, str):
        raise SettingsError(f"{where}: {key} must be text")
    return value
