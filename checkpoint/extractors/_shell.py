"""A command line in simple commands, without running anything.

It takes garbage and half-quoted text without raising, in linear time. What a shell would expand
stays as it is written, except plain variables that the same line sets. Branches count as taken, and
the body of a loop stands once; only a loop over hosts stands once for each host.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from checkpoint.extractors._shell_programs import ASSIGN, SHELLS, elsewhere, program, subcommand
from checkpoint.extractors._shell_words import Piece, pieces

LONGEST = 60_000
"""Characters of a command line that are looked at."""
MOST = 2_000
"""Simple commands of one line that are looked at."""
_DEEPEST = 4
_HOSTS = 16
"""Hosts of a loop that are told apart."""

_PLAIN_VALUE = re.compile(r"[\w./@:~+,=-]{1,200}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CRED", re.IGNORECASE)
_LEADS = frozenset(
    {"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "coproc"}
)
_OPENS = frozenset({"if", "while", "until", "{"})
_CLOSES = frozenset({"fi", "done", "esac", "}"})
_HEADS = frozenset({"for", "select", "case", "function", "foreach"})
_EXPORTS = frozenset({"export", "declare", "typeset", "local", "readonly", "setenv"})


@dataclass(slots=True)
class Run:
    """One simple command."""

    command: str
    """Verbatim, with its assignments; of ssh and `docker exec` the inner one."""
    argv: list[str]
    """Its words without quotes, assignments and redirections."""
    name: str = ""
    """The program, wrappers and folders removed; of `python -m X` it is X."""
    sub: str = ""
    """Subcommand or target of git, docker, cargo, make, ..."""
    env: dict[str, str] = field(default_factory=dict)
    host: str = "local"
    cwd: str = ""
    background: bool = False
    log: str = ""
    """Where its output goes, if that is a file."""
    stdin_from: str = ""
    piped_to: list[str] = field(default_factory=list)
    """Names of the programs behind it in its pipe."""
    heredoc: str = ""
    wrappers: tuple[str, ...] = ()
    rest: list[str] = field(default_factory=list)
    """The words behind the program."""
    fed_by: str = ""
    """Name of the program before it in its pipe."""
    errors_log: str = ""
    """Where its error output goes, if that is a file of its own."""

    def args(self) -> list[str]:
        """Return the words behind the program's name, options included."""
        return list(self.rest)

    def line(self) -> str:
        """Return the command on one line: continued lines joined."""
        return re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", self.command).strip()

    def option(self, *names: str) -> str:
        """Return the value of the first of these options: `--port 80`, `--port=80`, `-p80`."""
        words = self.rest
        for at, word in enumerate(words):
            for name in names:
                if word == name and at + 1 < len(words):
                    return words[at + 1]
                if word.startswith(f"{name}="):
                    return word[len(name) + 1 :]
                if len(name) == 2 and word.startswith(name) and len(word) > 2 and word[1] != "-":
                    return word[2:]
        return ""


@lru_cache(maxsize=512)
def _cached(command: str, host: str, cwd: str) -> tuple[Run, ...]:
    return tuple(_runs(command[:LONGEST], host, cwd, 0, {}))


def runs(command: str, *, host: str = "local", cwd: str = "") -> list[Run]:
    """Return the simple commands of a line, in order; they are shared, so never changed."""
    return list(_cached(command, host, cwd))


def _runs(command: str, host: str, cwd: str, depth: int, known: dict[str, str]) -> list[Run]:
    return _Line(command, host, cwd, depth, known).read() if depth <= _DEEPEST else []


@dataclass(slots=True)
class _Group:
    """What is open: a subshell, a block, a branch, a loop."""

    kind: str
    first: int
    """The place of its first command among those found."""
    cwd: str
    pipe: list[list[Run]]
    """The pipeline that it stands in."""
    words: tuple[str, list[str]] = ("", [])
    """Variable and values of a loop."""
    body: int = 0
    """Where the body of a loop begins."""


