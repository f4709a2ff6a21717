"""Benchmarks of disks, networks and counters: fio, iperf3, dd, perf stat, NCCL's tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured

_FIO_JOB = re.compile(r"^(?P<name>\S.*?): \(groupid=\d+, jobs=(?P<jobs>\d+)\): err=", re.MULTILINE)
_FIO_HEAD = re.compile(
    r"^\S.*?: \(g=\d+\): rw=(?P<rw>\w+), bs=(?:\(R\) )?(?P<bs>\w+?)B?(?:-\w+)?,.*?iodepth=(?P<depth>\d+)",
    re.MULTILINE,
)
_FIO_IO = re.compile(
    r"^[ \t]+(?P<way>read|write|trim): IOPS=(?P<iops>[\d.]+)(?P<k>[kM]?), BW=(?P<bw>[\d.]+)(?P<unit>[KMG]?i?B/s)",
    re.MULTILINE,
)


@output(commands=("fio",), signatures=(": IOPS=",))
def fio(run: Run, text: str) -> Iterator[Claim]:
    """Read IOPS, bandwidth and the 99th percentile of each job and direction."""
    jobs = list(_FIO_JOB.finditer(text))
    head = _FIO_HEAD.search(text)
    config = f"{head['rw']} bs={head['bs']} iodepth={head['depth']}" if head else ""
    for match in _FIO_IO.finditer(text):
        job = next((j for j in reversed(jobs) if j.start() < match.start()), None)
        name = f"fio {job['name'] if job else ''} {match['way']}".replace("  ", " ")
        shown = config + (f" jobs={job['jobs']}" if job and job["jobs"] != "1" else "")
        iops = match["iops"] + match["k"]
        yield measured(match.group(0), name, "IOPS", iops, "IOPS", configuration=shown)
        yield measured(
            match.group(0), name, "bandwidth", match["bw"], match["unit"], configuration=shown
        )
        later = _FIO_IO.search(text, match.end())
        part = text[match.end() : later.start() if later else len(text)]
        unit = re.search(r"clat percentiles \((\w+)\):", part)
        tail = re.search(r"99\.00th=\[\s*(\d+)\]", part)
        if unit and tail:
            yield measured(tail.group(0), name, "clat p99", tail[1], unit[1], configuration=shown)


@output(commands=("iperf3", "iperf"), signatures=("iperf Done.", " sender\n"))
def iperf3(run: Run, text: str) -> Iterator[Claim]:
    """Read the rates of sender and receiver; of parallel streams their sum."""
    host = re.search(r"^Connecting to host (\S+), port", text, re.MULTILINE)
    name = f"iperf3 {host[1]}" if host else "iperf3"
    found = list(re.finditer(
        r"^\[\s*(?P<id>\d+|SUM)\]\s+[\d.]+-\s*[\d.]+\s+sec\s+[\d.]+ \w+\s+(?P<rate>[\d.]+) (?P<unit>\wbits/sec)"
        r"(?:\s+(?P<retr>\d+))?\s+(?P<end>sender|receiver)", text, re.MULTILINE))  # fmt: skip
    summed = [m for m in found if m["id"] == "SUM"] or found
    config = (
        " ".join(w for w in run.args() if w != (host[1] if host else ""))
        if run.name != "iperf"
        else ""
    )
    for match in summed[:4]:
        yield measured(match.group(0), name, match["end"], match["rate"], match["unit"],
                       configuration=config,
                       spread=f"{match['retr']} retransmits" if match["retr"] else "")  # fmt: skip


@output(commands=("dd",), signatures=(" copied, ",))
def dd(run: Run, text: str) -> Iterator[Claim]:
    """Read the rate in dd's last line."""
    target = next((w for w in run.argv if w.startswith("of=")), "dd")
    for match in list(re.finditer(
        r"^\d+ bytes \(.*?\) copied, [\d.,]+ s, ([\d.,]+) ([kMGT]?B/s)$", text, re.MULTILINE))[:3]:  # fmt: skip
        yield measured(
            match.group(0), f"dd {target}".replace("dd dd", "dd"), "rate", match[1], match[2]
        )


_EVENT = re.compile(
    r"^[ \t]+(?P<value>\d[\d.,]*)\s+(?:(?P<unit>msec|Joules)\s+)?(?P<event>[a-zA-Z][\w./:-]*)(?:\s+#\s+(?P<derived>[\d.,]+)\s+(?P<of>\S.*?))?"
    r"(?:\s+\([\d.]+%\))?\s*$",
    re.MULTILINE,
)
_EVENTS = re.compile(
    r"task-clock|cycles|instructions|branch-misses|cache-misses|page-faults|energy"
)


@output(commands=("perf stat", "perf"), signatures=("Performance counter stats for",))
def perf_stat(run: Run, text: str) -> Iterator[Claim]:
    """Read the telling counters and the time elapsed."""
    head = re.search(r"Performance counter stats for '(.+?)'", text)
    if head is None:
        return
    start = head.end()
    for match in _EVENT.finditer(text, start):
        if _EVENTS.search(match["event"]):
            derived = f"{match['derived']} {match['of']}" if match["derived"] else ""
            yield measured(match.group(0), head[1], match["event"], match["value"],
                           match["unit"] or "", spread=derived)  # fmt: skip
    took = re.search(
        r"^[ \t]+([\d.,]+) (?:\+- ([\d.,]+) )?seconds time elapsed.*$", text[start:], re.MULTILINE
    )
    if took:
        yield measured(took.group(0), head[1], "time elapsed", took[1], "seconds",
                       spread=f"± {took[2]}" if took[2] else "")  # fmt: skip


@output(signatures=("# Avg bus bandwidth",))
def nccl_tests(run: Run, text: str) -> Iterator[Claim]:
    """Read the mean bus bandwidth of NCCL's tests."""
    match = re.search(r"^# Avg bus bandwidth\s+: ([\d.]+)", text, re.MULTILINE)
    if match:
        yield measured(match.group(0), run.name, "average bus bandwidth", match[1], "GB/s",
                       configuration=" ".join(run.args())[:120])  # fmt: skip
