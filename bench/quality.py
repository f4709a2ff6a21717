#!/usr/bin/env python3
"""Measure how much of what a session must leave behind stands in its document.

Each file of `bench/quality/` names a session (the demo or a file) and what its document must hold,
by section; the recall is printed, and each line that is missing. No model judges: a demand is met
when all its words stand on one line of that section.

    python bench/quality.py              # all
    python bench/quality.py my.yaml      # your own
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "demo"))

import session  # noqa: E402 - the demo is no package

from checkpoint.pipeline import summarise  # noqa: E402
from checkpoint.render import document  # noqa: E402
from checkpoint.settings import shipped  # noqa: E402


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines of a document by the heading of the second level that they stand under."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line[3:].strip()
        else:
            found.setdefault(title, []).append(line)
    return found


def missing(text: str, demands: dict[str, Any]) -> Iterator[str]:
    """Yield what a document lacks, or holds though it must not."""
    found = sections(text)
    for title, wanted in demands.get("must", {}).items():
        for words in wanted:
            if not any(all(str(w) in line for w in words) for line in found.get(title, [])):
                yield f"{title}: {', '.join(map(str, words))}"
    for words in demands.get("never", []):
        if str(words) in text:
            yield f"never: {words}"


def measure(path: Path, folder: Path) -> tuple[int, list[str]]:
    """Return how many demands a file makes, and those that are not met."""
    demands = yaml.safe_load(path.read_text(encoding="utf-8"))
    name = demands["session"]
    source = path.parent / name
    if name == "demo":
        source = session.write("/home/ada/tidewatch", folder / "session.jsonl")
    state = summarise(source, settings=shipped()).state
    text = document(state, shipped(), budget=demands.get("budget"))
    count = sum(len(wanted) for wanted in demands.get("must", {}).values())
    return count + len(demands.get("never", [])), list(missing(text, demands))


def main() -> int:
    """Measure, print; 1 if any file falls below 0.9."""
    parser = argparse.ArgumentParser(description="Measure the recall of documents.")
    parser.add_argument("files", nargs="*", type=Path)
    files = parser.parse_args().files or sorted((HERE / "quality").glob("*.yaml"))
    worst = 1.0
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as folder:
        for path in files:
            count, lacking = measure(path, Path(folder))
            recall = 1 - len(lacking) / count
            worst = min(worst, recall)
            print(f"{path.stem}: {recall:.2f} ({count - len(lacking)} of {count})")
            for one in lacking:
                print(f"  lacks {one}")
    return 0 if worst >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
