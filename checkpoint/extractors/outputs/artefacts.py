"""Sizes of what was built: images of containers, bundles of JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from checkpoint.extractors._quantity import decimal
from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured

MOST = 6
"""Of more files the largest are kept."""
_IMAGE = re.compile(
    r"^(?P<name>\S+)\s+(?P<tag>\S+)\s+[0-9a-f]{12}\s+.+? ago\s+(?P<value>[\d.]+)(?P<unit>[kKMGT]?B)$",
    re.MULTILINE,
)


@output(
    commands=("docker", "docker images", "docker image", "podman images"), signatures=("IMAGE ID",)
)
def image_sizes(run: Run, text: str) -> Iterator[Claim]:
    """Read the sizes of a few images."""
    found = [m for m in _IMAGE.finditer(text) if m["name"] != "<none>"]
    if "REPOSITORY" in text and 0 < len(found) <= MOST:
        for match in found:
            tag = "" if match["tag"] == "latest" else f":{match['tag']}"
            yield measured(
                match.group(0), f"image {match['name']}{tag}", "size", match["value"], match["unit"]
            )


_VITE = re.compile(
    r"^(?P<path>\S+\.\w+)\s+(?P<value>[\d.,]+) (?P<unit>[kM]i?B)(?: │ gzip:\s+(?P<gzip>[\d.,]+ [kM]i?B))?.*$",
    re.MULTILINE,
)
_WEBPACK = re.compile(
    r"^asset (?P<path>\S+\.\w+) (?P<value>[\d.]+) (?P<unit>[KM]iB|bytes) \[", re.MULTILINE
)
_HASH = re.compile(r"[-.](?=[\w-]{8,20}\.)(?=[\w-]*\d)[\w-]{8,20}(?=\.)")


@output(signatures=(" │ gzip:", "\nasset ", "asset "))
def bundle_sizes(run: Run, text: str) -> Iterator[Claim]:
    """Read the sizes of bundles; hashes in names are left out, so that builds compare."""
    found = [*_VITE.finditer(text), *_WEBPACK.finditer(text)]
    if "gzip:" not in text and "compiled" not in text:
        return
    largest = sorted(found, key=_bytes, reverse=True)[:MOST]
    for match in found:
        if match in largest:
            shown = f"{match['value']} {match['unit']}"
            gzip = match.groupdict().get("gzip")
            yield measured(match.group(0), _HASH.sub("", match["path"]), "size", match["value"],
                           match["unit"], text=f"{shown} (gzip {gzip})" if gzip else shown)  # fmt: skip


def _bytes(match: re.Match[str]) -> Decimal:
    scale = {"k": 1_000, "K": 1_000, "M": 1_000_000}.get(match["unit"][0], 1)
    return (decimal(match["value"]) or Decimal(0)) * scale
