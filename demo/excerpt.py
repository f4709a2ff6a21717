#!/usr/bin/env python3
"""Keep the README's example true: it is the document of the demo session, made by the program.

`--write` puts it there; without it the exit code says whether it is still the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from session import write

from checkpoint.pipeline import summarise
from checkpoint.render import document
from checkpoint.settings import shipped

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- demo -->\n", "<!-- /demo -->"
BUDGET = 600
"""Tokens of the excerpt: about a page."""


def excerpt() -> str:
    """Return the document of the demo session, as the README shows it."""
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as folder:
        path = write("/home/ada/tidewatch", Path(folder) / "session.jsonl")
        state = summarise(path, settings=shipped(), source="session.jsonl").state
    return f"```markdown\n{document(state, shipped(), budget=BUDGET).strip()}\n```\n"


def laid_in(readme: str) -> str:
    """Return the README with the excerpt of now between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{excerpt()}{END}{after}"


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description="Keep the README's example true.")
    parser.add_argument("--write", action="store_true", help="write it into the README")
    readme = README.read_text(encoding="utf-8")
    wanted = laid_in(readme)
    if parser.parse_args().write:
        README.write_text(wanted, encoding="utf-8")
        return 0
    return 0 if wanted == readme else 1


if __name__ == "__main__":
    sys.exit(main())
