"""ffmpeg: how large each output became, and with which filters and codecs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured

_OUTPUT = re.compile(r"^Output #\d+, \w+, to '([^'\n]+)':", re.MULTILINE)
_SIZE = re.compile(r"^.*?\bLsize=\s*(\d+)\s*(Ki?B|kB) time=([\d:.]+) .*$", re.MULTILINE)
_TELLING = (
    "-vf",
    "-lavfi",
    "-filter_complex",
    "-r",
    "-crf",
    "-b:v",
    "-c:v",
    "-preset",
    "-s",
    "-q:v",
)


@output(commands=("ffmpeg",))
def ffmpeg(run: Run, text: str) -> Iterator[Claim]:
    """Read the size that each output had at the end, with the options that made it so."""
    words = run.args()
    config = " ".join(f"{w} {v}" for w, v in pairwise(words) if w in _TELLING)
    if "palettegen" in config:
        return  # the first of two passes: what it wrote is no result
    found = list(_OUTPUT.finditer(text))
    for at, match in enumerate(found[:12]):
        if match[1] not in words and "$" not in run.command:
            continue
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        size = _SIZE.search(text, match.end(), end)
        if size:
            yield measured(
                size.group(0), match[1], "size", size[1], size[2], configuration=config[:160]
            )
