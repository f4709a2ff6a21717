"""`checkpoint hooks`: let agents and git save checkpoints by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from checkpoint.cli._app import examples, group
from checkpoint.cli._options import Directory, Json

if TYPE_CHECKING:
    from checkpoint.hooks.git_hooks import GitHooks
    from checkpoint.hooks.install import Change

hooks = group("hooks", "Let agents and git save checkpoints by themselves.")

Agents = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT]...",
        show_default=False,
        help="claude, codex, opencode, gemini, cursor, copilot, qwen, git. "
        "Default: those that the user has.",
    ),
]
User = Annotated[
    bool, typer.Option("--user", help="For all of the user's repositories (for agents: default).")
]
Project = Annotated[
    bool, typer.Option("--project", help="In this repository's own files (for git: default).")
]
Dry = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


@hooks.command(
    **examples(
        "checkpoint hooks install claude git",
        "checkpoint hooks install codex --mcp --dry-run",
        "checkpoint hooks install --project claude   # for all who work in this repository",
    )
)
def install(
    agents: Agents = None,
    user: User = False,
    project: Project = False,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Register the server of `checkpoint mcp` too.")
    ] = False,
    dry_run: Dry = False,
    directory: Directory = Path(),
) -> None:
    """Add our hooks to agents' settings and to git; everything else there stays as it is."""
    from checkpoint.cli._print import note
    from checkpoint.hooks import install as installing

    top = _top(directory)
    names = agents or installing.present()
    if not names:
        note("no agent's folder was found; name one: `checkpoint hooks install claude`")
        raise typer.Exit(1)
    for name in names:
        if name == "git":
            _tell_git(_git("install", top, user, dry_run), dry_run, removed=False)
            continue
        agent = installing.named(name)
        scope = _scope(user, project)
        _carry_out(name, installing.install(agent, scope, top, mcp=mcp), dry_run)
        if agent.after:
            note(f"{name}: {agent.after}")


@hooks.command(**examples("checkpoint hooks remove claude", "checkpoint hooks remove --dry-run"))
def remove(
    agents: Agents = None,
    user: User = False,
    project: Project = False,
    dry_run: Dry = False,
    directory: Directory = Path(),
) -> None:
    """Take our hooks out again; a file that nobody else changed is as it was before."""
    from checkpoint.hooks import install as installing
    from checkpoint.hooks.table import AGENTS

    top = _top(directory)
    for name in agents or [*AGENTS, *(["git"] if _is_repository(top) else [])]:
        if name == "git":
            _tell_git(_git("remove", top, user, dry_run), dry_run, removed=True)
            continue
        changes = installing.remove(installing.named(name), _scope(user, project), top)
        if changes or agents:
            _carry_out(name, changes, dry_run)


@hooks.command(**examples("checkpoint hooks status", "checkpoint hooks status --json"))
def status(agents: Agents = None, json: Json = False, directory: Directory = Path()) -> None:
    """Say which agents call us, from which files."""
    from dataclasses import asdict

    from checkpoint.cli._print import note, out_json, table
    from checkpoint.errors import CheckpointError
    from checkpoint.hooks import git_hooks
    from checkpoint.hooks import install as installing
    from checkpoint.hooks.table import AGENTS

    top = _top(directory)
    scopes: tuple[Literal["user", "project"], ...] = ("user", "project")
    wanted = [one for one in agents or AGENTS if one != "git"]
    asked = [installing.status(installing.named(one), scope, top)
             for one in wanted for scope in scopes]  # fmt: skip
    found = [one for one in asked if one is not None]
    ways: list[tuple[str, GitHooks]] = []
    for scope in scopes if not agents or "git" in agents else ():
        try:
            ways.append((scope, git_hooks.look(top, scope)))
        except CheckpointError:
            continue  # no repository here, or this git cannot
    ways = [one for one in ways if one[1].installed]
    if json:
        git = [{"scope": scope, **asdict(way)} for scope, way in ways]
        out_json({"agents": [asdict(one) for one in found], "git": git})
        return
    if not found and not ways:
        note("no hooks are installed; `checkpoint hooks install` adds them")
        return
    rows = [("AGENT", "SCOPE", "EVENTS", "FILE")]
    for one in found:
        events = one.problem or " ".join(one.events)
        rows.append((one.agent, one.scope, events, str(one.path)))
    rows += [("git", scope, "post-commit", way.place) for scope, way in ways]
    table(rows)


def _top(directory: Path) -> Path:
    from checkpoint.discover import repository

    real = directory.resolve()
    return Path(repository(str(real))[0] or real)


def _is_repository(top: Path) -> bool:
    return (top / ".git").exists()


def _scope(user: bool, project: bool) -> Literal["user", "project"]:
    if user and project:
        raise typer.BadParameter("--user and --project exclude each other")
    return "project" if project else "user"


def _carry_out(name: str, changes: list[Change], dry_run: bool) -> None:
    from checkpoint.cli._print import out

    real = [one for one in changes if one.changes]
    if not real:
        out(f"{name}: nothing to change")
    for one in real[::-1] if any(one.gives_back for one in real) else real:
        if dry_run:
            out(one.diff())
        else:
            one.carry_out()
            out(f"{name}: {one.path}")


def _git(what: Literal["install", "remove"], top: Path, user: bool, dry: bool) -> GitHooks:
    from checkpoint.hooks import git_hooks

    act = git_hooks.install if what == "install" else git_hooks.remove
    return act(top, "user" if user else "project", dry=dry)


def _tell_git(found: GitHooks, dry_run: bool, *, removed: bool) -> None:
    from checkpoint.cli._print import note, out

    if found.way == "manager":
        if found.installed == removed:
            note(f"git: {'take it out of' if removed else 'the hooks are managed;'} "
                 f"{found.place if removed else found.advice}")  # fmt: skip
        else:
            out(f"git: nothing to change ({found.place})")
    elif found.installed != removed:
        out(f"git: nothing to change ({found.place})")
    else:
        would = "would change" if dry_run else "changed"
        out(f"git: {would} {found.place}")
