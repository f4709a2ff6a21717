"""Versions: package managers, kernels, distributions, `X --version`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._shell import Run
from checkpoint.extractors.outputs import Claim, output

_VERSION = r"\d+(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*"


def _software(subject: str, version: str, quote: str, *, removed: bool = False) -> Claim:
    fields: dict[str, object] = {"subject": subject, "attribute": "version", "value": version}
    if removed:
        fields["removed"] = True
    return Claim("software", quote.strip(), fields)


@output(
    commands=("pip", "pip3", "uv pip", "uv", "poetry"),
    signatures=("Successfully installed ", "Successfully uninstalled "),
)
def pip_install(run: Run, text: str) -> Iterator[Claim]:
    """Read what pip or uv installed and removed."""
    for match in re.finditer(
        r"^[ \t]*Successfully uninstalled (\S+?)-(\d\S*)$", text, re.MULTILINE
    ):
        yield _software(match[1], match[2], match.group(0), removed=True)
    for line in re.finditer(r"^[ \t]*Successfully installed (.+)$", text, re.MULTILINE):
        for package in line[1].split():
            name, _, version = package.rpartition("-")
            if name and re.match(r"\d", version):
                yield _software(name, version, line.group(0)[:280])
    if run.name == "uv":
        for match in re.finditer(rf"^ ([+~-]) (\S+)==({_VERSION})", text, re.MULTILINE):
            if match[1] != "-":
                yield _software(match[2], match[3], match.group(0))


@output(commands=("pip list", "pip freeze", "pip3 list", "pip3 freeze", "conda list", "uv pip"))
def pip_list(run: Run, text: str) -> Iterator[Claim]:
    """Read a listing of packages; of a long one only the first two hundred."""
    rows = re.findall(
        rf"^([A-Za-z][\w.-]*)(?:==|[ \t]+)({_VERSION}|\d+)[ \t]*(?:[ \t]\S.*)?$", text, re.MULTILINE
    )
    for name, version in rows[:200]:
        if name.lower() != "package":
            quote = next(line for line in text.splitlines() if line.startswith(name))
            yield _software(name, version, quote)


@output(commands=("pip show", "pip3 show"))
def pip_show(run: Run, text: str) -> Iterator[Claim]:
    """Read name and version of the packages shown."""
    for match in re.finditer(r"^Name: (\S+)\nVersion: (\S+)", text, re.MULTILINE):
        yield _software(match[1], match[2], match.group(0).split("\n")[1])


@output(commands=("apt", "apt-get", "dpkg"), signatures=("Setting up ",))
def apt(run: Run, text: str) -> Iterator[Claim]:
    """Read the packages that were set up; libraries that came along are left out."""
    named = set(run.args())
    for match in re.finditer(r"^Setting up (\S+?)(?::\w+)? \((\S+)\) \.\.\.$", text, re.MULTILINE):
        if match[1] in named or not match[1].startswith(("lib", "python3-", "fonts-")):
            yield _software(match[1], match[2], match.group(0))


@output(commands=("uname",))
def uname(run: Run, text: str) -> Iterator[Claim]:
    """Read the kernel from `uname -a` or `uname -r`."""
    match = re.search(r"^Linux \S+ (\S+) .*$", text, re.MULTILINE)
    bare = re.search(r"^\d+\.\d+\.\d+\S*$", text, re.MULTILINE)
    if match and "a" in "".join(run.args()):
        yield _software("Linux kernel", match[1], match.group(0))
    elif bare and "r" in "".join(run.args()):
        yield _software("Linux kernel", bare.group(0), bare.group(0))


@output(commands=("lsb_release",), signatures=("PRETTY_NAME=",))
def os_release(run: Run, text: str) -> Iterator[Claim]:
    """Read the distribution."""
    match = re.search(r"^PRETTY_NAME=\"?([^\"\n]+)\"?$", text, re.MULTILINE) or re.search(
        r"^Description:\s+(.+)$", text, re.MULTILINE
    )
    if match:
        name = re.match(r"\D+", match[1])
        label = name.group(0).strip() if name else match[1]
        yield _software(label, match[1][len(label) :].strip() or match[1], match.group(0))


@output(commands=("nvcc",), signatures=("Cuda compilation tools",))
def nvcc(run: Run, text: str) -> Iterator[Claim]:
    """Read the toolkit's version: not the driver's, which nvidia-smi shows."""
    match = re.search(r"^.*release ([\d.]+), V([\d.]+).*$", text, re.MULTILINE)
    if match:
        yield _software("CUDA toolkit (nvcc)", match[2], match.group(0))


_ASKED = re.compile(r"(?:^|\s)(?:--version|-V|-version|version)(?:\s|$)")


@output(
    commands=(
        "python",
        "python3",
        "node",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "go",
        "cargo",
        "rustc",
        "ruby",
        "java",
        "gcc",
        "g++",
        "clang",
        "cmake",
        "make",
        "git",
        "docker",
        "kubectl",
        "helm",
        "terraform",
        "psql",
        "mysql",
        "redis-server",
        "ffmpeg",
        "opencode",
        "codex",
        "claude",
        "gh",
        "uv",
        "ruff",
        "mypy",
        "pytest",
        "vllm",
        "sglang",
        "ollama",
        "dotnet",
        "php",
        "perl",
        "zig",
        "swift",
        "elixir",
        "nginx",
        "jq",
        "tsc",
    )
)
def version(run: Run, text: str) -> Iterator[Claim]:
    """Read the answer to `PROGRAM --version`: the first version on its first line."""
    if not _ASKED.search(" ".join(run.args()[:2])):
        return
    for line in text.splitlines()[:6]:
        match = re.search(rf"(?:^|[\sv(])({_VERSION})", line)
        if match and (
            run.name in line.lower() or len(text.splitlines()) <= 3 or run.name in ("gcc", "node")
        ):
            yield _software(run.name, match[1], line)
            return


_PRINTED = re.compile(
    r"\b(?:import |from )?(\w+)(?:\.version)?\.(?:__version__|VERSION|version\(\))"
)


@output(commands=("python", "python3"))
def printed_version(run: Run, text: str) -> Iterator[Claim]:
    """Read what `python -c "import x; print(x.__version__)"` printed, a version a line."""
    if "-c" not in run.args():
        return
    asked = list(dict.fromkeys(_PRINTED.findall(run.command)))
    answers = [
        line.strip() for line in text.splitlines() if re.match(rf"^{_VERSION}$", line.strip())
    ]
    if asked and len(asked) == len(answers):
        for name, answer in zip(asked, answers, strict=True):
            yield _software(name, answer, answer)
