"""Benchmarks of language models: serving, offline throughput, llama.cpp, Ollama, lm-eval."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured
from checkpoint.extractors.outputs._names import configuration, subject

_WANTED = ("throughput", "ttft", "tpot", "itl", "e2e", "successful", "failed", "duration", "acceptance",
           "accept length", "concurrency", "request rate", "goodput")  # fmt: skip
_ROW = re.compile(r"^([A-Z][\w .%-]+?)(?: \(([^)]+)\))?:[ \t]+([\d.,]+)[ \t]*$", re.MULTILINE)
_FLAGS = re.compile(
    r"--(?:max-concurrency|num-prompts|request-rate|random-\S+?|dataset-name|sharegpt-output-len|input-len|output-len)[= ]\S+"
)


@output(signatures=("Serving Benchmark Result",))
def serving_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read the block of vLLM's and SGLang's serving benchmark: rates and latencies of each phase."""
    start = text.rfind("Serving Benchmark Result")
    backend = re.search(r"--backend[= ](\S+)", run.command)
    name = f"{backend.group(1)} serving" if backend else "serving benchmark"
    config = " ".join(_FLAGS.findall(run.command))
    for match in _ROW.finditer(text, start):
        label = match[1].strip()
        if any(word in label.lower() for word in _WANTED):
            yield measured(
                match.group(0), name, label, match[3], match[2] or "", configuration=config
            )


@output(signatures=("Throughput: ", "Avg latency: "))
def offline_benchmark(run: Run, text: str) -> Iterator[Claim]:
    """Read `Throughput: 9.8 requests/s, 5012.4 total tokens/s, ...` and `Avg latency: 1.2 seconds`."""
    line = re.search(r"^Throughput: (\d[\d.]* requests/s, .*)$", text, re.MULTILINE)
    if line:
        for value, what, unit in re.findall(
            r"([\d.]+) (?:(total|output) )?(requests/s|tokens/s)", line[1]
        ):
            yield measured(line.group(0), subject(run), f"{what} throughput".strip(), value, unit,
                           configuration=configuration(run))  # fmt: skip
    latency = re.search(r"^Avg latency: ([\d.]+) (seconds)$", text, re.MULTILINE)
    if latency:
        yield measured(latency.group(0), subject(run), "average latency", latency[1], latency[2],
                       configuration=configuration(run))  # fmt: skip


@output(commands=("llama-bench",), signatures=("| t/s |", "|                  t/s |", " t/s |"))
def llama_bench(run: Run, text: str) -> Iterator[Claim]:
    """Read llama-bench's pipe table: tokens per second of each test, mean ± deviation."""
    columns: list[str] = []
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")] if "|" in line else []
        if "t/s" in cells and "test" in cells:
            columns = cells
        elif columns and len(cells) == len(columns) and "±" in cells[-1]:
            row = dict(zip(columns, cells, strict=True))
            value, _, spread = row["t/s"].partition("±")
            config = ", ".join(
                f"{k} {v}"
                for k, v in row.items()
                if k not in ("model", "test", "t/s", "size", "params")
            )
            yield measured(line, row.get("model", "llama-bench"), row["test"], value.strip(), "t/s",
                           configuration=config, spread=f"± {spread.strip()}")  # fmt: skip


@output(commands=("ollama",), signatures=("eval rate:",))
def ollama(run: Run, text: str) -> Iterator[Claim]:
    """Read what `ollama run --verbose` prints last."""
    args = [w for w in run.args() if not w.startswith("-")]
    name = args[1] if len(args) > 1 and args[0] == "run" else "ollama"
    for match in re.finditer(r"^(prompt eval rate|eval rate|load duration|total duration):\s+([\d.]+) ?(tokens/s|m?s)$",
                             text, re.MULTILINE):  # fmt: skip
        yield measured(match.group(0), name, match[1], match[2], match[3])


_LLAMA = re.compile(
    r"^.*?(?P<what>prompt eval|eval) time =\s*[\d.]+ ms /\s*\d+ (?:tokens|runs)\s*\(\s*[\d.]+ ms per token,\s*(?P<rate>[\d.]+) tokens per second\)",
    re.MULTILINE,
)


@output(signatures=(" tokens per second)",))
def llama_timings(run: Run, text: str) -> Iterator[Claim]:
    """Read llama.cpp's timings."""
    for match in list(_LLAMA.finditer(text))[-2:]:
        yield measured(match.group(0), subject(run), f"{match['what']} rate", match["rate"],
                       "tokens per second", configuration=configuration(run))  # fmt: skip


@output(commands=("lm_eval", "lm-eval"), signatures=("|n-shot|", "| n-shot |"))
def lm_eval(run: Run, text: str) -> Iterator[Claim]:
    """Read lm-eval's table; an empty task cell means the task above."""
    columns: list[str] = []
    task = filtered = shots = ""
    for line in text.splitlines():
        if not line.startswith("|"):
            columns = []
            continue
        cells = [c.strip() for c in line.strip("|").split("|")]
        if "Metric" in cells and "Value" in cells:
            columns = cells
        elif columns and len(cells) == len(columns) and not set(line) <= set("|-: "):
            row = {name: cell for name, cell in zip(columns, cells, strict=True) if name}
            task = row.get("Tasks", row.get("Groups", "")).lstrip("- ") or task
            filtered, shots = row.get("Filter") or filtered, row.get("n-shot") or shots
            config = f"{shots}-shot" + (f", {filtered}" if filtered and filtered != "none" else "")
            error = row.get("Stderr", "")
            yield measured(line, task, row["Metric"], row["Value"], configuration=config,
                           spread=f"± {error}" if error and error != "N/A" else "")  # fmt: skip
