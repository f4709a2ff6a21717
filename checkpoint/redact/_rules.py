"""The rules of redaction: `config/redact.yaml`, with a user's laid over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

from checkpoint.errors import SettingsError
from checkpoint.resources import folder
from checkpoint.settings import read_yaml


@dataclass(frozen=True)
class Token:
    """A secret that its beginning gives away."""

    kind: str
    starts: tuple[str, ...]
    pattern: re.Pattern[str]
    lead: re.Pattern[str] | None
    """What stands before the literal and belongs to the secret."""


@dataclass(frozen=True)
class Block:
    """A secret of several lines."""

    kind: str
    begin: str
    pattern: re.Pattern[str]
    end: re.Pattern[str]
    longest: int


@dataclass(frozen=True)
class Rules:
    """All rules."""

    tokens: tuple[Token, ...]
    blocks: tuple[Block, ...]
    strong: tuple[str, ...]
    weak: tuple[str, ...]
    context: tuple[str, ...]
    allow: tuple[re.Pattern[str], ...]
    digest: str


def _compiled(pattern: Any, where: str) -> re.Pattern[str]:
    try:
        return re.compile(str(pattern))
    except re.error as error:
        raise SettingsError(f"{where}: {pattern!r} is no regular expression: {error}") from None


def build(given: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Rules:
    """Return the rules of two mappings, the second added to the first.

    Raises:
        SettingsError: a key is unknown, or a pattern does not compile.
    """
    known = {"tokens", "blocks", "names", "context", "allow"}
    strange = sorted(set(extra or {}) - known)
    if strange:
        raise SettingsError(
            f"redact.yaml: unknown key {', '.join(strange)}; known are {', '.join(sorted(known))}"
        )

    def both(key: str) -> list[Any]:
        return [*(given.get(key) or []), *((extra or {}).get(key) or [])]

    names = {
        which: tuple(
            str(n).lower()
            for source in (given, extra or {})
            for n in (source.get("names") or {}).get(which) or []
        )
        for which in ("strong", "weak")
    }
    try:
        tokens = tuple(
            Token(
                str(one["kind"]),
                tuple(map(str, one["starts"])),
                _compiled(one["pattern"], f"redact.yaml: {one['kind']}"),
                _compiled(f"(?:{one['lead']})$", "redact.yaml") if one.get("lead") else None,
            )
            for one in both("tokens")
        )
        blocks = tuple(
            Block(
                str(one["kind"]),
                str(one["begin"]),
                _compiled(one["pattern"], "redact.yaml"),
                _compiled(one["end"], "redact.yaml"),
                int(one["longest"]),
            )
            for one in both("blocks")
        )
    except (KeyError, TypeError) as error:
        raise SettingsError(f"redact.yaml: a rule lacks {error}") from None
    proof = blake2b(repr((given, extra)).encode(), digest_size=6).hexdigest()
    allow = tuple(_compiled(one, "redact.yaml: allow") for one in both("allow"))
    context = tuple(str(one).lower() for one in both("context"))
    return Rules(tokens, blocks, names["strong"], names["weak"], context, allow, proof)


@cache
def shipped() -> Rules:
    """Return the shipped rules."""
    return build(read_yaml(folder("config") / "redact.yaml"))


def laid_over(extra: Mapping[str, Any]) -> Rules:
    """Return the shipped rules with a user's added.

    Raises:
        SettingsError: the user's say something wrong.
    """
    return build(read_yaml(folder("config") / "redact.yaml"), extra)
