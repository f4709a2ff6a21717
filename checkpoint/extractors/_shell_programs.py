"""Which program a command runs: past wrappers and runners, its subcommand, and on which host."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

ASSIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "ksh", "ash"})

_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -C -p -D -R -T --user --group", 0), "doas": ("-u -C", 0),
    "env": ("-u -C --unset --chdir", 0), "timeout": ("-s -k --signal --kill-after", 1),
    "gtimeout": ("-s -k --signal --kill-after", 1), "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p", 0), "nohup": ("", 0), "setsid": ("", 0), "exec": ("-a", 0),
    "command": ("", 0), "builtin": ("", 0), "stdbuf": ("-i -o -e", 0), "time": ("-f -o", 0),
    "gtime": ("-f -o", 0), "xvfb-run": ("-s -n -e -f -w --server-args", 0), "chronic": ("", 0),
    "unbuffer": ("", 0), "caffeinate": ("-t -w", 0), "taskset": ("", 1), "chrt": ("", 1),
    "numactl": ("-N -m -C -p -i --cpunodebind --membind --physcpubind --interleave", 0),
    "sshpass": ("-p -f -e", 0), "arch": ("", 0), "winpty": ("", 0), "flock": ("-w -E", 1),
    "catchsegv": ("", 0), "noglob": ("", 0), "nocorrect": ("", 0), "script": ("", 1),
}  # fmt: skip
"""Name -> (options that take a value, words of its own before the program)."""

_RUNNERS: dict[tuple[str, str], str] = {
    ("uv", "run"): "--with --extra --group --python -p --project --directory --env-file --package "
                   "--with-requirements --index --with-editable -C",
    ("poetry", "run"): "-C -P", ("pipenv", "run"): "", ("pnpm", "exec"): "", ("pnpm", "dlx"): "",
    ("yarn", "dlx"): "-p", ("yarn", "exec"): "", ("npm", "exec"): "-p --package",
    ("hatch", "run"): "", ("pdm", "run"): "-p", ("rye", "run"): "",
    ("conda", "run"): "-n -p --name --prefix --cwd",
    ("mamba", "run"): "-n -p", ("micromamba", "run"): "-n -p", ("pixi", "run"): "-e --environment",
    ("bundle", "exec"): "", ("mise", "exec"): "-C", ("mise", "x"): "-C", ("dotenv", "run"): "-f",
    ("asdf", "exec"): "", ("rbenv", "exec"): "", ("pyenv", "exec"): "", ("bun", "x"): "",
    ("doppler", "run"): "-p -c", ("op", "run"): "--env-file", ("infisical", "run"): "--env",
    ("pipx", "run"): "--spec --python", ("singularity", "exec"): "-B --bind --env --pwd",
    ("apptainer", "exec"): "-B --bind --env --pwd", ("uv", "tool run"): "--with --from",
    ("nix", "develop"): "", ("direnv", "exec"): "", ("volta", "run"): "--node",
}  # fmt: skip
"""(Program, subcommand) -> options that take a value."""
_OWN_WORD = frozenset({"singularity", "apptainer", "direnv"})
"""These runners take a word of their own, an image or a folder, before the program."""
_AFTER_DASHES = frozenset({"mise", "doppler", "op", "infisical", "dotenv"})
"""These runners take words of their own before `--`."""
_SINGLE_RUNNERS = {
    "npx": "-p --package -w",
    "bunx": "-p --package",
    "uvx": "--with --from --python",
    "pnpx": "",
}
_SCRIPTS = {"npx": "-c", "nix-shell": "--run"}

SUBCOMMANDS: dict[str, str] = {
    "git": "-C -c --git-dir --work-tree", "docker": "-H --context -c --host", "podman": "--url",
    "nerdctl": "-n", "kubectl": "-n --namespace --context --kubeconfig -s",
    "oc": "-n --namespace", "gh": "-R --repo", "glab": "-R --repo",
    "npm": "--prefix -w --workspace -C", "pnpm": "--filter -F -C --dir", "yarn": "--cwd",
    "bun": "--cwd", "cargo": "-C", "go": "-C", "pip": "", "pip3": "",
    "uv": "--project --directory", "poetry": "-C -P", "conda": "", "mamba": "", "micromamba": "",
    "apt": "-o -t", "apt-get": "-o -t", "brew": "", "dnf": "", "yum": "", "apk": "", "pacman": "",
    "zypper": "", "systemctl": "-H -M", "make": "-C -f -I", "gmake": "-C -f -I",
    "helm": "-n --namespace --kube-context", "terraform": "", "tofu": "",
    "docker-compose": "-f -p", "rustup": "", "mise": "-C", "hk": "", "jj": "-R", "just": "-f -d",
    "task": "-d -t", "rake": "-f", "tmux": "-L -S -f", "screen": "", "dotnet": "",
    "mvn": "-f -pl", "gradle": "-p", "gradlew": "-p", "composer": "-d", "rails": "", "gem": "",
    "bundle": "", "twine": "", "hatch": "", "pdm": "", "pixi": "", "deno": "", "snap": "",
    "choco": "", "winget": "", "scoop": "", "flatpak": "", "supervisorctl": "-c", "pm2": "",
    "launchctl": "", "vagrant": "", "fly": "", "az": "", "aws": "", "gcloud": "", "nox": "-s",
    "tox": "-e", "invoke": "", "bazel": "", "cmake": "", "ollama": "",
}  # fmt: skip
"""Programs whose first plain word is a subcommand or target -> options that take a value."""


@dataclass(slots=True)
class Program:
    """What a simple command runs."""

    name: str
    rest: list[str]
    """The words behind the program."""
    wrappers: tuple[str, ...]
    env: dict[str, str]
    """Variables that `env` and the like set on the way."""


def program(words: list[str]) -> Program:
    """Return the program of a command, wrappers and runners in front of it removed."""
    wrappers: list[str] = []
    env: dict[str, str] = {}
    at, size = 0, len(words)
    while at < size:
        name = posixpath.basename(words[at])
        second = words[at + 1] if at + 1 < size else ""
        if name in _WRAPPERS and second and not _alone(name, words[at + 1 :]):
            valued, own = _WRAPPERS[name]
            after = _past_options(words, at + 1, valued)
            while after < size and ASSIGN.match(words[after]):
                key, value = words[after].split("=", 1)
                env[key] = value
                after += 1
            if name == "taskset" and not any(w.startswith("-") for w in words[at + 1 : after]):
                own = 1
            at = after + own if name != "taskset" or "-p" not in words[at:after] else size
            wrappers.append(name)
        elif (name, second) in _RUNNERS:
            wrappers.append(f"{name} {second}")
            at = _past_runner(words, at, name, second)
        elif name in _SINGLE_RUNNERS and second:
            wrappers.append(name)
            at = _past_options(words, at + 1, _SINGLE_RUNNERS[name])
        else:
            break
    if at >= size:
        return Program(posixpath.basename(words[0]), words[1:], (), env)
    name = posixpath.basename(words[at].replace("\\", "/") if ":\\" in words[at] else words[at])
    rest = words[at + 1 :]
    if wrappers and wrappers[-1] in ("npx", "bunx", "pnpm dlx", "yarn dlx", "uvx"):
        name = re.sub(r"(?<=.)@[\w.^~-]+$", "", name)
    if re.fullmatch(r"(?:python|pypy)[\d.]*(?:\.exe)?|py", name) or (
        wrappers and wrappers[-1] == "uv run" and name == "-m"
    ):
        return _module(name, rest, wrappers, env)
    return Program(name.removesuffix(".exe"), rest, tuple(wrappers), env)


def _alone(name: str, rest: list[str]) -> bool:
    """Whether a wrapper's word is used for itself: `command -v x`, `env` that lists, `arch`."""
    if name == "command":
        return rest[0] in ("-v", "-V")
    if name == "exec":
        return rest[0].startswith((">", "<"))
    if name == "script":
        return len([w for w in rest if not w.startswith("-")]) < 2
    return all(w.startswith("-") or ASSIGN.match(w) for w in rest)


