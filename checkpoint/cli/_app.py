"""The application: its commands are the modules of this folder, each loaded when it is needed."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from checkpoint import __version__

FIRST = ("save", "extract", "show", "log", "diff", "why", "resume", "sessions")
"""The commands that `--help` lists first; the others follow by name."""

COMPLETE = "_CHECKPOINT_COMPLETE"
"""The variable by which a shell asks for completions."""


class Command(TyperCommand):
    """A command whose examples are printed as they are written."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the examples, each on its own line."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}\n")


class Group(TyperGroup):
    """All commands; what interrupts one of them leaves with our exit codes, not typer's."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise _NobodyReadsError from None


class _NobodyReadsError(BrokenPipeError):
    """Standard output was closed; without an errno, so that typer does not take it for its own."""


app = typer.Typer(
    cls=Group,
    help="Summaries of long coding-agent sessions, kept in git: exact, and with their evidence.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def command(*examples: str, name: str | None = None) -> Callable[[Any], Any]:
    """Make a function a command of `app`; each example is a whole command line."""
    shown = "\n".join(f"  {example}" for example in examples)
    return app.command(name, cls=Command, epilog=shown)


def group(name: str, title: str) -> typer.Typer:
    """Add a command that has commands of its own (`checkpoint config show`) and return it."""
    inner = typer.Typer(help=title, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(inner, name=name)
    return inner


def examples(*lines: str) -> dict[str, Any]:
    """Return what a command of a `group` passes to its decorator to show its examples."""
    return {"cls": Command, "epilog": "\n".join(f"  {line}" for line in lines)}


def modules() -> list[str]:
    """Return the names of the modules that hold a command, in the order of `--help`."""
    found = sorted(
        module.name
        for module in pkgutil.iter_modules([str(Path(__file__).parent)])
        if not module.name.startswith("_")
    )
    first = [name for name in FIRST if name in found]
    return first + [name for name in found if name not in FIRST]


def load(arguments: Sequence[str]) -> Any:
    """Return the program with the one command that is asked for, or with all of them."""
    names = modules()
    asked = next((a for a in arguments if not a.startswith("-")), "").replace("-", "_")
    completing = COMPLETE in os.environ
    for name in [asked] if asked in names and not completing else names:
        importlib.import_module(f"checkpoint.cli.{name}")
    if completing:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    return typer.main.get_command(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"checkpoint {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
