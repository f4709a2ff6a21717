"""How long queries and requests took: psql, MySQL, SQLite, `curl -w`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output
from checkpoint.extractors.outputs._claims import measured

MOST = 6
"""Of longer lists no time is known to be whose."""
_PSQL = re.compile(r"^[ \t]*(?:(Execution|Planning) )?Time: ([\d.,]+) ms\b", re.MULTILINE)
_MYSQL = re.compile(
    r"^(?:\d+ rows? in set|Query OK, \d+ rows? affected)[^\n]*? \((?:(\d+ min) )?([\d.]+) sec\)$",
    re.MULTILINE,
)
_SQLITE = re.compile(r"^Run Time: real ([\d.]+) user [\d.]+ sys [\d.]+$", re.MULTILINE)
_ASKED = re.compile(r"(?:-c|-e|--command|--execute)[= ](?P<q>['\"]?)(.+)(?P=q)", re.DOTALL)


def _query(run: Run) -> str:
    match = _ASKED.search(run.command)
    text = " ".join((match[2] if match else run.heredoc).split())
    return text.strip("'\"")[:120]


@output(commands=("psql", "mysql", "mariadb", "sqlite3"), beside=True)
def query_time(run: Run, text: str) -> Iterator[Claim]:
    """Read execution times; the query is the configuration."""
    config = _query(run)
    found = list(_PSQL.finditer(text))
    explained = [m for m in found if m[1] == "Execution"]
    for match in (explained or [m for m in found if not m[1]])[:MOST]:
        metric = "execution time" if match[1] else "time"
        yield measured(match.group(0), run.name, metric, match[2], "ms", configuration=config)
    for pattern, group in ((_MYSQL, 2), (_SQLITE, 1)):
        rows = list(pattern.finditer(text))
        if len(rows) == 1:
            yield measured(
                rows[0].group(0), run.name, "time", rows[0][group], "s", configuration=config
            )


_WRITTEN = re.compile(
    r"^[ \t]*(?P<label>[A-Za-z][\w .-]{0,30}?)\s*[:=]\s*(?P<value>\d+[.,]\d+)\s*(?P<unit>s|ms|sec|seconds)?\s*$",
    re.MULTILINE,
)


@output(commands=("curl",))
def curl_times(run: Run, text: str) -> Iterator[Claim]:
    """Read the times that `curl -w` was asked to write."""
    if not re.search(r"(?:-w|--write-out|-\w+w)[ =].*time_", run.command, re.DOTALL):
        return
    url = next((w for w in run.args() if re.match(r"https?://|localhost|[\w.-]+:\d+/?", w)), "curl")
    found = list(_WRITTEN.finditer(text))
    for match in found[:8]:
        if re.search(
            r"time|total|connect|ttfb|first|transfer|lookup|appconnect|dns|tls",
            match["label"],
            re.IGNORECASE,
        ):
            yield measured(
                match.group(0), url, match["label"].strip(), match["value"], match["unit"] or "s"
            )
    bare = re.search(r"^(\d+\.\d+)s?$", text.strip(), re.MULTILINE)
    if not found and bare and "time_total" in run.command:
        yield measured(bare.group(0), url, "time_total", bare[1], "s")
