"""What tools printed, read by parsers that know the tool: by its command first, by content second.

Only shell calls are read: a fetched page or a read file holds other people's figures. Outputs of
failed calls yield test results, checks and nothing that was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ahocorasick_rs import AhoCorasick

from checkpoint.extractors._base import extractor
from checkpoint.extractors._shell import Run, runs
from checkpoint.extractors._stretches import stretches
from checkpoint.extractors.outputs import Claim, Output, outputs
from checkpoint.extractors.outputs._own import measures, runs_own
from checkpoint.model import Message, ToolCall
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact

LONGEST = 200_000
"""Of longer outputs the beginning and the end are looked at (characters)."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_TRUNCATED = re.compile(
    r"\[(?:output )?truncated\]|… \+\d+ lines|\[\.\.\. \d+|<truncated|truncated to|"
    r"\d+ lines? omitted",
    re.I,
)
_EVEN_FAILED = frozenset({"tests", "check", "ci", "failure", "commit_undone"})
_BEFORE_FAILED = frozenset({"hardware", "software"})
"""What commands before the one that failed showed of the machine holds."""
_SHOWING = frozenset(
    {"cat", "tail", "head", "grep", "egrep", "rg", "less", "sed", "awk", "sort", "tee", "wc"}
)
_ASIDE = frozenset(
    {
        "cd",
        "echo",
        "sleep",
        "git",
        "gh",
        "curl",
        "wget",
        "find",
        "ls",
        "diff",
        "mkdir",
        "rm",
        "cp",
        "mv",
        "export",
    }
)
"""They stand beside the command whose results an output holds."""
_LISTING = frozenset({"grep", "egrep", "rg", "sed", "awk", "ps", "sort", "wc", "env", "printenv"})
"""What they print has labels and numbers, and none of them was measured."""
_PREFIXED = frozenset({"mise", "turbo", "hk", "moon", "concurrently"})
"""They run tasks side by side and put the task's name in front of each line."""
_TASK = re.compile(
    r"^(?:\[[\w:.@/ -]{2,60}\] ?|[\w@/.-]+:[\w:-]+: |[\w.-]{2,40} – )+(?=\S| )", re.MULTILINE
)
_SOURCE = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|go|rs|c|cc|cpp|h|java|rb|php|md|rst|ya?ml|toml|html|css|sh|sql|ipynb)\b"
)


@cache
def _by_command() -> dict[str, list[Output]]:
    table: dict[str, list[Output]] = {}
    for one in outputs():
        for command in one.commands:
            table.setdefault(command, []).append(one)
    return table


@cache
def _by_signature() -> tuple[AhoCorasick, list[tuple[Output, ...]]]:
    table: dict[str, list[Output]] = {}
    for one in outputs():
        for signature in one.signatures:
            table.setdefault(signature, []).append(one)
    literals = sorted(table)
    return AhoCorasick(literals or ["\0"]), [tuple(table[s]) for s in literals]


