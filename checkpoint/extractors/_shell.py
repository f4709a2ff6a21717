"""A command line in simple commands, without running anything.

A tokenizer of our own: it must take garbage, heredocs and half-quoted text without raising, in
linear time. What a shell would expand stays as it is written.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from checkpoint.extractors._shell_words import HEREDOC, pipelines, split, take_heredocs

LONGEST = 60_000
"""Characters of a command line that are looked at."""
BEHIND = 50
"""Programs of one pipe that a command knows behind it; no pipe that is meant is as long."""

_ASSIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_REDIRECT = re.compile(r"(?:\d|&)?>>?(?:&\d|&-|\|)?|<<<|\d?<(?!<)|&>>?")
_KEYWORDS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "fi",
                       "done", "esac", "time", "("})  # fmt: skip
_WRAPPERS = {"sudo", "env", "timeout", "nice", "ionice", "nohup", "setsid", "exec", "command",
             "stdbuf", "time", "xvfb-run", "chronic", "unbuffer", "caffeinate", "doas", "builtin",
             "gtimeout", "taskset", "numactl", "chrt", "script"}  # fmt: skip
_WITH_VALUE = {
    "timeout": {"-s", "-k", "--signal", "--kill-after"},
    "gtimeout": {"-s", "-k"},
    "sudo": {"-u", "-g", "-h", "-C", "-E-"},
    "nice": {"-n"},
    "ionice": {"-c", "-n"},
    "env": {"-u", "-C"},
    "stdbuf": {"-i", "-o", "-e"},
    "taskset": {"-c"},
    "numactl": set(),
    "time": {"-f", "-o"},
}
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pnpm", "exec"), ("pnpm", "dlx"),
            ("yarn", "dlx"), ("yarn", "exec"), ("npm", "exec"), ("hatch", "run"), ("pdm", "run"),
            ("rye", "run"), ("conda", "run"), ("bundle", "exec"), ("mise", "exec"),
            ("dotenv", "run")}  # fmt: skip
_SINGLE_RUNNERS = {"npx", "bunx", "pipx", "uvx"}
_SUBCOMMANDS = {"git", "docker", "podman", "kubectl", "npm", "pnpm", "yarn", "bun", "cargo", "go",
                "gh", "glab", "pip", "pip3", "uv", "poetry", "conda", "mamba", "apt", "apt-get",
                "brew", "dnf", "yum", "apk", "pacman", "systemctl", "make", "helm", "terraform",
                "docker-compose", "rustup", "mise", "hk", "jj", "just", "task", "tmux", "screen",
                "dotnet", "mvn", "gradle", "composer", "rails", "gem"}  # fmt: skip


@dataclass(slots=True)
class Run:
    """One simple command."""

    command: str
    """Verbatim, with its assignments; of ssh and `docker exec` the inner one."""
    argv: list[str]
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
    """Names of the programs behind it in its pipe, the next first, at most `BEHIND`."""
    heredoc: str = ""
    wrappers: tuple[str, ...] = ()

    def args(self) -> list[str]:
        """Return the words behind the program's name, options included."""
        base = self.argv
        for at, word in enumerate(base):
            if posixpath.basename(word) == self.name or word == self.name:
                return base[at + 1 :]
        return base[1:]

    def option(self, *names: str) -> str:
        """Return the value of the first of these options: `--port 80`, `--port=80`, `-p80`."""
        words = self.args()
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
    return tuple(_runs(command[:LONGEST], host, cwd, 0))


def runs(command: str, *, host: str = "local", cwd: str = "") -> list[Run]:
    """Return the simple commands of a command line, in order."""
    return list(_cached(command, host, cwd))


def _runs(command: str, host: str, cwd: str, depth: int) -> Iterator[Run]:
    if depth > 4:
        return
    text, documents = take_heredocs(command)
    for pieces, background in pipelines(text):
        names: list[Run] = []
        for piece in pieces:
            run = _simple(piece, host, cwd, documents)
            if run is None:
                continue
            run.background = run.background or background
            if run.name == "cd" and len(pieces) == 1:
                target = (run.args() or ["~"])[0]
                cwd = target if target[:1] in "/~$" or not cwd else posixpath.join(cwd, target)
                continue
            names.append(run)
        for at, run in enumerate(names):
            run.piped_to = [later.name for later in names[at + 1 : at + 1 + BEHIND]]
            yield from _inside(run, depth)


