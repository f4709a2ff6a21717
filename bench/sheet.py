#!/usr/bin/env python3
"""Sample lines of documents into a sheet, each beside the message it cites, to be judged by hand.

The sheet is tab-separated: number, session, section, line, the cited message's words. Judge each
line as right, wrong or noise; the same seed gives the same lines.

    python bench/sheet.py SESSION... [--lines 200] [--seed 4] > sheet.tsv
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from pathlib import Path

from checkpoint.errors import CheckpointError
from checkpoint.pipeline import summarise
from checkpoint.readers import identify
from checkpoint.render import clean, document
from checkpoint.settings import shipped

CITED = 400
"""Characters of the cited message that are shown."""


def lines(path: Path) -> list[tuple[str, str, str]]:
    """Return (section, line, cited words) of a session's document."""
    text = document(summarise(path, settings=shipped()).state, shipped())
    said: dict[int, str] = {}
    for message in identify(path).read(path):
        words = " ".join([message.said(), *(f"[{c.target}] {c.output}" for c in message.calls())])
        said[message.number] = clean(words[:20_000])[:CITED]
    found = []
    section = ""
    for line in text.splitlines():
        if line.startswith("#"):
            section = line.strip("# ")
        mark = re.search(r"\[#(\d+)[^\]]*\]$", line)
        if mark:
            found.append((section, line, said.get(int(mark[1]), "")))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sessions", nargs="+", type=Path)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    rows: list[tuple[str, str, str, str]] = []
    for path in sorted(args.sessions):
        try:
            rows += [(path.name, *row) for row in lines(path)]
        except CheckpointError as error:
            print(error, file=sys.stderr)
    chosen = random.Random(args.seed).sample(rows, min(args.lines, len(rows)))
    for number, row in enumerate(chosen, 1):
        print("\t".join([str(number), *row]))
    print(f"{len(chosen)} of {len(rows)} lines of {len(args.sessions)} sessions", file=sys.stderr)


if __name__ == "__main__":
    main()
