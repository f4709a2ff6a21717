"""Load generators: wrk, ab, k6, Locust, hey, oha, vegeta, autocannon, siege."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured
from checkpoint.extractors.outputs._names import flags

Wanted = tuple[tuple[str, str, str], ...]  # pattern (value, unit?), metric, unit if none is printed


def _each(text: str, wanted: Wanted, subject: str, configuration: str) -> Iterator[Claim]:
    for pattern, metric, unit in wanted:
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            printed = match[2] if (match.lastindex or 0) > 1 else unit
            yield measured(match.group(0), subject, metric, match[1], printed or unit,
                           configuration=configuration)  # fmt: skip


def _url(run: Run) -> str:
    return next((w for w in run.args() if w.startswith(("http://", "https://"))), run.name)


_WRK: Wanted = (
    (r"^Requests/sec:\s+([\d.]+)", "requests", "req/s"),
    (r"^Transfer/sec:\s+([\d.]+)([KMGT]?B)$", "transfer per second", ""),
    (r"^[ \t]+Latency\s+([\d.]+)(us|ms|s)\s", "latency average", ""),
    (r"^[ \t]+Non-2xx or 3xx responses: (\d+)", "non-2xx or 3xx responses", ""),
)


@output(commands=("wrk", "wrk2"), signatures=("Requests/sec:",))
def wrk(run: Run, text: str) -> Iterator[Claim]:
    """Read rate, transfer, latency and percentiles of wrk."""
    head = re.search(r"^Running (\S+) test @ (\S+)$", text, re.MULTILINE)
    if head is None:
        return
    threads = re.search(r"(\d+ threads and \d+ connections)", text)
    own = flags(run) if run.name.startswith("wrk") else ""
    config = own or f"{threads[1] if threads else ''}, {head[1]}".strip(", ")
    yield from _each(text, _WRK, head[2], config)
    start = text.find("Latency Distribution")
    if start >= 0:
        for match in re.finditer(
            r"^[ \t]+(\d[\d.]*)%\s+([\d.]+)(us|ms|s|m)\b", text[start : start + 600], re.MULTILINE
        ):
            share = match[1].rstrip("0").rstrip(".") if "." in match[1] else match[1]
            yield measured(match.group(0), head[2], f"latency p{share}", match[2], match[3],
                           configuration=config)  # fmt: skip


_AB: Wanted = (
    (r"^Requests per second:\s+([\d.]+) \[#/sec\]", "requests", "req/s"),
    (r"^Time per request:\s+([\d.]+) \[(ms)\] \(mean\)$", "time per request (mean)", ""),
    (r"^Failed requests:\s+(\d+)$", "failed requests", ""),
    (r"^Transfer rate:\s+([\d.]+) \[(Kbytes/sec)\]", "transfer rate", ""),
    (r"^  50%\s+(\d+)$", "p50", "ms"),
    (r"^  95%\s+(\d+)$", "p95", "ms"),
    (r"^  99%\s+(\d+)$", "p99", "ms"),
)


@output(commands=("ab",), signatures=("This is ApacheBench",))
def apache_bench(run: Run, text: str) -> Iterator[Claim]:
    """Read rate, mean time, failures and percentiles of ApacheBench."""
    if "Requests per second:" not in text:
        return
    host, port, path = (
        (re.search(rf"^{name}:\s+(\S+)$", text, re.MULTILINE) or ["", ""])[1]
        for name in ("Server Hostname", "Server Port", "Document Path")
    )
    level = re.search(r"^Concurrency Level:\s+(\d+)$", text, re.MULTILINE)
    config = flags(run) if run.name == "ab" else f"concurrency {level[1]}" if level else ""
    yield from _each(text, _AB, f"{host}:{port}{path}" if host else _url(run), config)


_K6 = re.compile(
    r"^[ \t]*(?:[✓✗] +)?(?P<name>[a-z]\w+(?:\{[^}]*\})?)\.*: +(?P<values>(?:avg=|\d|[✓✗] ).*)$",
    re.MULTILINE,
)
_K6_KEPT = ("http_req_duration", "http_req_failed", "http_reqs", "iteration_duration", "iterations",
            "checks", "checks_total", "checks_succeeded", "checks_failed", "ws_", "grpc_req_duration")  # fmt: skip


@output(commands=("k6",), signatures=("http_req_duration", "iteration_duration"))
def k6(run: Run, text: str) -> Iterator[Claim]:
    """Read k6's summary, of both forms: durations by statistic, counts with their rate."""
    script = next((w.rsplit("/", 1)[-1] for w in run.args() if w.endswith((".js", ".ts"))), "k6")
    config = flags(run) if run.name == "k6" else ""
    for match in _K6.finditer(text):
        name, values = match["name"], match["values"].strip()
        if not name.startswith(_K6_KEPT):
            continue
        for stat, value, unit in re.findall(
            r"(avg|med|max|p\(\d+\))=([\d.]+)(µs|ms|m\S*|s)\b", values
        ):
            yield measured(
                match.group(0), script, f"{name} {stat}", value, unit, configuration=config
            )
        rate = re.search(r"^(\d+) +([\d.]+)/s$", values)
        share = re.search(r"^([\d.]+)% ", values)
        if rate:
            yield measured(match.group(0), script, name, rate[2], "/s", configuration=config,
                           text=f"{rate[2]}/s ({rate[1]} in all)")  # fmt: skip
        elif share:
            yield measured(match.group(0), script, name, share[1], "%", configuration=config)


