"""Cue words of all languages, from `config/cues/*.yaml`, found in one pass.

Each cue is a regular expression. The literals that must stand in any match are worked out from it,
and one Aho-Corasick pass over a sentence tells which cues are worth trying.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

from ahocorasick_rs import AhoCorasick

from checkpoint.errors import SettingsError
from checkpoint.resources import folder
from checkpoint.settings import Settings, read_yaml


def required(pattern: str) -> frozenset[str]:
    """Return literals (lower case) of which one stands in every match; empty if none is certain."""
    return _required(sre_parser.parse(pattern, re.IGNORECASE))


def _required(tree: Any) -> frozenset[str]:
    best: frozenset[str] = frozenset()
    run = ""

    def offer(candidate: frozenset[str]) -> None:
        nonlocal best
        if candidate and (not best or min(map(len, candidate)) > min(map(len, best))):
            best = candidate

    for op, value in tree:
        if op is sre.LITERAL:
            run += chr(value).lower()
            continue
        if run:
            offer(frozenset({run}))
            run = ""
        if op is sre.SUBPATTERN:
            offer(_required(value[3]))
        elif op is sre.BRANCH:
            parts = [_required(branch) for branch in value[1]]
            if all(parts):
                offer(frozenset().union(*parts))
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and value[0] >= 1:
            offer(_required(value[2]))
    if run:
        offer(frozenset({run}))
    return best


class Cues:
    """The cues: `find(sentence)` tells which categories a sentence bears.

    A pattern is compiled when its literal is first seen: most never are.
    """

    def __init__(self, categories: Mapping[str, list[str]]) -> None:
        self._patterns = [
            (c, pattern) for c, patterns in categories.items() for pattern in patterns
        ]
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._always: list[int] = []
        by_literal: dict[str, list[int]] = {}
        known = _literals([pattern for _, pattern in self._patterns])
        for index, literals in enumerate(known):
            if not literals:
                self._always.append(index)
            for literal in literals:
                by_literal.setdefault(literal, []).append(index)
        self._literals = sorted(by_literal)
        self._indexes = [tuple(by_literal[literal]) for literal in self._literals]
        self._automaton = AhoCorasick(self._literals or ["\0"])

    def patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """Return all patterns with their categories, compiled."""
        return [(category, self._pattern(i)) for i, (category, _) in enumerate(self._patterns)]

    def _pattern(self, index: int) -> re.Pattern[str]:
        found = self._compiled.get(index)
        if found is None:
            found = re.compile(self._patterns[index][1], re.IGNORECASE)
            self._compiled[index] = found
        return found

    def find(self, sentence: str) -> dict[str, re.Match[str]]:
        """Return the first match of each category in `sentence`, by category."""
        hits = set(self._always)
        for found in self._automaton.find_matches_as_indexes(sentence.lower(), overlapping=True):
            hits.update(self._indexes[found[0]])
        result: dict[str, re.Match[str]] = {}
        for index in sorted(hits):
            category = self._patterns[index][0]
            match = self._pattern(index).search(sentence)
            if match and (category not in result or match.start() < result[category].start()):
                result[category] = match
        return result


def _literals(patterns: list[str]) -> list[list[str]]:
    """Work the literals out, or take them from the cache: parsing some hundred patterns is slow.

    The cache is named after the patterns, so it is never out of date; without it (a read-only
    home) all works the same, a third of a second later.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = blake2b("\0".join(patterns).encode(), digest_size=12).hexdigest()
    path = Path(base) / "checkpoint" / f"cues-{name}.json"
    with suppress(OSError, ValueError):
        cached = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(cached, list) and len(cached) == len(patterns):
            return cached
    found = [sorted(required(pattern)) for pattern in patterns]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_suffix(f".{os.getpid()}")
        hidden.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        os.replace(hidden, path)
    return found


def _files(name: str, user: Path | None) -> list[Path]:
    places = [folder("config") / "cues", *([user / "cues"] if user else [])]
    return [place / f"{name}.yaml" for place in places if (place / f"{name}.yaml").is_file()]


@cache
def load(languages: tuple[str, ...], user: Path | None = None) -> Cues:
    """Compile the cues of these languages; a user's file of one name adds to ours.

    Raises:
        SettingsError: a file is not a mapping of lists, or a cue is no regular expression.
    """
    merged: dict[str, list[str]] = {}
    for name in languages:
        for path in _files(name, user):
            given = read_yaml(path)
            if not isinstance(given, dict):
                raise SettingsError(f"{path}: expected a list of cues for each category")
            for category, patterns in given.items():
                ours = path.parent.parent == folder("config")
                for pattern in patterns or ():
                    if not ours:  # the shipped ones are checked by our tests
                        _check(pattern, f"{path}: {category}")
                    merged.setdefault(category, []).append(pattern)
    return Cues(merged)


def _check(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise SettingsError(f"{where}: {pattern!r}: {error}") from None


_last: tuple[Settings, Cues] | None = None


def cues(settings: Settings) -> Cues:
    """Return the cues of the settings' languages."""
    global _last
    if _last is None or _last[0] is not settings:
        _last = (settings, load(settings.languages, settings.user_folder))
    return _last[1]


@lru_cache(maxsize=4096)
def _found(compiled: Cues, sentence: str) -> dict[str, re.Match[str]]:
    return compiled.find(sentence)


def find(settings: Settings, sentence: str) -> dict[str, re.Match[str]]:
    """Return the cues of a sentence by category; remembered, since several extractors ask."""
    return _found(cues(settings), sentence)
