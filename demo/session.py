#!/usr/bin/env python3
"""Write the demo session: two days with an agent on an invented tide-forecast service.

The form is that of Claude Code (one JSON object a line). Nothing in it happened; all figures are
made up. The same arguments give the same bytes.

    python demo/session.py --directory /path/of/the/project --out session.jsonl
    python demo/session.py --directory /path/of/the/project --claude ~/.claude     # where it looks

Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "5b1d7a90-3c64-4e0e-9d41-7e2f60c8a1d4"
START = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)

LSCPU = """\
Architecture:             x86_64
CPU(s):                   16
Model name:               AMD EPYC 7343 16-Core Processor
Thread(s) per core:       1
Socket(s):                1
NUMA node(s):             1
"""

FREE = """\
               total        used        free      shared  buff/cache   available
Mem:            62Gi       9.1Gi        41Gi       112Mi        12Gi        52Gi
Swap:             0B          0B          0B
"""

PROFILE = """\
  ncalls  tottime  percall  cumtime  percall filename:lineno(function)
    8760   31.204    0.004   36.871    0.004 harmonics.py:48(node_factors)
 3241200    4.117    0.000    4.117    0.000 {built-in method math.cos}
       1    0.912    0.912   41.530   41.530 forecast.py:22(year)
"""

TEST_FAILED = """\
....F...............................                                     [100%]
=========================== short test summary info ============================
FAILED tests/test_harmonics.py::test_leap_day - AssertionError: 1.0372 != 1.0371
1 failed, 35 passed in 4.12s
"""

TEST_PASSED = """\
....................................                                    [100%]
36 passed in 3.98s
"""

HYPERFINE = """\
Benchmark 1: python -m tidewatch forecast --year 2026 --station {station}
  Time (mean ± σ):     {mean} s ±  {sigma} s    [User: {user} s, System: 0.4 s]
  Range (min … max):   {low} s … {high} s    5 runs
"""

Step = tuple[str, Any]


def say(text: str) -> Step:
    """Return a message of the agent."""
    return "assistant", text


def ask(text: str) -> Step:
    """Return a message of the person."""
    return "user", text


def bash(command: str, output: str, *, failed: bool = False, background: bool = False) -> Step:
    """Return a shell command with its output."""
    given: dict[str, Any] = {"command": command}
    if background:
        given["run_in_background"] = True
    return "call", ("Bash", given, output, failed)


def edit(path: str, old: str, new: str) -> Step:
    """Return an edit of a file of the project."""
    return "call", (
        "Edit",
        {"file_path": path, "old_string": old, "new_string": new},
        f"The file {path} has been updated.",
        False,
    )


def todos(*items: tuple[str, str]) -> Step:
    """Return a whole to-do list: (status, text)."""
    given = [
        {"content": text, "status": status, "activeForm": f"Working on: {text}"}
        for status, text in items
    ]
    done = "Todos have been modified successfully. Ensure that you continue to use the todo list."
    return "call", ("TodoWrite", {"todos": given}, done, False)


def timed(station: str, mean: str, sigma: str, low: str, high: str) -> str:
    """Return what hyperfine prints for a forecast."""
    user = f"{float(mean) - 0.5:.1f}"
    return HYPERFINE.format(station=station, mean=mean, sigma=sigma, user=user, low=low, high=high)


def story(root: str) -> Iterator[Step]:
    """Yield what was said and done, in order; `root` is the project's directory."""
    harmonics = f"{root}/tidewatch/harmonics.py"
    yield ask(
        "The yearly forecast of one station takes over 40 seconds. Get it below 2 seconds on the "
        "build machine. Never change the public API in tidewatch/api.py, other teams import it. "
        "Always run the tests before you commit."
    )
    yield say("I'll look at the machine first, then measure a baseline and profile it.")
    yield bash("lscpu", LSCPU)
    yield bash("free -h", FREE)
    yield bash("python --version && pip list | grep -i numpy", "Python 3.12.4\nnumpy 2.1.3\n")
    yield bash(
        "hyperfine -r 5 'python -m tidewatch forecast --year 2026 --station brest'",
        timed("brest", "41.8", "0.6", "41.1", "42.7"),
    )
    yield todos(
        ("in_progress", "Profile the yearly forecast"),
        ("pending", "Vectorise node_factors"),
        ("pending", "Cache the astronomical arguments"),
        ("pending", "Run the forecast of all 214 stations"),
    )
    yield say(
        "The baseline is 41.8 s. I suspect that reading the constituents from disk for each hour "
        "is slow."
    )
    yield bash(
        "strace -c -f python -m tidewatch forecast --year 2026 --station brest 2>&1 | tail -3",
        "  0.31    0.000412           2       187           read\n100.00    0.132004  total\n",
    )
    yield say("Disk reads are ruled out: all reads together take 0.4 ms.")
    yield bash("python -m cProfile -s tottime -m tidewatch forecast --year 2026", PROFILE)
    yield say(
        "Root cause: node_factors is called for each of the 8,760 hours, though the nodal "
        "correction changes only once a day; it takes 36.9 s of the 41.5 s."
    )
    yield edit(harmonics, "for hour in hours:", "for day, hours in by_day(year):")
    yield bash("python -m pytest -q", TEST_FAILED, failed=True)
    yield say(
        "The failing test shows that the leap day took the factors of the day before. I'll fix the "
        "day index."
    )
    yield edit(harmonics, "day = hour // 24 - 1", "day = hour // 24")
    yield bash("python -m pytest -q", TEST_PASSED)
    yield bash(
        "hyperfine -r 5 'python -m tidewatch forecast --year 2026 --station brest'",
        timed("brest", "5.9", "0.1", "5.8", "6.1"),
    )
    yield bash(
        'git commit -qam "Compute nodal factors once a day" && git log --oneline -1',
        "7c41e0b Compute nodal factors once a day\n",
    )
    yield todos(
        ("completed", "Profile the yearly forecast"),
        ("completed", "Vectorise node_factors"),
        ("in_progress", "Cache the astronomical arguments"),
        ("pending", "Run the forecast of all 214 stations"),
    )
    yield "compact", "auto"
    yield ask("Good. Use float32 for the cosine sums too, if the error stays below 1 mm.")
    yield edit(harmonics, "np.cos(phase)", "np.cos(phase.astype(np.float32))")
    yield bash(
        "python -m tidewatch check --station brest --against tables/brest-2025.csv",
        "hours compared: 8760\nmax error: 3.8 mm\nmean error: 0.9 mm\n",
    )
    yield say(
        "float32 gives a maximum error of 3.8 mm, which is above your limit of 1 mm. We decided to "
        "keep float64 for the sums and to use one matrix product for all constituents instead."
    )
    yield edit(harmonics, "np.cos(phase.astype(np.float32))", "amplitudes @ np.cos(phases)")
    yield bash("export OMP_NUM_THREADS=8 && python -m pytest -q", TEST_PASSED)
    yield bash(
        "OMP_NUM_THREADS=8 hyperfine -r 5 "
        "'python -m tidewatch forecast --year 2026 --station brest'",
        timed("brest", "1.4", "0.1", "1.3", "1.5"),
    )
    yield say(
        "The yearly forecast now takes 1.4 s, down from 41.8 s:\n\n"
        "| version | forecast (s) | max error (mm) |\n|---|---|---|\n"
        "| baseline | 41.8 | 0.2 |\n| factors once a day | 5.9 | 0.2 |\n"
        "| matrix product | 1.4 | 0.2 |\n"
    )
    yield bash(
        'git commit -qam "Sum all constituents in one matrix product" && git log --oneline -1',
        "e90d2f7 Sum all constituents in one matrix product\n",
    )
    yield bash(
        "OMP_NUM_THREADS=8 python -m tidewatch serve --port 8085 > serve.log 2>&1",
        "Command running in background with ID: bash_1",
        background=True,
    )
    yield todos(
        ("completed", "Profile the yearly forecast"),
        ("completed", "Vectorise node_factors"),
        ("completed", "Cache the astronomical arguments"),
        ("in_progress", "Run the forecast of all 214 stations"),
        ("pending", "Write the release notes of 3.2"),
    )
    yield ask("Leave the server running, I'll look at it tomorrow. Then do all the stations.")
    yield say(
        "The server keeps running on port 8085. Next I'll run all 214 stations with 8 workers and "
        "compare the maximum error of each with the tables of 2025."
    )


