"""When two texts say the same: guards for numbers and negation first, similarity second.

No measure of similarity can tell "88 of 90 pass" from "89 of 90 pass", or a claim from its denial;
so texts whose numbers, identifiers or polarity differ are never the same.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from rapidfuzz import fuzz

from checkpoint.resources import folder
from checkpoint.settings import read_yaml

_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|cannot|nor|nicht|kein\w*|nie|niemals|ohne|nunca|sin|ningun\w*|"
    r"não|sem|nenhum\w*|pas|jamais|aucun\w*|sans|не|нет|без|никогда)\b|n't\b|[不没无未别]|ない|ません|なし"
)
_LETTER = "a-z0-9ß-öø-žа-яё"
_WORD = re.compile(
    rf"[{_LETTER}][{_LETTER}_.+/-]*[{_LETTER}+]|[{_LETTER}]|[぀-ヿ一-鿿가-힯]", re.IGNORECASE
)


@cache
def _stop() -> frozenset[str]:
    given: dict[str, str] = read_yaml(folder("config") / "stopwords.yaml")
    return frozenset(word for listed in given.values() for word in str(listed).split())


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the content words of a text, lower case, bare of common endings."""
    found, stop = [], _stop()
    for word in _WORD.findall(text.lower()):
        word = word.strip(".-/")
        if word and word not in stop:
            found.append(_stem(word))
    return tuple(found)


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        for ending in ("ingly", "edly", "ing", "ies", "ied", "ed", "es", "s", "er"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)]
                break
        if len(word) > 3 and word[-1] == word[-2]:
            word = word[:-1]
        if len(word) > 3 and word.endswith("e"):
            word = word[:-1]
    return word


@lru_cache(maxsize=8192)
def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text, sorted, without grouping."""
    return tuple(sorted(n.replace(",", "").rstrip(".:") for n in _NUMBER.findall(text)))


@lru_cache(maxsize=8192)
def negated(text: str) -> bool:
    """Whether an odd number of negations stands in the text."""
    return len(_NEGATION.findall(text.lower())) % 2 == 1


def same(one: str, other: str, threshold: float = 88.0) -> bool:
    """Whether two texts say the same."""
    if one == other:
        return True
    if numbers(one) != numbers(other) or negated(one) != negated(other):
        return False
    mine, theirs = words(one), words(other)
    shorter, longer = sorted((len(set(mine)), len(set(theirs))))
    if shorter < 2 or shorter * 3 < longer:  # a word or two stand in many a text
        return fuzz.ratio(" ".join(mine), " ".join(theirs)) >= threshold
    return fuzz.token_set_ratio(" ".join(mine), " ".join(theirs)) >= threshold


def coverage(part: str, whole: str) -> float:
    """How much of the content words of `part` stands in `whole`, from 0 to 1."""
    wanted = set(words(part))
    return len(wanted & set(words(whole))) / len(wanted) if wanted else 0.0


def shared(one: str, other: str) -> int:
    """How many content words two texts share."""
    return len(set(words(one)) & set(words(other)))


def akin(one: str, other: str) -> bool:
    """Whether two words are likely forms of one: "purger", "purgé"; "schreiben", "geschrieben".

    For words of one sentence each that are known to speak of the same work; too lax elsewhere.
    """
    if one == other:
        return True
    one, other = one.removeprefix("ge"), other.removeprefix("ge")
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < 4 or one[0] != other[0] or not (one + other).isalpha():
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 99)
    return (first >= 4 and first * 10 >= longer * 6) or fuzz.ratio(one, other) >= 78


def told(part: str, whole: str) -> float:
    """Like `coverage`, with forms of one word taken for the same."""
    wanted, given = set(words(part)), set(words(whole))
    hits = sum(1 for w in wanted if w in given or any(akin(w, g) for g in given))
    return hits / len(wanted) if wanted else 0.0