_LOCUST = re.compile(
    r"^(?P<type>[A-Z]+)?[ \t]+(?P<name>\S(?:.{0,200}?\S)?)[ \t]+(?P<n>\d+)[ \t]+(?P<bad>\d+)\((?P<share>[\d.]+)%\)[ \t]+\|"
    r"[ \t]+(?P<avg>\d+)[ \t]+\d+[ \t]+(?P<max>\d+)[ \t]+(?P<med>\d+)[ \t]+\|[ \t]+(?P<rate>[\d.]+)[ \t]+[\d.]+$",
    re.MULTILINE,
)


@output(commands=("locust",), signatures=("# fails |",))
def locust(run: Run, text: str) -> Iterator[Claim]:
    """Read the last table of Locust: rate, mean and median time, failures of each endpoint."""
    start = text.rfind("# reqs      # fails")
    config = flags(run) if run.name == "locust" else ""
    for match in list(_LOCUST.finditer(text, max(start, 0)))[:20]:
        name = f"{match['type'] or ''} {match['name']}".strip()
        for metric, value, unit in (("requests", match["rate"], "req/s"),
                                    ("average", match["avg"], "ms"),
                                    ("median", match["med"], "ms"),
                                    ("failures", match["share"], "%")):  # fmt: skip
            if metric != "failures" or match["bad"] != "0":
                yield measured(match.group(0), name, metric, value, unit, configuration=config)


_HEY: Wanted = (
    (r"^[ \t]+Requests/sec:\s+([\d.]+)$", "requests", "req/s"),
    (r"^[ \t]+Success rate:\s+([\d.]+)(%)$", "success rate", ""),
    (r"^[ \t]+Average:\s+([\d.]+) ?(ms|sec|secs)$", "average", "secs"),
    (r"^[ \t]+Slowest:\s+([\d.]+) ?(ms|sec|secs)$", "slowest", "secs"),
)


@output(commands=("hey", "oha", "bombardier"), signatures=("Response time histogram:",))
def hey_oha(run: Run, text: str) -> Iterator[Claim]:
    """Read the summary of hey and of oha, with its percentiles."""
    if "Requests/sec" not in text:
        return
    subject, config = _url(run), flags(run)
    yield from _each(text, _HEY, subject, config)
    for match in re.finditer(
        r"^[ \t]+(50|90|95|99)(?:\.00)?% in ([\d.]+) (ms|secs?)$", text, re.MULTILINE
    ):
        yield measured(match.group(0), subject, f"p{match[1]}", match[2], match[3],
                       configuration=config)  # fmt: skip


@output(commands=("vegeta",), signatures=("[total, rate, throughput]",))
def vegeta(run: Run, text: str) -> Iterator[Claim]:
    """Read vegeta's text report."""
    for head, names in (("Requests", 3), ("Latencies", 7), ("Success", 1)):
        match = re.search(rf"^{head}\s+\[([^\]]+)\]\s+(.+)$", text, re.MULTILINE)
        if match is None:
            continue
        labels, values = (re.split(r", *", match[i].strip()) for i in (1, 2))
        for label, value in list(zip(labels, values, strict=False))[:names]:
            figure = re.fullmatch(r"([\d.]+)(\D*)", value)
            if figure and label not in ("total", "min"):
                unit = "req/s" if label in ("rate", "throughput") else figure[2]
                name = "success" if head == "Success" else f"{head.lower()} {label}"
                yield measured(match.group(0), "vegeta", name, figure[1], unit)


_SIEGE: Wanted = (
    (r"^Transaction rate:\s+([\d.]+) (trans/sec)$", "transaction rate", ""),
    (r"^Response time:\s+([\d.]+) (secs|ms)$", "response time", ""),
    (r"^Availability:\s+([\d.]+) (%)$", "availability", ""),
    (r"^Failed transactions:\s+(\d+)$", "failed transactions", ""),
)


@output(commands=("siege",), signatures=("Transaction rate:",))
def siege(run: Run, text: str) -> Iterator[Claim]:
    """Read siege's summary."""
    yield from _each(text, _SIEGE, _url(run), flags(run))
