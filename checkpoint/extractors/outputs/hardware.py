"""Machines: lscpu, free, df, nvidia-smi, sysctl, nproc."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output


def _hardware(subject: str, attribute: str, value: str, quote: str) -> Claim:
    return Claim(
        "hardware",
        quote.strip(),
        {"subject": subject, "attribute": attribute, "value": value.strip()},
    )


def _keyed(text: str, name: str) -> re.Match[str] | None:
    return re.search(rf"^[ \t]*{re.escape(name)}:[ \t]+(.+?)[ \t]*$", text, re.MULTILINE)


_LSCPU = (
    ("Model name", "model"),
    ("CPU(s)", "threads"),
    ("Socket(s)", "sockets"),
    ("Core(s) per socket", "cores per socket"),
    ("NUMA node(s)", "NUMA nodes"),
    ("Architecture", "architecture"),
)


@output(commands=("lscpu",), signatures=("Socket(s):",))
def lscpu(run: Run, text: str) -> Iterator[Claim]:
    """Read the keys of lscpu that say what the machine is; flags and caches are left out."""
    for key, attribute in _LSCPU:
        match = _keyed(text, key)
        if match:
            yield _hardware("CPU", attribute, match.group(1), match.group(0))


@output(commands=("free",), signatures=("buff/cache",))
def free(run: Run, text: str) -> Iterator[Claim]:
    """Read the total memory; what is used now is no property of the machine."""
    match = re.search(r"^Mem:\s+(\S+)\s.*$", text, re.MULTILINE)
    if not match:
        return
    total = match.group(1)
    if total.isdigit():
        unit = 1 if "-b" in run.argv else 1024 * 1024 if "-m" in run.argv else 1024
        unit = 1024**3 if "-g" in run.argv else unit
        total = f"{int(total) * unit / 1024**3:.1f} GiB"
    yield _hardware("RAM", "size", total, match.group(0))


@output(commands=("nproc",))
def nproc(run: Run, text: str) -> Iterator[Claim]:
    """Read the number of processors: the last line that is a number alone."""
    found = re.findall(r"^\d{1,4}$", text.strip(), re.MULTILINE)
    if found and run.argv[1:] == []:
        yield _hardware("CPU", "threads", found[-1], found[-1])


@output(commands=("df",), signatures=("Use% Mounted on",))
def df(run: Run, text: str) -> Iterator[Claim]:
    """Read size and free space of the file systems of real disks."""
    for match in re.finditer(
        r"^(/dev/\S+|\S+:/\S+)\s+(\d[\d.]*[KMGTP]?i?)\s+\S+\s+(\d[\d.]*[KMGTP]?i?)\s+\d+%\s+(/\S*)$",
        text,
        re.MULTILINE,
    ):
        if match[4].startswith(("/boot", "/snap", "/dev", "/run")) or match[2].isdigit():
            continue
        yield _hardware(f"Disk {match[4]}", "size", f"{match[2]} ({match[3]} free)", match.group(0))


@output(commands=("sysctl",), signatures=("machdep.cpu.brand_string",))
def sysctl(run: Run, text: str) -> Iterator[Claim]:
    """Read the processor and memory of a Mac."""
    asked = run.command
    if "brand_string" in asked:
        for line in text.splitlines():
            value = line.partition(": ")[2] if "brand_string" in line else line
            if re.match(r"(?:Apple |Intel|AMD)", value):
                yield _hardware("CPU", "model", value, line)
                return
    match = re.search(r"(?:hw\.memsize: )?\b(\d{10,13})\b", text)
    if match and "memsize" in asked:
        yield _hardware("RAM", "size", f"{int(match[1]) / 1024**3:.0f} GiB", match.group(0))


_BOX = re.compile(
    r"^\|\s+(\d+)\s{1,3}((?:NVIDIA|Tesla|GeForce|Quadro|RTX|A100|H100)[^|]*?)\s+(?:On|Off|N/A)\s*\|",
    re.MULTILINE,
)
_MEMORY = re.compile(r"\|\s*\d+MiB / +(\d+)MiB \|")


@output(commands=("nvidia-smi",), signatures=("NVIDIA-SMI", "GPU 0: NVIDIA"))
def nvidia_smi(run: Run, text: str) -> Iterator[Claim]:
    """Read driver, CUDA, GPUs and their memory; load and temperature are passing."""
    head = re.search(r"^.*Driver Version: ([\d.]+).*?CUDA Version: ([\d.]+).*$", text, re.MULTILINE)
    if head:
        yield _software("NVIDIA driver", head[1], head.group(0))
        yield _software("CUDA", head[2], head.group(0))
    names = [(m[2], m.group(0)) for m in _BOX.finditer(text)]
    names += [
        (m[2], m.group(0))
        for m in re.finditer(r"^GPU (\d+): (.+?)(?: \(UUID.*)?$", text, re.MULTILINE)
    ]
    if names:
        yield _hardware("GPU", "count", str(len(names)), names[0][1])
        yield _hardware("GPU", "model", names[0][0], names[0][1])
    memory = _MEMORY.search(text)
    if names and memory:
        yield _hardware("GPU", "memory", f"{memory[1]} MiB each", memory.group(0))
    if "topo" in run.argv:
        yield from _topology(text)


def _topology(text: str) -> Iterator[Claim]:
    rows = re.findall(
        r"^(GPU\d+)\t?\s+((?:(?:X|NV\d+|NODE|SYS|PIX|PXB|PHB)\s+)+).*$", text, re.MULTILINE
    )
    links = {link for _, row in rows for link in row.split()} - {"X"}
    if not links:
        return
    quote = next(line for line in text.splitlines() if line.startswith("GPU0"))
    switched = any(link.startswith("NV") for link in links)
    value = "NVLink " + ", ".join(sorted(links)) if switched else (
        "PCIe only (" + ", ".join(sorted(links)) + "), no NVLink")  # fmt: skip
    yield _hardware("GPU topology", "interconnect", value, quote)
    nodes: dict[str, list[str]] = {}
    for line in text.splitlines():
        match = re.match(r"(GPU\d+)\s.*?\s(\d+)\s*(?:N/A)?\s*$", line)
        if match:
            nodes.setdefault(match[2], []).append(match[1])
    if len(nodes) > 1:
        parts = [f"node {node}: {gpus[0]}-{gpus[-1]}" for node, gpus in sorted(nodes.items())]
        yield _hardware("NUMA", "GPUs", "; ".join(parts), quote)


def _software(subject: str, version: str, quote: str) -> Claim:
    return Claim(
        "software", quote.strip(), {"subject": subject, "attribute": "version", "value": version}
    )