@extractor
def tool_outputs(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield the claims of all parsers that an output concerns, as facts."""
    for call in message.calls():
        if call.category != "shell" or not call.finished or call.refused or not call.output:
            continue
        text = clean(call.output)
        if text.strip():
            yield from _parsed(message, call, text)


def clean(output: str) -> str:
    """Return an output without ANSI codes; of lines that were overwritten the last state."""
    if len(output) > LONGEST:
        output = output[: LONGEST // 2] + "\n" + output[-LONGEST // 2 :]
    if "\x1b" in output:
        output = _ANSI.sub("", output)
    if "\r" in output:
        output = output.replace("\r\n", "\n")
        output = "\n".join(_last_state(line) for line in output.split("\n"))
    return output


def _last_state(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _parsed(message: Message, call: ToolCall, text: str) -> Iterator[Fact]:
    found = runs(call.target)
    if not found:
        return
    if _PREFIXED & {r.name for r in found}:
        text = _TASK.sub("", text)
    partial = call.truncated or _TRUNCATED.search(text[:500] + text[-500:]) is not None
    for own, part in stretches(found, text):
        for run, claim in _claims(own, part):
            before = claim.kind in _BEFORE_FAILED and run.command != found[-1].command
            if not call.failed or claim.kind in _EVEN_FAILED or before:
                yield _fact(message, call, run, claim, partial)


def _claims(found: list[Run], text: str) -> Iterator[tuple[Run, Claim]]:
    """Yield what the parsers make of one stretch, each claim once."""
    known = list(_known(found, text))
    hosts: dict[str, set[str]] = {}
    for run, parser in known:
        hosts.setdefault(parser.name, set()).add(run.host)
    seen: set[tuple[str, str, str]] = set()
    for run, parser in (*known, *_generic(found)):
        generic = parser.commands == ("*",)
        if generic and seen:
            return  # a parser that knows the tool has spoken
        for claim in parser.parse(run, text):
            if claim.kind in _BEFORE_FAILED and len(hosts.get(parser.name, ())) > 1:
                continue  # the same tool ran on several hosts, and no line tells whose this is
            mark = (claim.kind, claim.quote, repr(sorted(claim.fields.items(), key=str)))
            if mark in seen:
                continue
            if not generic and not parser.beside:
                seen.add(mark)
            yield run, claim


def _known(found: list[Run], text: str) -> Iterator[tuple[Run, Output]]:
    """Yield the parsers that a command or the content names, each once a command."""
    table = _by_command()
    done: set[tuple[str, str]] = set()
    for run in found:
        for name in (f"{run.name} {run.sub}".strip(), run.name):
            for parser in table.get(name, ()):
                if (parser.name, run.command) not in done:
                    done.add((parser.name, run.command))
                    yield run, parser
    main = _main(found)
    if _shows_others(main):
        return
    automaton, parsers = _by_signature()
    hit: dict[str, Output] = {}
    for index, _, _ in automaton.find_matches_as_indexes(text):
        for parser in parsers[index]:
            hit[parser.name] = parser
    for name in sorted(hit):
        if not any(one == name for one, _ in done):
            yield main, hit[name]


def _generic(found: list[Run]) -> Iterator[tuple[Run, Output]]:
    main = _own(found)
    if main.name not in _LISTING and not _shows_others(main):
        for parser in _by_command().get("*", ()):
            yield main, parser


def _own(found: list[Run]) -> Run:
    """The command whose results an output holds: the last that measures, else that is ours."""
    own = [r for r in found if runs_own(r)]
    telling = [r for r in own if measures(r)]
    return (telling or own)[-1] if own else _main(found)


def _shows_others(main: Run) -> bool:
    """Whether a command shows a source file, a document or a page: no results of its own."""
    if main.name in _SHOWING:
        return _SOURCE.search(main.command) is not None
    return main.name in ("curl", "wget", "git", "diff", "gh", "find", "ls", "apply_patch")


_MEASURES = re.compile(r"test|check|spec|bench|verify|perf|eval|lint|build", re.IGNORECASE)


def _main(found: list[Run]) -> Run:
    """The command that an output without a known one is credited to."""
    own = [r for r in found if r.name not in _SHOWING and r.name not in _ASIDE]
    telling = [r for r in own if _MEASURES.search(r.command)]
    return (telling or own or found)[-1 if telling else 0]


def _fact(message: Message, call: ToolCall, run: Run, claim: Claim, partial: bool) -> Fact:
    fields = dict(claim.fields)
    fields.setdefault("host", run.host)
    if partial and claim.kind == "measurement":
        fields["partial"] = True
    quote = claim.quote if claim.quote in call.output else _verbatim(claim.quote, call.output)
    return fact(message, claim.kind, "", quote, Authority.OUTPUT, **fields)


def _verbatim(quote: str, output: str) -> str:
    """Return the stored line that a cleaned quote came from; "" if ANSI codes hide it."""
    words = quote.split()
    if not words:
        return ""
    key = max(words, key=len)
    lines = output.split("\n")
    for line in lines:
        if ("\x1b" in line or "\r" in line) and clean(line).split() == words:
            return line.strip("\r")[:300]
    for line in lines:
        if quote in line:
            return line.strip("\r")[:300]
    for line in lines:
        if key in line:
            return line.strip("\r")[:300]
    return ""
