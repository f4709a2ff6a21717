"""`checkpoint completion`: the script by which a shell completes our command lines."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from checkpoint.cli._app import COMPLETE, command


@command(
    'eval "$(checkpoint completion bash)"                 # in ~/.bashrc',
    'eval "$(checkpoint completion zsh)"                  # in ~/.zshrc',
    "checkpoint completion fish > ~/.config/fish/completions/checkpoint.fish",
)
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Which shell.")],
) -> None:
    """Print the completion script of a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(prog_name="checkpoint", complete_var=COMPLETE, shell=shell)
    typer.echo(script)
