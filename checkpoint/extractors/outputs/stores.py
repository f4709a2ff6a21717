"""Benchmarks of databases: redis-benchmark, pgbench, sysbench."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._quantity import decimal
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured

_QUIET = re.compile(
    r"^([A-Z][\w ()]*): ([\d.]+) requests per second(?:, p50=([\d.]+) (msec|ms))?", re.MULTILINE
)
_LONG = re.compile(r"^====== (?P<name>.+?) ======\n(?P<body>(?:(?!======).*\n?)*)", re.MULTILINE)


@output(commands=("redis-benchmark", "valkey-benchmark"), signatures=(" requests per second",))
def redis_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read a line a command: `GET: 841327.00 requests per second, p50=0.879 msec`."""
    config = " ".join(run.args()) if run.name.endswith("-benchmark") else ""
    found = list(_QUIET.finditer(text))
    for match in found:
        yield measured(match.group(0), match[1], "throughput", match[2], "requests per second",
                       configuration=config)  # fmt: skip
        if match[3]:
            yield measured(
                match.group(0), match[1], "p50", match[3], match[4], configuration=config
            )
    if found:
        return
    for block in _LONG.finditer(text):
        rate = re.search(r"(?:throughput summary: )?([\d.]+) requests per second", block["body"])
        if rate:
            yield measured(rate.group(0), block["name"], "throughput", rate[1],
                           "requests per second", configuration=config)  # fmt: skip


@output(commands=("pgbench",), signatures=("tps = ",))
def pgbench(run: Run, text: str) -> Iterator[Claim]:
    """Read tps and latency, with clients, threads and scale."""
    config = ", ".join(
        f"{k} {v}"
        for k, v in re.findall(
            r"^(number of clients|number of threads|scaling factor|query mode): (\S+)",
            text,
            re.MULTILINE,
        )
    )
    kind = re.search(r"^transaction type: (.+)$", text, re.MULTILINE)
    name = "pgbench" if kind is None or "TPC-B" in kind[1] else f"pgbench {kind[1].strip('<>')}"
    for pattern, metric, unit in (
        (r"^tps = ([\d.]+)(?! \(including)", "tps", "tps"),
        (r"^latency average = ([\d.]+) ms", "latency average", "ms"),
        (r"^latency stddev = ([\d.]+) ms", "latency stddev", "ms"),
        (r"^number of failed transactions: ([1-9]\d*)", "failed transactions", ""),
    ):
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            yield measured(match.group(0), name, metric, match[1], unit, configuration=config)


@output(commands=("sysbench",), signatures=("Threads fairness:", "sysbench 1."))
def sysbench(run: Run, text: str) -> Iterator[Claim]:
    """Read events or operations per second, transfer, mean and 95th percentile latency."""
    kinds = ("cpu", "memory", "fileio", "threads", "mutex")
    kind = next((w for w in run.args() if w in kinds or w.startswith("oltp_")), "")
    name = f"sysbench {kind}".strip()
    threads = re.search(r"^Number of threads: (\d+)$", text, re.MULTILINE)
    config = f"{threads[1]} threads" if threads else ""
    for pattern, metric, unit in (
        (r"^[ \t]+events per second:\s+([\d.]+)$", "events", "events/s"),
        (r"^Total operations: \d+ \(\s*([\d.]+) per second\)", "operations", "ops/s"),
        (r"^[\d.]+ MiB transferred \(([\d.]+) MiB/sec\)", "transfer", "MiB/sec"),
        (r"^[ \t]+transactions:\s+\d+\s+\(([\d.]+) per sec\.\)", "transactions", "per sec"),
        (r"^[ \t]+queries:\s+\d+\s+\(([\d.]+) per sec\.\)", "queries", "per sec"),
        (r"^[ \t]+read, MiB/s:\s+([\d.]+)$", "read", "MiB/s"),
        (r"^[ \t]+written, MiB/s:\s+([\d.]+)$", "written", "MiB/s"),
        (r"^[ \t]+avg:\s+([\d.]+)$", "latency average", "ms"),
        (r"^[ \t]+95th percentile:\s+([\d.]+)$", "latency p95", "ms"),
    ):
        match = re.search(pattern, text, re.MULTILINE)
        if match and (decimal(match[1]) or 0):
            yield measured(match.group(0), name, metric, match[1], unit, configuration=config)