def records(root: str) -> Iterator[dict[str, Any]]:
    """Yield the records of the session file."""
    ids = (str(uuid.uuid5(uuid.NAMESPACE_URL, f"tidewatch/{n}")) for n in range(10_000))
    clock = START
    parent: str | None = None
    for number, (kind, what) in enumerate(story(root)):
        clock += timedelta(minutes=4, seconds=11 * (number % 5))
        if kind == "compact":
            clock += timedelta(hours=19)
        for record in _written(kind, what, number):
            own = next(ids)
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": root,
                "sessionId": SESSION,
                "version": "2.1.81",
                "gitBranch": "faster-forecast",
                **record,
                "uuid": own,
                "timestamp": f"{clock:%Y-%m-%dT%H:%M:%S}.000Z",
            }
            parent = own
            clock += timedelta(seconds=7)


def _written(kind: str, what: Any, number: int) -> Iterator[dict[str, Any]]:
    if kind == "user":
        yield {"type": "user", "message": {"role": "user", "content": what}}
    elif kind == "assistant":
        yield _reply(number, {"type": "text", "text": what})
    elif kind == "compact":
        yield {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            "compactMetadata": {"trigger": what, "preTokens": 155_210},
        }
    else:
        tool, given, output, failed = what
        call = f"toolu_{number:024d}"
        yield _reply(number, {"type": "tool_use", "id": call, "name": tool, "input": given})
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": output}
        if failed:
            result["is_error"] = True
        yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _reply(number: int, block: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "assistant",
        "requestId": f"req_{number:020d}",
        "message": {
            "id": f"msg_{number:020d}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 120},
        },
    }


def write(root: str, path: Path) -> Path:
    """Write the session file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records(root):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def main() -> None:
    """Write the session to where the arguments say, and print the path."""
    parser = argparse.ArgumentParser(description="Write the demo session.")
    parser.add_argument(
        "--directory", default="/home/ada/tidewatch", help="the project's directory"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path, help="the file to write")
    where.add_argument("--claude", type=Path, help="the agent's folder: write it where it would")
    given = parser.parse_args()
    slug = re.sub(r"[^A-Za-z0-9]", "-", given.directory)
    path = given.out or given.claude / "projects" / slug / f"{SESSION}.jsonl"
    print(write(given.directory, path))


if __name__ == "__main__":
    main()