class _Line:
    """Reads one command line."""

    def __init__(self, text: str, host: str, cwd: str, depth: int, known: dict[str, str]) -> None:
        self.text, self.host, self.cwd, self.depth, self.known = text, host, cwd, depth, known
        self.found: list[Run] = []
        self.pipe: list[list[Run]] = [[]]
        """The commands of the pipeline that is being read, a list a stage."""
        self.groups: list[_Group] = []
        self.closed = 0
        """The place of the first command of the group that was closed last."""

    def read(self) -> list[Run]:
        for piece, operator in islice(pieces(self.text, self.known), MOST):
            pattern = operator == ")" and self.groups[-1:] and self.groups[-1].kind == "case"
            if piece is not None and not pattern:
                self._piece(piece)
            if operator == "(":
                self._open("(")
            elif operator == ")" and not pattern:
                self._close("(")
            elif not pattern:
                self._operator(operator)
        self._operator("")
        return self.found

    def _open(self, kind: str) -> None:
        if len(self.groups) < 100:
            self.groups.append(_Group(kind, len(self.found), self.cwd, self.pipe))
            self.pipe = [[]]

    def _close(self, kind: str) -> None:
        if not self.groups:
            return
        self._operator("")
        group = self.groups.pop()
        self.closed = group.first
        if kind == "(":
            self.cwd = group.cwd
        self.pipe = group.pipe
        self.pipe[-1].extend(self.found[group.first :])

    def _operator(self, operator: str) -> None:
        """Settle the pipeline that ends here, or go to its next stage."""
        if operator in ("|", "|&"):
            self.pipe.append([])
            return
        names = [stage[0].name for stage in self.pipe if stage][:20]
        if len(self.pipe) > 1:
            for at, stage in enumerate(self.pipe):
                for run in stage:
                    run.piped_to = run.piped_to + names[at + 1 :]
                    run.fed_by = run.fed_by or (names[at - 1] if 0 < at <= len(names) else "")
        if operator == "&":
            for stage in self.pipe:
                if stage:
                    stage[-1].background = True
        self.pipe = [[]]

    def _piece(self, piece: Piece) -> None:
        skip = self._leads(piece)
        words = piece.words[skip:]
        if not words or words[0] in _CLOSES:
            if words:
                self._close_block(piece, skip)
            if piece.redirects:
                self._redirect_group(piece)
            return
        if words[0] in _HEADS:
            self._head(words)
            return
        start = piece.places[skip] if skip else piece.start
        run = self._simple(self.text[start : piece.end].strip(), words, piece)
        if run is None:
            return
        if run.name in ("cd", "pushd") and run.host == self.host:
            target = next((w for w in run.rest if not w.startswith("-")), "~")
            inside = target[:1] not in "/~$" and self.cwd
            self.cwd = posixpath.join(self.cwd, target) if inside else target
            return
        found = list(self._inside(run))
        self.pipe[-1].extend(found)
        self.found.extend(found)

    def _leads(self, piece: Piece) -> int:
        """Return how many words in front only open a branch or a block."""
        skip = 0
        for word in piece.words:
            timed = word == "time" and piece.words[skip + 1 : skip + 2] in (["-p"], ["-v"], ["-f"])
            if word not in _LEADS or timed:
                break
            if word in _OPENS:
                self._open(word)
            elif word == "do" and self.groups:
                self.groups[-1].body = piece.places[skip] + 2
            skip += 1
        return skip

    def _head(self, words: list[str]) -> None:
        """Take the first line of a loop, a case or a function."""
        if words[0] == "function":
            if words[-1] == "{":
                self._open("{")
            return
        self._open("case" if words[0] == "case" else "loop")
        if self.groups and words[2:3] == ["in"] and words[0] != "case":
            self.groups[-1].words = (words[1], words[3:])

    def _close_block(self, piece: Piece, skip: int) -> None:
        group = self.groups[-1] if self.groups else None
        self._close(piece.words[skip])
        if group is not None and group.words[0] and self.depth == 0:
            self._unroll(group, piece.places[skip])

    def _unroll(self, group: _Group, end: int) -> None:
        """Put a loop over hosts in its place once for each host."""
        name, values = group.words
        marks = (f"${name}", f"${{{name}}}")
        inside = self.found[group.first :]
        if not any(mark in run.host for run in inside for mark in marks):
            return
        if not 0 < len(values) <= _HOSTS or not all(_PLAIN_VALUE.fullmatch(v) for v in values):
            return
        body = self.text[group.body : end]
        each = [
            run
            for value in values
            for run in _runs(body, self.host, self.cwd, self.depth + 1, {**self.known, name: value})
        ]
        kept = len(self.pipe[-1]) - len(inside)
        self.pipe[-1][kept:] = each
        self.found[group.first :] = each

    def _redirect_group(self, piece: Piece) -> None:
        log, _, _ = _targets(piece)
        for run in self.found[self.closed :] if log else ():
            run.log = run.log or log

    def _simple(self, text: str, words: list[str], piece: Piece) -> Run | None:
        log, stdin_from, errors = _targets(piece)
        document = piece.documents[0] if piece.documents else ""
        env: dict[str, str] = {}
        if words[0] in _EXPORTS or words[0].startswith("$env:"):
            env = _exported(words)
            self._learn(env)
            return Run(text, words, "export", "", env, self.host, self.cwd, heredoc=document,
                       rest=words[1:])  # fmt: skip
        at = 0
        while at < len(words) and ASSIGN.match(words[at]):
            key, value = words[at].split("=", 1)
            env[key] = value
            at += 1
        if at == len(words):
            self._learn(env)
            return Run(text, [], "", "", env, self.host, self.cwd)
        words = words[at:]
        what = program(words)
        env.update(what.env)
        sub, _ = subcommand(what.name, what.rest)
        return Run(text, words, what.name, sub, env, self.host, self.cwd, False, log, stdin_from,
                   [], document, what.wrappers, what.rest, "", errors)  # fmt: skip

    def _learn(self, env: dict[str, str]) -> None:
        """Remember plain values for the rest of the line; what may be secret stays a name."""
        for key, value in env.items():
            if _PLAIN_VALUE.fullmatch(value) and not _SECRET.search(key):
                self.known[key] = value
            else:
                self.known.pop(key, None)

    def _inside(self, run: Run) -> Iterator[Run]:
        """Yield a command, or what it runs elsewhere: ssh, docker exec, kubectl exec, bash -c."""
        there = elsewhere(run.name, run.rest, run.heredoc) if run.name else None
        if there is None:
            yield run
            return
        host, inner = there
        nested = run.host if not host else host if run.host == "local" else f"{run.host}/{host}"
        found = _runs(inner, nested, "" if host else run.cwd, self.depth + 1, dict(self.known))
        if run.heredoc and inner != run.heredoc:
            found = self._fed(found, run)
        if not found:
            yield run
        for one in found:
            one.log = one.log or run.log
            one.env = {**run.env, **one.env}
            one.wrappers = (*run.wrappers, *one.wrappers)
            yield one

    def _fed(self, found: list[Run], run: Run) -> list[Run]:
        """Give a heredoc to the command that reads it; a shell that reads it runs it."""
        last = found[-1] if found else None
        if last is not None and last.name in SHELLS and not [w for w in last.rest if w[:1] != "-"]:
            return found[:-1] + _runs(run.heredoc, last.host, last.cwd, self.depth + 2, {})
        for one in found[:1]:
            one.heredoc = one.heredoc or run.heredoc
        return found


def _targets(piece: Piece) -> tuple[str, str, str]:
    """Return the files that output, input and errors are redirected to."""
    log = stdin_from = errors = ""
    for descriptor, operator, target in piece.redirects:
        if operator == "<":
            stdin_from = target
        elif "<" in operator or target.startswith(("/dev/", "&")) or not target:
            continue
        elif operator == ">&" and (target.isdigit() or target == "-"):
            continue  # a copy of another descriptor
        elif descriptor == "2":
            errors = target
        elif descriptor in ("", "1", "&"):
            log = target
    return log, stdin_from, errors


def _exported(words: list[str]) -> dict[str, str]:
    if words[0] == "setenv":
        return {words[1]: words[2]} if len(words) == 3 else {}
    if words[0].startswith("$env:"):
        name, sign, value = words[0][5:].partition("=")
        later = words[1:]
        if not sign and later[:1] == ["="]:
            later = later[1:]
        return {name: value or " ".join(later)}
    return dict(w.split("=", 1) for w in words[1:] if ASSIGN.match(w))
