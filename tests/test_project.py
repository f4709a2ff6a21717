"""The house rules that a machine can keep: sizes, help, README, settings, what a start imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from checkpoint.cli._app import load, modules
from checkpoint.settings import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

LONGEST_FILE = 400

HEAVY = {"typer", "click", "rich", "pydantic", "jinja2", "git", "yaml", "asyncio"}


def _leaves(command: object, name: str = "") -> list[tuple[str, object]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(name.strip(), command)]
    found = []
    for key, one in inner.items():
        found += _leaves(one, f"{name} {key}")
    return found


COMMANDS = _leaves(load([]))


def _sources() -> list[Path]:
    folders = ("checkpoint", "tests", "demo", "bench")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def test_no_file_is_longer_than_the_limit():
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in _sources()
        if "fixtures" not in path.parts
    }
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_every_module_of_the_command_line_holds_a_command():
    named = {name.split()[0].replace("-", "_") for name, _ in COMMANDS}
    assert set(modules()) == named


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_a_command_has_help_with_examples_and_stands_in_the_readme(name: str, command: object):
    assert isinstance(command, typer.core.TyperCommand)
    first = (command.help or "").splitlines()[0]
    assert re.fullmatch(r"[A-Z].*\.", first), "the first line is a sentence"
    assert f"checkpoint {name}" in (command.epilog or ""), "no example shows it"
    assert f"`checkpoint {name}" in README, "the README does not know it"
    for parameter in command.params:
        assert getattr(parameter, "help", ""), f"{parameter.name} says nothing"


def test_the_readme_knows_no_command_that_there_is_not():
    known = {name for name, _ in COMMANDS}
    said = re.findall(r"^\| `checkpoint ([a-z-]+(?: [a-z-]+)?)", README, re.M)
    groups = {name.split()[0] for name in known if " " in name}
    strange = [s for s in said if s not in known and s.split()[0] not in known - groups]
    assert strange == []


@pytest.mark.parametrize("key", [f.name for f in fields(Settings) if f.name != "user_folder"])
def test_a_setting_is_explained_where_it_is_shipped_and_in_the_readme(key: str):
    shipped = (ROOT / "config" / "defaults.yaml").read_text(encoding="utf-8")
    assert re.search(rf"^# .+\n{key}:", shipped, re.M), "no comment stands above it"
    assert f"`{key}`" in README


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


@pytest.mark.parametrize("folder", ["readers", "extractors", "extractors/outputs", "cli"])
def test_siblings_share_only_what_begins_with_an_underscore(folder: str):
    """One new file is all that a reader, an extractor or a command needs, so none needs another."""
    place = ROOT / "checkpoint" / folder
    package = f"checkpoint.{folder.replace('/', '.')}."
    public = {path.stem for path in place.glob("*.py") if not path.name.startswith("_")}
    strange = [
        f"{path.name} imports {name}"
        for path in place.glob("*.py")
        for name in _imported(path)
        if name.startswith(package) and name.removeprefix(package).split(".")[0] in public
    ]
    assert strange == []


def _imports(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "checkpoint", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r"\|\s+([\w.]+)$", done.stderr, re.M)
    return {name.split(".")[0] for name in names}


def test_the_version_is_told_without_loading_anything_heavy():
    assert _imports("--version") & HEAVY == set()


def test_help_loads_only_what_parses():
    assert _imports("--help") & (HEAVY - {"typer", "click", "rich"}) == set()


def test_the_excerpt_of_the_readme_is_what_the_program_makes():
    done = subprocess.run([sys.executable, str(ROOT / "demo" / "excerpt.py")], check=False)
    assert done.returncode == 0, "run `make readme`"


def test_a_command_that_is_not_loaded_for_another_one_is_still_known():
    names = {name for name, _ in _leaves(load(["config", "show"]))}
    assert "config show" in names


def test_the_dependencies_have_lower_bounds():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.M | re.S)
    assert block is not None
    given = re.findall(r'^\s+"([^"]+)"', block[1], re.M)
    assert given
    assert [one for one in given if ">=" not in one] == []