def _past_options(words: list[str], at: int, valued: str) -> int:
    options = valued.split()
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        if words[at] == "--":
            return at + 1
        if words[at] == "-m" and "-m" not in options:
            return at  # `uv run -m module`
        at += 2 if words[at] in options else 1
    return at


def _past_runner(words: list[str], at: int, name: str, second: str) -> int:
    if name in _AFTER_DASHES and "--" in words[at : at + 10]:
        return words.index("--", at) + 1
    if name == "nix":
        for option in ("-c", "--command"):
            if option in words[at:]:
                return words.index(option, at) + 1
    after = _past_options(words, at + 2, _RUNNERS[(name, second)])
    return after + (1 if name in _OWN_WORD else 0)


def _module(name: str, rest: list[str], wrappers: list[str], env: dict[str, str]) -> Program:
    """Return the module that `python -m` runs, else python itself."""
    at = 0
    if name == "-m" and rest:
        return Program(rest[0], rest[1:], (*wrappers, "python"), env)
    while at < len(rest) and rest[at].startswith("-"):
        if rest[at] == "-m" and at + 1 < len(rest):
            return Program(rest[at + 1], rest[at + 2 :], (*wrappers, name), env)
        if rest[at] in ("-c", "-"):
            break
        at += 2 if rest[at] in ("-X", "-W") else 1
    return Program(name.removesuffix(".exe"), rest, tuple(wrappers), env)


def subcommand(name: str, rest: list[str]) -> tuple[str, int]:
    """Return the subcommand or target of a program and its place in `rest`; ("", -1) if none."""
    valued = SUBCOMMANDS.get(name)
    if valued is None:
        return "", -1
    options = valued.split()
    at = 0
    while at < len(rest):
        word = rest[at]
        if word == "-j" and name.endswith("make"):
            at += 2 if rest[at + 1 : at + 2] and rest[at + 1].isdigit() else 1
        elif word.startswith(("-", "+")):
            at += 2 if word in options else 1
        elif ASSIGN.match(word) and name in ("make", "gmake", "just", "task", "rake"):
            at += 1
        else:
            return word, at
    return "", -1


