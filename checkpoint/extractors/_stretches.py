"""Which part of an output belongs to which commands of a call.

A call that runs several commands often prints a line of its own between them: `echo "== memory";
free -h`. Where such a line stands in the output, what follows it was printed by the commands that
follow the echo. In a loop the line names the round (`echo "threads=$n"`), and what it says is put
in for the variables of the commands of that round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from checkpoint.extractors._shell import Run

MOST = 40
"""Lines of this kind in one call; a call with more prints a report."""

_TOLD = re.compile(r"\w|([=#*~-])\1\1")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_ESCAPES = re.compile(r"\\[nt]")


def stretches(found: Sequence[Run], text: str) -> Iterator[tuple[list[Run], str]]:
    """Yield (commands, what they printed); the one whole if no line tells them apart."""
    marks = dict(list(_marks(found))[:MOST])
    if not marks:
        yield list(found), text
        return
    hits = list(_hits(marks, text))
    if not hits:
        yield list(found), text
        return
    cuts = sorted({index for index, _, _ in hits})
    start, runs_ = 0, list(found[: cuts[0]])
    for index, place, bound in hits:
        after = next((c for c in cuts if c > index), len(found))
        own = [_bound(run, bound) for run in found[index + 1 : after]]
        if not own:
            continue  # nothing ran behind this line: it ends a report, or belongs to it
        yield from _part(runs_, found, text[start:place])
        start, runs_ = place, own
    yield from _part(runs_, found, text[start:])


def _part(own: list[Run], found: Sequence[Run], text: str) -> Iterator[tuple[list[Run], str]]:
    if text.strip():
        yield own or list(found), text


def _marks(found: Sequence[Run]) -> Iterator[tuple[int, re.Pattern[str]]]:
    """Yield the echoes that print a line of their own, with what that line looks like."""
    for index, run in enumerate(found):
        if run.name not in ("echo", "printf") or run.piped_to or run.log or run.fed_by:
            continue
        words = run.rest
        while words and re.fullmatch(r"-[neE]+", words[0]):
            words = words[1:]
        if run.name == "printf" and (len(words) != 1 or "%" in words[0]):
            continue
        said = _ESCAPES.sub(" ", " ".join(words)).strip()
        if not _TOLD.search(said) or "$(" in said or "`" in said or len(said) > 200:
            continue
        if _VARIABLE.fullmatch(said) or said.startswith("{"):
            continue
        yield index, _looks(said)


def _looks(said: str) -> re.Pattern[str]:
    parts, at, names = [], 0, set()
    for match in _VARIABLE.finditer(said):
        name = match[1] or match[2]
        parts.append(re.escape(said[at : match.start()]))
        plain = name in names or not name.isidentifier() or not name.isascii()
        parts.append(r"\S{0,80}" if plain else rf"(?P<{name}>\S{{1,80}}?)")
        names.add(name)
        at = match.end()
    return re.compile("".join([*parts, re.escape(said[at:])]))


def _hits(
    marks: dict[int, re.Pattern[str]], text: str
) -> Iterator[tuple[int, int, dict[str, str]]]:
    """Yield (which echo, where its line begins, what its variables were) in order of the text.

    Of two echoes that print the same line the next one in order is meant.
    """
    place, last = 0, -1
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            fits = [(i, m) for i, looks in marks.items() if (m := looks.fullmatch(bare))]
            if fits:
                index, match = next((f for f in fits if f[0] > last), fits[0])
                last = index
                yield index, place, {k: v for k, v in match.groupdict().items() if v}
        place += len(line) + 1


def _bound(run: Run, bound: dict[str, str]) -> Run:
    """Return a command with the values of a round in place of its variables."""
    if not bound or not any(f"${name}" in run.command or f"${{{name}}}" in run.command
                            for name in bound):  # fmt: skip
        return run

    def put(word: str) -> str:
        return _VARIABLE.sub(lambda m: bound.get(m[1] or m[2], m.group()), word)

    return replace(
        run,
        argv=[put(w) for w in run.argv],
        rest=[put(w) for w in run.rest],
        host=put(run.host),
        log=put(run.log),
    )
