"""What ran and how: the names that measurements go by."""

from __future__ import annotations

import re

from checkpoint.extractors._shell import Run

_SHELL_FLAGS = re.compile(r"(?:^|\s)(--?[A-Za-z][\w-]*(?:[= ](?!-)[^\s'\"]+)?)")


def configuration(run: Run) -> str:
    """Return the flags and arguments that tell one run of a program from another."""
    words = [w for w in run.args() if not re.match(r"^(?:\d?>|&)", w)]
    text = " ".join(words)
    return text[:120] if len(text) < 160 else " ".join(_SHELL_FLAGS.findall(text))[:120]


def subject(run: Run) -> str:
    """Return what ran: the script of an interpreter, else the program."""
    if re.fullmatch(r"(?:python|node|ruby|perl|bash|sh|deno|bun)[\d.]*", run.name):
        for word in run.args():
            if not word.startswith("-") and re.search(r"\.\w{1,4}$", word):
                return word.rsplit("/", 1)[-1]
    return run.name
