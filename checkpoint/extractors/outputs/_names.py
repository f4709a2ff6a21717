"""What ran and how: the names that measurements go by."""

from __future__ import annotations

import posixpath
import re

from checkpoint.extractors._shell import Run

_SHELL_FLAGS = re.compile(r"(?:^|\s)(--?[A-Za-z][\w-]*(?:[= ](?!-|https?:)[^\s'\"]+)?)")
_INTERPRETER = re.compile(
    r"(?:python|pypy|node|ruby|perl|bash|sh|zsh|deno|bun|php|Rscript|lua|tsx)[\d.]*"
)
_LAUNCHER = frozenset(
    {
        "torchrun",
        "accelerate",
        "deepspeed",
        "mpirun",
        "srun",
        "java",
        "dotnet",
        "cProfile",
        "profile",
        "kernprof",
        "memray",
        "py-spy",
        "scalene",
        "coverage",
    }
)
_TASKS = frozenset({"make", "just", "task", "npm", "pnpm", "yarn", "bun", "cargo", "go", "rake"})
_SCRIPT = re.compile(r"\.(?:py|js|mjs|cjs|ts|rb|pl|sh|php|R|lua|jar|exs?|dll)$")
_NO_FLAG = re.compile(r"^(?:\d?>|&|/dev/null$)")
_TARGET = re.compile(r"--(?:bin|bench|example|test)[= ](\S+)")


def configuration(run: Run) -> str:
    """Return the flags and arguments that tell one run of a program from another."""
    words = [w for w in run.args() if not _NO_FLAG.match(w)]
    name = subject(run)
    if run.name in ("cargo", "go", "docker") and run.sub == "run":
        words = _behind(run, words, name)
    words = [w for w in words if posixpath.basename(w) != name]
    if _INTERPRETER.fullmatch(run.name) and ({"-c", "-e"} & set(words[:2]) or words[:1] == ["-"]):
        return ""  # a program on the command line is no flag
    if name.startswith(f"{run.name} ") and words[:1] == [run.sub]:
        words = words[1:]  # "make bench" is the name already
    text = " ".join(words)
    return text[:120] if len(text) < 160 else " ".join(_SHELL_FLAGS.findall(text))[:120]


def _behind(run: Run, words: list[str], name: str) -> list[str]:
    """Return what is given to the program that `cargo run`, `go run` or `docker run` runs."""
    if run.name == "cargo":
        return words[words.index("--") + 1 :] if "--" in words else []
    places = [at for at, w in enumerate(words) if posixpath.basename(w.rstrip("/")) == name]
    return words[places[0] + 1 :] if places else words[1:]


def flags(run: Run) -> str:
    """Return the options of a command with their values, without what they act on."""
    return " ".join(_SHELL_FLAGS.findall(" " + " ".join(run.args())))[:120]


def subject(run: Run) -> str:
    """Return what ran: the script of an interpreter, the target of a task runner, the program."""
    name = run.name
    if _INTERPRETER.fullmatch(name) or name in _LAUNCHER:
        for word in run.args():
            if _SCRIPT.search(word):
                return posixpath.basename(word)
    if name in ("cargo", "go") and run.sub == "run":
        target = _TARGET.search(run.command)
        if target:
            return target[1]
        path = next((w for w in run.args()[1:] if w.startswith(("./", "cmd/"))), "")
        return posixpath.basename(path.rstrip("/")) or f"{name} run"
    if name == "docker" and run.sub == "run":
        return _image(run.args()[1:]) or name
    if name in ("mpirun", "mpiexec", "srun", "numactl"):
        program = next((w for w in run.args() if "/" in w and not w.startswith("-")), "")
        return posixpath.basename(program) or name
    if name in ("npm", "pnpm", "yarn", "bun") and run.sub in ("run", "run-script"):
        later = [w for w in run.args() if not w.startswith("-")]
        return " ".join([name, *later[:2]])
    return f"{name} {run.sub}".strip() if name in _TASKS else name


_VALUED = re.compile(r"-(?:[vepwuml]|-(?:name|volume|env|publish|workdir|network|gpus|shm-size|user|entrypoint|"
                     r"ipc|ulimit|mount|memory|cpus|platform|runtime|env-file|add-host|hostname))")  # fmt: skip


def _image(words: list[str]) -> str:
    """Return the image that `docker run` runs."""
    at = 0
    while at < len(words):
        if not words[at].startswith("-"):
            return words[at]
        at += 2 if _VALUED.fullmatch(words[at]) else 1
    return ""


def shown_file(run: Run) -> str:
    """Return the file that a command shows, by its base name; "" if it shows none."""
    for word in run.args():
        if re.search(r"\.(?:log|txt|out|csv|tsv|result|results|jsonl|err)$", word):
            return posixpath.basename(word)
    return ""