def _inside(run: Run, depth: int) -> Iterator[Run]:
    """Yield a command, or what it runs elsewhere: ssh, docker exec, kubectl exec, bash -c."""
    inner, host, cwd = _remote(run)
    if inner is None:
        yield run
        return
    found = list(_runs(inner, host, cwd, depth + 1))
    for one in found:
        one.background = one.background or run.background
        one.log = one.log or run.log
        one.piped_to = one.piped_to + run.piped_to
        one.env = {**run.env, **one.env}
        one.wrappers = (*run.wrappers, *one.wrappers)
        one.heredoc = one.heredoc or (run.heredoc if not inner.strip() else "")
        yield one
    if not found:
        yield run


_SSH_VALUES = set("bcDEeFIiJLlmOopQRSWw")


def _remote(run: Run) -> tuple[str | None, str, str]:
    words = run.args()
    if run.name == "ssh":
        at = 0
        user = ""
        while at < len(words) and words[at].startswith("-"):
            if words[at] == "-l" and at + 1 < len(words):
                user = words[at + 1]
            at += 2 if words[at][-1:] in _SSH_VALUES and len(words[at]) == 2 else 1
        if at >= len(words):
            return None, run.host, run.cwd
        host = f"{user}@{words[at]}" if user and "@" not in words[at] else words[at]
        inner = " ".join(words[at + 1 :]) or run.heredoc
        return (inner or None), _nested(run.host, host), ""
    if run.name in ("docker", "podman", "nerdctl") and words[:1] == ["exec"]:
        return _exec(words[1:], run, "container", ["e", "u", "w"])
    if run.name in ("docker-compose",) and words[:1] == ["exec"]:
        return _exec(words[1:], run, "container", ["e", "u", "w"])
    if run.name == "docker" and words[:2] == ["compose", "exec"]:
        return _exec(words[2:], run, "container", ["e", "u", "w"])
    if run.name in ("kubectl", "oc") and "exec" in words[:6]:
        return _pod(words[words.index("exec") + 1 :], run)
    if run.name in ("bash", "sh", "zsh", "dash", "fish", "wsl", "eval", "su"):
        for at, word in enumerate(words):
            if re.fullmatch(r"-[a-z]*c", word) and at + 1 < len(words):
                return words[at + 1], run.host, run.cwd
            if not word.startswith("-"):
                break
        if run.heredoc and not [w for w in words if not w.startswith("-")]:
            return run.heredoc, run.host, run.cwd
    return None, run.host, run.cwd


def _nested(outer: str, inner: str) -> str:
    return inner if outer == "local" else f"{outer}/{inner}"


