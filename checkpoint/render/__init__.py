"""The state as a document, within a budget of tokens.

Templates get the state, the sections that fit, and named filters, in a sandbox; a user's folder
comes before ours. Session text reaches a template already escaped for Markdown.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, FileSystemLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from checkpoint import __version__
from checkpoint.errors import RenderError
from checkpoint.render._budget import CHARACTERS, Section, select
from checkpoint.render._lines import sections
from checkpoint.render._text import cell, clean, code, cut, line
from checkpoint.resources import folder
from checkpoint.settings import Settings
from checkpoint.state import State

__all__ = ["clean", "code", "document", "line", "render"]

FRAME = 700
"""Characters that a document holds besides its lines: title, where and when, what was left out."""


def document(
    state: State,
    settings: Settings,
    *,
    template: str = "checkpoint.md.j2",
    budget: int | None = None,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """Render the state.

    Args:
        state: what to show.
        settings: where the user's templates lie, and the budget if none is given.
        template: the name of a template, or the path of a file.
        budget: tokens of four characters; the document never holds more.
        extra: further names for the template.

    Raises:
        RenderError: the template is missing, does not compile, or asks for what there is not.
    """
    tokens = budget or settings.budget
    taken = FRAME
    for _ in range(4):
        every = sections(state)
        shown = select(every, tokens, taken)
        names = {
            "state": state,
            "sections": shown,
            "left_out": {s.title: s.cut for s in every if s.cut},
            "title": _title(state),
            "version": __version__,
            **(extra or {}),
        }
        text = render(template, settings, names)
        if len(text) <= tokens * CHARACTERS:
            break
        taken += len(text) - tokens * CHARACTERS + 40  # the frame is longer than was thought
    return text


def _title(state: State) -> str:
    """The session's own title, or what the person asked for first, or its id."""
    goal = next((g.text for g in state.goals if g.status == "overall"), "")
    return state.session.title or goal or state.session.id or "session"


def render(template: str, settings: Settings, names: Mapping[str, Any]) -> str:
    """Render a template with these names; see `document` for what it raises."""
    path = Path(template)
    own = path.parent if path.suffix == ".j2" and path.is_file() else None
    environment = _environment(settings, own)
    try:
        text = environment.get_template(path.name).render(names)
    except TemplateError as error:
        at = f":{error.lineno}" if getattr(error, "lineno", None) else ""  # type: ignore[attr-defined]
        raise RenderError(f"{template}{at}: {error.message or type(error).__name__}") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise RenderError(f"{template}: {error}") from error
    return text.rstrip() + "\n"


def _environment(settings: Settings, own: Path | None) -> ImmutableSandboxedEnvironment:
    places = [own] if own else []
    if settings.templates:
        places.append(Path(settings.templates).expanduser())
    if settings.user_folder:
        places.append(settings.user_folder / "templates")
    places.append(folder("templates"))
    environment = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([FileSystemLoader(p) for p in places]),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown: filters escape what needs it
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters.update(
        {"line": line, "code": code, "cell": cell, "clean": clean, "shorten": cut, "day": _day}
    )
    environment.globals["numbered"] = _numbered
    return environment


def _day(at: Any) -> str:
    """2026-02-11 09:00 UTC, or "" if unknown."""
    return at.strftime("%Y-%m-%d %H:%M UTC") if at is not None else ""


def _numbered(section: Section) -> list[str]:
    """The lines of a section with list marks; tables keep their own form."""
    marks = itertools.count(1)
    return [
        one.text if one.text.startswith("**") and "\n| " in one.text
        else f"{f'{next(marks)}.' if section.ordered else '-'} {one.text}"
        for one in section.lines
    ]  # fmt: skip
