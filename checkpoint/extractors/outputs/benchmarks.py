"""Benchmark tools whose outputs have a form of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output


def _claim(quote: str, subject: str, metric: str, value: str, unit: str, config: str) -> Claim:
    return Claim("measurement", quote.strip(), {
        "subject": subject, "metric": metric, "value": value, "unit": unit,
        "text": f"{value} {unit}".strip(), "configuration": config, "source": "output"})  # fmt: skip


@output(signatures=("Serving Benchmark Result",))
def serving_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read the block of vLLM's and SGLang's serving benchmark; P99 and medians of each phase."""
    start = text.find("Serving Benchmark Result")
    backend = re.search(r"--backend[= ](\S+)", run.command)
    subject = f"{backend.group(1)} serving" if backend else "serving benchmark"
    config = " ".join(
        re.findall(r"--(?:max-concurrency|num-prompts|request-rate|random-\S+)[= ]\S+", run.command)
    )
    wanted = ("throughput", "ttft", "tpot", "itl", "e2e", "successful", "duration")
    for match in re.finditer(
        r"^([A-Z][\w .]+?)(?: \(([^)]+)\))?:\s+([\d.,]+)$", text[start:], re.MULTILINE
    ):
        if any(word in match[1].lower() for word in wanted):
            yield _claim(match.group(0), subject, match[1], match[3], match[2] or "", config)


@output(commands=("redis-benchmark",), signatures=(" requests per second",))
def redis_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read a line a command: `GET: 841327.00 requests per second, p50=0.879 msec`."""
    config = " ".join(run.args()) if run.name == "redis-benchmark" else ""
    for match in re.finditer(
        r"^([A-Z][\w ()]*): ([\d.]+) requests per second(?:, p50=([\d.]+) (msec|ms))?",
        text,
        re.MULTILINE,
    ):
        yield _claim(
            match.group(0), match[1], "throughput", match[2], "requests per second", config
        )
        if match[3]:
            yield _claim(match.group(0), match[1], "p50", match[3], match[4], config)


@output(commands=("time",), signatures=("\nreal\t", "real\t0m"))
def bash_time(run: Run, text: str) -> Iterator[Claim]:
    """Read the wall time of bash's `time`."""
    match = re.search(r"^real\s+((?:\d+h)?\d+m[\d.,]+s)$", text, re.MULTILINE)
    if match:
        command = re.sub(r"^time\s+", "", run.command)
        yield _claim(match.group(0), command[:80], "wall time", match[1], "", "")


@output(commands=("hyperfine",), signatures=("Time (mean ± σ):",))
def hyperfine(run: Run, text: str) -> Iterator[Claim]:
    """Read mean and range of each command."""
    name = ""
    for line in text.splitlines():
        head = re.match(r"Benchmark (?:#?\d+): (.+)", line.strip())
        if head:
            name = head[1]
        mean = re.search(r"Time \(mean ± σ\):\s+([\d.]+) (\S+) ±\s+([\d.]+) (\S+)", line)
        if mean:
            claim = _claim(line, name, "mean", mean[1], mean[2], "")
            claim.fields["spread"] = f"± {mean[3]} {mean[4]}"
            yield claim


@output(commands=("go test",), signatures=(" ns/op",))
def go_bench(run: Run, text: str) -> Iterator[Claim]:
    """Read go's benchmark lines with all their units."""
    for match in re.finditer(r"^(Benchmark\S+)\s+\d+\s+([\d.]+ ns/op.*)$", text, re.MULTILINE):
        for value, unit in re.findall(r"([\d.]+) (\S+/(?:op|s))", match[2]):
            yield _claim(match.group(0), match[1], unit, value, unit, "")


@output(commands=("wrk", "wrk2"), signatures=("Requests/sec:",))
def wrk(run: Run, text: str) -> Iterator[Claim]:
    """Read rate and latency."""
    config = " ".join(w for w in run.args() if w.startswith("-"))
    for pattern, metric, unit in (
        (r"^Requests/sec:\s+([\d.]+)", "requests", "req/s"),
        (r"^Transfer/sec:\s+([\d.]+)(?=[KMG]?B)", "transfer", "MB/s"),
    ):
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            yield _claim(
                match.group(0),
                run.args()[-1] if run.args() else "wrk",
                metric,
                match[1],
                unit,
                config,
            )


@output(commands=("pgbench",), signatures=("tps = ",))
def pgbench(run: Run, text: str) -> Iterator[Claim]:
    """Read tps and latency, with clients, threads and scale."""
    config = " ".join(
        f"{k} {v}"
        for k, v in re.findall(
            r"^(number of clients|number of threads|scaling factor): (\S+)", text, re.MULTILINE
        )
    )
    for pattern, metric, unit in (
        (r"^tps = ([\d.]+)", "tps", "tps"),
        (r"^latency average = ([\d.]+) ms", "latency average", "ms"),
    ):
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            yield _claim(match.group(0), "pgbench", metric, match[1], unit, config)


@output(commands=("wrk", "wrk2"), signatures=("Latency Distribution",))
def wrk_percentiles(run: Run, text: str) -> Iterator[Claim]:
    """Read the latency percentiles of `wrk --latency`."""
    config = " ".join(w for w in run.args() if w.startswith("-"))
    target = run.args()[-1] if run.args() else "wrk"
    start = text.find("Latency Distribution")
    for match in re.finditer(
        r"^\s+(\d[\d.]*)%\s+([\d.]+)(us|ms|s|m)\b", text[start : start + 600], re.MULTILINE
    ):
        yield _claim(
            match.group(0),
            target,
            f"latency p{match[1].rstrip('0').rstrip('.')}",
            match[2],
            match[3],
            config,
        )
