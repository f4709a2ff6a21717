#!/usr/bin/env python3
"""Measure the limits that the program promises, as ratios against yardsticks of the same run.

The yardsticks: decoding the same file line by line with the fastest JSON library and nothing else;
a Python process that imports nothing; a commit of the same size by git alone. Each figure is the
minimum of several interleaved rounds: clocks drift, the minimum drifts least. The session is the
demo story, told again and again with changing numbers; it is written into a temporary folder.

    python bench/bench.py                    # 5,000 messages
    python bench/bench.py --messages 100000  # slower
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results.json"
sys.path.insert(0, str(ROOT / "demo"))

import session  # noqa: E402 - the demo is no package

PYTHON = sys.executable
CODE = """\
import resource, sys
from pathlib import Path
from checkpoint.pipeline import summarise
from checkpoint.settings import shipped
summarise(Path(sys.argv[1]), settings=shipped())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@dataclass
class Figure:
    """One line of the table."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    yardstick: float | None = None
    """Of the same unit; the ratio is value / yardstick."""

    @property
    def ratio(self) -> float | None:
        """How many times the yardstick."""
        return self.value / self.yardstick if self.yardstick else None

    @property
    def verdict(self) -> str:
        """Whether the limit is held."""
        if self.limit is None:
            return ""
        return "ok" if self.value <= self.limit else "MISSED"


def long_session(path: Path, messages: int) -> int:
    """Write a session of at least so many messages; return how many records it has."""
    count = 0
    story = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while count < messages * 1.4:  # a call and its result are two records and one message
            for number, record in enumerate(session.records(f"/home/ada/tidewatch{story % 7}")):
                line = json.dumps(record, ensure_ascii=False)
                line = re.sub(r"toolu_(\d+)", rf"toolu_{story:06d}\1", line)
                line = re.sub(r"msg_(\d+)", rf"msg_{story:06d}\1", line)
                line = line.replace("41.8", f"{41 + story % 13}.{number % 10}")
                file.write(line.replace('"uuid": "', f'"uuid": "{story:08x}') + "\n")
                count += 1
            story += 1
    return count


def quickest(work: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Run each piece of work once a round, interleaved; return the least seconds of each."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, run in work.items():
            best[name] = min(run(), best.get(name, float("inf")))
    return best


def timed(*command: str, at: Path, environment: dict[str, str]) -> Callable[[], float]:
    """Return what runs a command in a new process and gives the seconds it took."""

    def run() -> float:
        start = time.perf_counter()
        subprocess.run(command, cwd=at, env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        return time.perf_counter() - start

    return run


def decode(path: Path) -> Callable[[], float]:
    """Return what decodes every line of a file and keeps nothing."""

    def run() -> float:
        decoder = msgspec.json.Decoder()
        start = time.process_time()
        with path.open("rb", buffering=1 << 20) as file:
            for line in file:
                decoder.decode(line)
        return time.process_time() - start

    return run


def summarised(path: Path) -> Callable[[], float]:
    """Return what reads, extracts and folds a session in this process."""
    from checkpoint.pipeline import summarise
    from checkpoint.settings import shipped

    def run() -> float:
        start = time.process_time()
        summarise(path, settings=shipped())
        return time.process_time() - start

    return run


def measure(messages: int, rounds: int, folder: Path) -> list[Figure]:
    """Return all figures."""
    environment = _environment(folder)
    project = folder / "project"
    project.mkdir()
    timed("git", "init", "--quiet", at=project, environment=environment)()
    path = folder / "session.jsonl"
    long_session(path, messages)
    program = [PYTHON, "-m", "checkpoint"]
    start = quickest(
        {
            "bare": timed(PYTHON, "-c", "pass", at=project, environment=environment),
            "version": timed(*program, "--version", at=project, environment=environment),
            "help": timed(*program, "--help", at=project, environment=environment),
        },
        rounds * 3,
    )
    reading = quickest({"decode": decode(path), "whole": summarised(path)}, rounds)
    memory = subprocess.run(
        [PYTHON, "-c", CODE, str(path)], check=True, capture_output=True, text=True, env=environment
    )
    saving = quickest(
        {"save": _fresh_save(program, path, project, environment)}, max(2, rounds // 2)
    )
    going_on = quickest({"next": _next_save(program, path, project, environment)}, rounds)
    commit = quickest({"commit": _bare_commit(project, environment)}, rounds)
    size = path.stat().st_size / 1e6
    print(f"session of {size:.1f} MB, about {messages:,} messages; best of {rounds} rounds\n")
    return [
        Figure("checkpoint --version", start["version"], "s", 0.12, start["bare"]),
        Figure("checkpoint --help", start["help"], "s", 0.25, start["bare"]),
        Figure("read and extract (CPU)", reading["whole"], "s", 3 * reading["decode"],
               reading["decode"]),
        Figure("peak memory of it", float(memory.stdout), "MB", 150),
        Figure("whole save, new process", saving["save"], "s", 1.2 * messages / 4700,
               commit["commit"]),
        Figure("save after 20 new messages", going_on["next"], "s", 0.6, commit["commit"]),
    ]  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir()
    identity = {f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip # noqa: E501
    return {**os.environ, **identity, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}


def _fresh_save(
    program: list[str], path: Path, project: Path, environment: dict[str, str]
) -> Callable[[], float]:
    return timed(*program, "save", str(path), "--whole", at=project, environment=environment)


def _next_save(
    program: list[str], path: Path, project: Path, environment: dict[str, str]
) -> Callable[[], float]:
    save = timed(*program, "save", str(path), at=project, environment=environment)
    turn = 0

    def run() -> float:
        nonlocal turn
        turn += 1
        with path.open("a", encoding="utf-8") as file:
            for number, record in enumerate(session.records("/home/ada/more")):
                if number == 28:
                    break
                line = json.dumps(record, ensure_ascii=False)
                line = re.sub(r"(toolu|msg)_(\d+)", rf"\1_{turn:06d}9\2", line)
                file.write(line.replace('"uuid": "', f'"uuid": "f{turn:07x}') + "\n")
        return save()

    return run


def _bare_commit(project: Path, environment: dict[str, str]) -> Callable[[], float]:
    text = "a line of a document\n" * 1500

    def run() -> float:
        start = time.perf_counter()
        stream = (
            f"commit refs/bench/one\ncommitter bench <bench> {int(time.time())} +0000\n"
            f"data 5\nbench\nM 100644 inline a.md\ndata {len(text)}\n{text}\n"
        )
        subprocess.run(["git", "fast-import", "--quiet", "--force"], input=stream, text=True,
                       cwd=project, env=environment, check=True)  # fmt: skip
        return time.perf_counter() - start

    return run


def main() -> int:
    """Measure, print, write `bench/results.json`; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description="Measure the limits.")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory(prefix="checkpoint-bench-") as folder:
        figures = measure(given.messages, given.rounds, Path(folder).resolve())
    print(f"{'':30}{'value':>10}{'limit':>10}{'ratio':>8}{'before':>8}")
    for one in figures:
        ratio = f"{one.ratio:.1f}x" if one.ratio else ""
        former = before.get(one.name, {}).get("ratio")
        limit = f"{one.limit:.2f}" if one.limit else ""
        print(
            f"{one.name:30}{one.value:>8.2f} {one.unit:2}{limit:>9}{ratio:>8}"
            f"{f'{former:.1f}x' if former else '':>8}  {one.verdict}"
        )
    told = {
        one.name: {**asdict(one), "ratio": one.ratio, "verdict": one.verdict} for one in figures
    }
    RESULTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 1 if any(one.verdict == "MISSED" for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