def _exec(words: list[str], run: Run, kind: str, valued: list[str]) -> tuple[str | None, str, str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        valued_word = word[-1:] in valued and len(word) == 2
        long_valued = word.startswith("--") and "=" not in word and word in (
            "--env", "--user", "--workdir", "--index")  # fmt: skip
        at += 2 if valued_word or long_valued else 1
    if at + 1 >= len(words):
        return None, run.host, run.cwd
    return " ".join(_quoted(words[at + 1 :])), _nested(run.host, f"{kind}:{words[at]}"), ""


def _pod(words: list[str], run: Run) -> tuple[str | None, str, str]:
    if "--" not in words:
        return None, run.host, run.cwd
    cut = words.index("--")
    valued = {"-n", "--namespace", "-c", "--container", "--context", "--kubeconfig"}
    names = [
        w
        for at, w in enumerate(words[:cut])
        if not w.startswith("-") and (at == 0 or words[at - 1] not in valued)
    ]
    if not names or not words[cut + 1 :]:
        return None, run.host, run.cwd
    name = names[0].removeprefix("pod/")
    return " ".join(_quoted(words[cut + 1 :])), _nested(run.host, f"pod:{name}"), ""


def _quoted(words: list[str]) -> list[str]:
    """Give words back their quotes, where they were one word; `sh -c` needs its text whole."""
    out = []
    for word in words:
        if re.search(r"[\s;|&<>()]", word):
            word = "'" + word.replace("'", "'\\''") + "'"
        out.append(word)
    return out


def _simple(piece: str, host: str, cwd: str, documents: list[str]) -> Run | None:
    text = piece.strip()
    heredoc = ""
    for _ in HEREDOC.finditer(text):
        if documents:
            heredoc = documents.pop(0)
    words = split(HEREDOC.sub(" ", text))
    text, words = _past_keywords(text, words)
    if not words or words[0] in ("for", "case", "select", "function", "in"):
        return None
    log, stdin_from, words = _redirects(words)
    env: dict[str, str] = {}
    if words[:1] == ["export"]:
        env = dict(w.split("=", 1) for w in words[1:] if _ASSIGN.match(w))
        return Run(text, words, "export", "", env, host, cwd, heredoc=heredoc)
    while words and _ASSIGN.match(words[0]):
        name, value = words.pop(0).split("=", 1)
        env[name] = value
    if not words:
        return Run(text, [], "", "", env, host, cwd) if env else None
    name, rest, wrappers = _program(words, env)
    sub = ""
    if name in _SUBCOMMANDS:
        sub = _subcommand(name, rest)
    return Run(
        text, words, name, sub, env, host, cwd, False, log, stdin_from, [], heredoc, wrappers
    )


def _past_keywords(text: str, words: list[str]) -> tuple[str, list[str]]:
    """Cut `then`, `do`, `{` ... off the front of a command and of its words."""
    at = start = 0
    while at < len(words) and words[at] in _KEYWORDS:
        if text.startswith(words[at], start):
            start += len(words[at])
            while text[start : start + 1].isspace():
                start += 1
        at += 1
    return text[start:], words[at:]


def _subcommand(name: str, rest: list[str]) -> str:
    valued = {"git": {"-C", "-c", "--git-dir", "--work-tree"}, "make": {"-C", "-j", "-f"},
              "kubectl": {"-n", "--namespace", "--context"}, "gh": {"-R", "--repo"},
              "docker": {"-H", "--context"}, "cargo": set(), "npm": {"--prefix", "-w"}}  # fmt: skip
    at = 0
    while at < len(rest):
        word = rest[at]
        if word.startswith(("-", "+")):
            at += 2 if word in valued.get(name, set()) else 1
            continue
        return word
    return ""


def _redirects(words: list[str]) -> tuple[str, str, list[str]]:
    log = stdin_from = ""
    kept: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        match = _REDIRECT.match(word)
        if match and (match.group().endswith((">", ">>", "|", "<")) or match.group()[-2:-1] == "&"):
            operator = match.group()
            target = word[match.end() :]
            if not target and not re.search(r"&(?:\d|-)$", operator) and at + 1 < len(words):
                at += 1
                target = words[at]
            if "<" in operator:
                stdin_from = target
            elif target and not operator.startswith("2") and not target.startswith("/dev/"):
                log = target
        else:
            kept.append(word)
        at += 1
    return log, stdin_from, kept


def _program(words: list[str], env: dict[str, str]) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the program's name, the words behind it, and the wrappers in front of it."""
    wrappers: list[str] = []
    at = 0
    while at < len(words):
        name = posixpath.basename(words[at])
        if name in _WRAPPERS and at + 1 < len(words):
            wrappers.append(name)
            at += 1
            valued = _WITH_VALUE.get(name, set())
            while at < len(words) and words[at].startswith("-"):
                at += 2 if words[at] in valued else 1
            while at < len(words) and _ASSIGN.match(words[at]):
                key, value = words[at].split("=", 1)
                env[key] = value
                at += 1
            if name in ("timeout", "gtimeout") and at < len(words):
                at += 1
            continue
        if (name, (words[at + 1 : at + 2] or [""])[0]) in _RUNNERS:
            wrappers.append(f"{name} {words[at + 1]}")
            at += 2
        elif name in _SINGLE_RUNNERS:
            wrappers.append(name)
            at += 1
        else:
            break
        while at < len(words) and words[at].startswith("-"):
            at += (
                2 if words[at] in ("--with", "--extra", "-p", "--package", "--python", "-n") else 1
            )
    if at >= len(words):
        return posixpath.basename(words[0]), words[1:], tuple(wrappers)
    name = posixpath.basename(words[at])
    module = re.fullmatch(r"python[\d.]*|pypy3?", name) and words[at + 1 : at + 2] == ["-m"]
    if module and at + 2 < len(words):
        return words[at + 2], words[at + 3 :], (*wrappers, name)
    return name, words[at + 1 :], tuple(wrappers)
