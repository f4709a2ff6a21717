"""Which commands print results of their own: scripts, benchmarks, logs that are shown."""

from __future__ import annotations

import re

from checkpoint.extractors._shell import Run

_INTERPRETER = re.compile(
    r"(?:python|pypy|node|ruby|perl|bash|sh|zsh|deno|bun|php|Rscript|lua|julia|tsx|ts-node)[\d.]*$"
)
_LAUNCHER = frozenset({"torchrun", "accelerate", "deepspeed", "mpirun", "srun", "java", "dotnet", "vllm",
                       "sglang"})  # fmt: skip
_TASK = {"make": "", "just": "", "task": "", "rake": "", "npm": "run", "pnpm": "run", "yarn": "",
         "bun": "run", "cargo": "run bench", "go": "run", "docker": "run", "gradle": "",
         "dotnet": "run"}  # fmt: skip
_CHORES = re.compile(
    r"^(?:install|i|ci|add|build|dev|start|lint|format|fmt|clean|deps|setup|deploy|release|check|test|types?|"
    r"typecheck|tsc|compile|docs?|package|prepare|all)\b"
)
"""Tasks that say what they did, and measure nothing."""
_MEASURES = re.compile(
    r"bench|perf|eval|profil|sweep|measur|stress|speed|latenc|throughput|load_?test|timing|experiment|metric|score",
    re.IGNORECASE,
)
_SHOWING = frozenset({"cat", "tail", "head", "tee", "less"})
_LOG = re.compile(r"\.(?:log|txt|out|err|result|results|tsv|csv)\b|results?/|logs?/")


def measures(run: Run) -> bool:
    """Whether a command says of itself that it measures."""
    return _MEASURES.search(run.command.split("<<")[0][:400]) is not None


def inline(run: Run) -> bool:
    """Whether a program stands on the command line itself: it may print anything."""
    words = run.args()[:2]
    return bool(run.heredoc) or "-c" in words or "-e" in words or words[:1] == ["-"]


def runs_own(run: Run) -> bool:
    """Whether a command runs a program of the project: a script, a built binary, a task."""
    if run.name in _SHOWING:
        return False
    if _INTERPRETER.match(run.name) or run.name in _LAUNCHER:
        return True
    if re.search(r"\.(?:sh|py|js|rb|pl)$", run.name) or "/" in (run.argv[:1] or [""])[0]:
        return not (run.argv[0].startswith(("/usr/bin", "/bin/")))
    wanted = _TASK.get(run.name)
    if wanted is None:
        return False
    return (not wanted or run.sub in wanted.split()) and not _CHORES.match(
        " ".join(run.args()[1:] if wanted else run.args())
    )


def shows_log(run: Run) -> bool:
    """Whether a command shows a log or a file of results."""
    return run.name in _SHOWING and _LOG.search(run.command) is not None
