"""Training logs: of each metric the last value and the best, never every step."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._names import configuration, subject

_DICT = re.compile(r"^[ \t]*\{'[\w/-]+': .*\}\s*$", re.MULTILINE)
_PAIR = re.compile(r"['\"]([\w/-]+)['\"]: ['\"]?(-?\d[\d.]*(?:e-?\d+)?)\b")
_STEP = re.compile(
    r"\b(?:epoch|step|iter(?:ation)?)\b[ =:#\[]*\d+.*\b(?:loss|acc\w*|ppl|perplexity|f1|auc|bleu|wer|map|reward)\b",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"^[ \t]*Epoch \[?(\d+ ?/ ?\d+)\]?:?\s*$", re.IGNORECASE)
_KERAS = re.compile(r" - (?:\w+_)?loss: \d")
_METRIC = re.compile(
    r"\b((?:val(?:id(?:ation)?)?|train|test|eval)?[_ -]?(?:loss|acc(?:uracy)?|ppl|perplexity|f1|auc|bleu|wer|map|reward))\b[ =:]+(-?\d+(?:\.\d+)?)(%?)",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:epoch|step|iter(?:ation)?)\b[ =:#\[]*(\d[\d/.]*)", re.IGNORECASE)
_SMALL_IS_GOOD = re.compile(r"loss|ppl|perplexity|wer|error|mse|mae|rmse", re.IGNORECASE)
_NO_METRIC = re.compile(
    r"^(?:epoch|step|learning_rate|lr|grad_norm|.*runtime|.*per_second|total_flos|num_\w+)$"
)

Point = tuple[str, str, str]  # value, where, line


@output(signatures=("'loss': ", "'eval_loss': ", "'train_loss': ", "'eval_accuracy': "))
def trainer_log(run: Run, text: str) -> Iterator[Claim]:
    """Read the dictionaries that Hugging Face's Trainer and its kin print."""
    series: dict[str, list[Point]] = {}
    for match in _DICT.finditer(text):
        pairs = dict(_PAIR.findall(match.group(0)))
        where = f"epoch {pairs['epoch']}" if "epoch" in pairs else ""
        for name, value in pairs.items():
            if not _NO_METRIC.match(name):
                series.setdefault(name, []).append((value, where, match.group(0).strip()))
    yield from _claims(subject(run), series, configuration(run))


@output(signatures=(" loss ", " loss: ", " loss=", " Loss: ", " acc ", "val_loss", "val_acc"))
def step_log(run: Run, text: str) -> Iterator[Claim]:
    """Read lines such as `epoch 4/5 step 9000 loss 1.904 acc 0.512`."""
    series: dict[str, list[Point]] = {}
    epoch = ""
    for line in text.split("\n"):
        head = _EPOCH.match(line)
        if head:
            epoch = f"epoch {head[1].replace(' ', '')}"
        elif len(line) < 400 and (_STEP.search(line) or (epoch and _KERAS.search(line))):
            places = [_place(m) for m in _PLACE.finditer(line)]
            for name, value, unit in _METRIC.findall(line):
                where = " ".join(places) or epoch
                series.setdefault(name.strip().lower(), []).append(
                    (value + unit, where, line.strip())
                )
    shown = run.name in ("cat", "tail", "head", "grep", "sed")
    yield from _claims(_log_name(run), series, "" if shown else configuration(run))


def _place(match: re.Match[str]) -> str:
    return f"{match.group(0).split()[0].strip(' =:#[0123456789/.')} {match[1]}"


def _log_name(run: Run) -> str:
    """A log that is shown is called by its file, whatever showed it."""
    for word in run.args():
        if word.endswith((".log", ".txt", ".out")):
            return word.rsplit("/", 1)[-1]
    return subject(run)


def _claims(name: str, series: dict[str, list[Point]], config: str) -> Iterator[Claim]:
    for metric, points in list(series.items())[:12]:
        value, where, line = points[-1]
        best = (min if _SMALL_IS_GOOD.search(metric) else max)(points, key=lambda p: _number(p[0]))
        spread = where
        if len(points) > 1 and best[0] != value:
            spread += f"; best {best[0]}" + (f" at {best[1]}" if best[1] else "")
        yield Claim("measurement", line, {
            "subject": name, "metric": metric, "value": value.rstrip("%"),
            "unit": "%" if value.endswith("%") else "", "text": value, "configuration": config,
            "source": "output", "spread": spread.strip("; ")})  # fmt: skip


def _number(value: str) -> float:
    try:
        return float(value.rstrip("%"))
    except ValueError:
        return 0.0
