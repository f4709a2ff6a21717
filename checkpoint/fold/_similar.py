"""When two texts say the same: guards for numbers and negation first, similarity second.

No measure of similarity can tell "88 of 90 pass" from "89 of 90 pass", or a claim from its denial;
so texts whose numbers, identifiers or polarity differ are never the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz

_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot|nor)\b|n't\b|[不没无未别]")
_WORD = re.compile(r"[a-z0-9][a-z0-9_.+/-]*[a-z0-9+]|[a-z0-9]|[぀-ヿ一-鿿가-힯]|[à-öø-ÿа-яё]+", re.I)
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "with",
        "by",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "i",
        "we",
        "you",
        "they",
        "he",
        "she",
        "my",
        "our",
        "your",
        "their",
        "me",
        "us",
        "them",
        "do",
        "does",
        "did",
        "done",
        "have",
        "has",
        "had",
        "so",
        "if",
        "then",
        "than",
        "now",
        "just",
        "also",
        "there",
        "here",
        "what",
        "which",
        "who",
        "how",
        "why",
        "when",
        "where",
        "will",
        "would",
        "can",
        "could",
        "should",
        "may",
        "might",
        "must",
        "not",
        "no",
        "yes",
        "all",
        "any",
        "some",
        "more",
        "most",
        "very",
        "up",
        "down",
        "out",
        "over",
        "into",
        "about",
        "again",
        "let",
        "please",
        "pls",
        "ok",
        "okay",
        "still",
        "yet",
        "only",
    ]
)


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the content words of a text, lower case, bare of common endings."""
    found = []
    for word in _WORD.findall(text.lower()):
        word = word.strip(".-/")
        if word and word not in _STOP:
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
    return fuzz.token_set_ratio(" ".join(words(one)), " ".join(words(other))) >= threshold


def coverage(part: str, whole: str) -> float:
    """How much of the content words of `part` stands in `whole`, from 0 to 1."""
    wanted = set(words(part))
    return len(wanted & set(words(whole))) / len(wanted) if wanted else 0.0


def shared(one: str, other: str) -> int:
    """How many content words two texts share."""
    return len(set(words(one)) & set(words(other)))