_SSH_VALUES = set("bcDEeFIiJLlmOopQRSWw")
_EXEC_VALUES = frozenset(
    {"-e", "-u", "-w", "--env", "--user", "--workdir", "--index", "--env-file", "--detach-keys"}
)
_POD_VALUES = frozenset({"-n", "--namespace", "-c", "--container", "--context", "--kubeconfig"})


def elsewhere(name: str, rest: list[str], document: str) -> tuple[str, str] | None:
    """Return (host, inner command line) of what runs on a host or in a shell of its own.

    The host is "" for a shell here. None: the command runs itself.
    """
    if name == "ssh":
        return _ssh(rest, document)
    if name in ("docker", "podman", "nerdctl", "docker-compose"):
        sub, at = subcommand(name, rest)
        if sub in ("compose", "container") and "exec" in rest[at + 1 : at + 8]:
            sub, at = "exec", rest.index("exec", at + 1)
        return _contained(rest[at + 1 :]) if sub == "exec" else None
    if name in ("kubectl", "oc"):
        sub, at = subcommand(name, rest)
        return _pod(rest[at + 1 :]) if sub == "exec" else None
    if name in ("lxc", "incus") and rest[:1] == ["exec"]:
        return _contained(rest[1:])
    if name == "gcloud" and "ssh" in rest[:4]:
        return _gcloud(rest)
    if name == "wsl":
        return _wsl(rest)
    if name in ("powershell", "pwsh", "cmd"):
        for at, word in enumerate(rest):
            if word.lower() in ("-command", "-c", "/c") and at + 1 < len(rest):
                return "", " ".join(rest[at + 1 :])
        return None
    if name == "eval" and rest:
        return "", " ".join(rest)
    if name in SHELLS or name in ("su", "script", "nix-shell", "npx", "watch"):
        return _shell(name, rest, document)
    return None


def _shell(name: str, rest: list[str], document: str) -> tuple[str, str] | None:
    valued = {"-o", "+o", "-O", "-n"} if name in SHELLS else set()
    option = _SCRIPTS.get(name, "")
    at = 0
    while at < len(rest):
        word = rest[at]
        if (word == option if option else re.fullmatch(r"-[a-z]*c", word)) and at + 1 < len(rest):
            return "", rest[at + 1]
        if not word.startswith(("-", "+")) and name in SHELLS:
            return None  # a script
        at += 2 if word in valued else 1
    return ("", document) if document and name in SHELLS else None


def _ssh(rest: list[str], document: str) -> tuple[str, str] | None:
    user = host = ""
    at = 0
    while at < len(rest):
        word = rest[at]
        if word.startswith("-") and word != "--":
            if word == "-l" and at + 1 < len(rest):
                user = rest[at + 1]
            at += 2 if word[-1:] in _SSH_VALUES and len(word) == 2 else 1
        elif not host and word != "--":
            host = word
            at += 1
        else:
            at += word == "--"
            break
    if not host:
        return None
    host = host.removeprefix("ssh://")
    host = f"{user}@{host}" if user and "@" not in host else host
    inner = " ".join(rest[at:]) or document
    return (host, inner) if inner else None


def _contained(words: list[str]) -> tuple[str, str] | None:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _EXEC_VALUES else 1
    if at + 1 >= len(words):
        return None
    inner = words[at + 2 :] if words[at + 1] == "--" else words[at + 1 :]
    return f"container:{words[at]}", " ".join(quoted(inner))


def _pod(words: list[str]) -> tuple[str, str] | None:
    cut = words.index("--") if "--" in words else -1
    before = words[:cut] if cut >= 0 else words
    valued = {at + 1 for at, word in enumerate(before) if word in _POD_VALUES}
    plain = [at for at, word in enumerate(before) if word[:1] != "-" and at not in valued]
    if not plain:
        return None
    inner = words[cut + 1 :] if cut >= 0 else words[plain[0] + 1 :]
    return (
        (f"pod:{words[plain[0]].removeprefix('pod/')}", " ".join(quoted(inner))) if inner else None
    )


def _gcloud(rest: list[str]) -> tuple[str, str] | None:
    at = rest.index("ssh")
    host = next((w for w in rest[at + 1 :] if not w.startswith("-")), "")
    for place, word in enumerate(rest):
        if word.startswith("--command="):
            return host, word.partition("=")[2]
        if word == "--command" and place + 1 < len(rest):
            return host, rest[place + 1]
    return None


def _wsl(rest: list[str]) -> tuple[str, str] | None:
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        done = rest[at] in ("--", "-e", "--exec")
        at += 2 if rest[at] in ("-d", "--distribution", "-u", "--user", "--cd") else 1
        if done:
            break
    inner = rest[at:]
    return ("", " ".join(quoted(inner))) if inner else None


def quoted(words: list[str]) -> list[str]:
    """Give words back their quotes, where they were one word; `sh -c` needs its text whole."""
    out = []
    for word in words:
        if re.search(r"[\s;|&<>()'\"#]", word) or not word:
            word = "'" + word.replace("'", "'\\''") + "'"
        out.append(word)
    return out
