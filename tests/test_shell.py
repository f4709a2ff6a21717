"""Command lines in simple commands: what runs, where, and what never raises."""

# ruff: noqa: E501 - commands stand as people write them
from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoint.extractors._shell import LONGEST, Run, runs

NOTHING = [
    "",
    "   ",
    "\n\n",
    "# make bench",
    "cd /srv/shop",
    "(cd shop)",
    "for f in a b; do",
    "((i++))",
    ";;",
    ")",
    "}",
]


@pytest.mark.parametrize("line", NOTHING)
def test_nothing_runs(line: str):
    assert runs(line) == []


# line -> the programs that run, with their subcommands
NAMES = [
    ("pytest -q", ["pytest"]),
    ("cd shop && make -j8 test VERBOSE=1; git -C /srv/shop push", ["make test", "git push"]),
    ("make -j 4 bench || true", ["make bench", "true"]),
    ("ls | wc -l", ["ls", "wc"]),
    ("sudo -u web env A=1 timeout -k 5 30 nice -n 5 ./serve --port 80", ["serve"]),
    ("taskset -c 0-3 ./bench", ["bench"]),
    ("taskset 0x3 ./bench", ["bench"]),
    ("numactl --cpunodebind=0 -m 0 ./bench", ["bench"]),
    ("flock /tmp/lock make bench", ["make bench"]),
    ("python3 -u -X dev -m pytest -q", ["pytest"]),
    ("python -c 'import os; print(1)' && python tool.py -m x", ["python", "python"]),
    ("python -m torch.distributed.run --nproc 8 train.py", ["torch.distributed.run"]),
    ("uv run --with httpx --python 3.12 pytest tests", ["pytest"]),
    ("uv run -m pytest", ["pytest"]),
    ("uv pip install httpx", ["uv pip"]),
    ("poetry run python -m mypy .", ["mypy"]),
    ("npx -y vitest@1.2.3 run", ["vitest"]),
    ("npx @biomejs/biome format .", ["biome"]),
    ("pnpm --filter shop test", ["pnpm test"]),
    ("pnpm exec eslint src", ["eslint"]),
    ("mise exec node@20 -- node server.js", ["node"]),
    ("mise run test", ["mise run"]),
    ("singularity exec --nv box.sif python train.py", ["python"]),
    ("cargo +nightly bench --features simd", ["cargo bench"]),
    ("kubectl -n shop get pods", ["kubectl get"]),
    ("docker compose up -d", ["docker compose"]),
    ("time -p ./load.sh; time ./load.sh", ["load.sh", "load.sh"]),
    ("command -v docker || exec nginx", ["command", "nginx"]),
    ("env | grep CUDA", ["env", "grep"]),
    ("for f in *.py; do ruff check $f; done && echo ok", ["ruff", "echo"]),
    ("while ! nc -z db 5432; do sleep 1; done", ["nc", "sleep"]),
    ("if [ -f Makefile ]; then make build; else ninja; fi", ["[", "make build", "ninja"]),
    ("case $1 in a|b) make a;; *) make b;; esac; ls", ["make a", "make b", "ls"]),
    ("serve() { python app.py; }; serve", ["python", "serve"]),
    ("[[ $a == b && -n $c ]] && make x", ["[[", "make x"]),
    ("git commit -m 'fix; rm -rf /' -m \"a & b | $(cat x; ls)\"", ["git commit"]),
    ("git commit -m \"$(cat <<'EOF'\ndon't (yet) run `this`; \"\nEOF\n)\" && git push", ["git commit", "git push"]),
    ("echo \"x $(grep \")\" a.txt) ; y\" ; make z", ["echo", "make z"]),
    ("diff <(sort a) <(sort b) | head", ["diff", "head"]),
    ("A=(--port 80 --x) ; ./serve \"${A[@]}\"", ["", "serve"]),
    ("python - <<'PY' | tee out.txt\nprint('a; b && c')\nPY\nmake x", ["python", "tee", "make x"]),
    ("cat <<EOF > a.yml\nkey: 'it is\nEOF\nmake y", ["cat", "make y"]),
    ("bash -lc 'cd shop && make test'", ["make test"]),
    ("bash -o pipefail -c \"pytest | tail\"", ["pytest", "tail"]),
    ("bash run.sh -c 4", ["bash"]),
    ("powershell -NoProfile -Command \"dotnet test\"", ["dotnet test"]),
    ("make a # make b; make c\nmake d", ["make a", "make d"]),
    ("echo a#b; echo $#; make e", ["echo", "echo", "make e"]),
    ("make \\\n  -C sub \\\n  bench", ["make bench"]),
    ("awk '$1 > 5 {print}' a && grep '>' b", ["awk", "grep"]),
    ("C:\\\\tools\\\\node.exe app.js", ["node"]),
    ("eval \"make x\"", ["make x"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "names"), NAMES)
def test_names(line: str, names: list[str]):
    assert [f"{run.name} {run.sub}".strip() for run in runs(line)] == names


# line -> (host, command) of each
PLACES = [
    ("ssh root@10.0.0.7 -p 22022 -o StrictHostKeyChecking=no 'cd /srv && ./bench --n 4'", [("root@10.0.0.7", "./bench --n 4")]),
    ("ssh -i key -l ada box uname -r", [("ada@box", "uname -r")]),
    ("ssh box", [("local", "ssh box")]),
    ("ssh box <<'EOF'\nnproc\nfree -h\nEOF\nls", [("box", "nproc"), ("box", "free -h"), ("local", "ls")]),
    ("ssh box 'bash -s' <<EOF\nnproc\nEOF", [("box", "nproc")]),
    ("docker exec -it -e A=1 -u web shop_db psql -c 'select 1; select 2'", [("container:shop_db", "psql -c 'select 1; select 2'")]),
    ("docker compose -f d.yml exec -T web sh -c 'nproc | cat'", [("container:web", "nproc"), ("container:web", "cat")]),
    ("kubectl -n shop exec -it pod/web-0 -c app -- nvidia-smi -L", [("pod:web-0", "nvidia-smi -L")]),
    ("ssh ada@box \"docker exec cache redis-cli info\"", [("ada@box/container:cache", "redis-cli info")]),
    ("H=ada@box; ssh $H nproc && ssh ${H} uname", [("local", "H=ada@box"), ("ada@box", "nproc"), ("ada@box", "uname")]),
    ("for h in n1 n2; do ssh $h nproc; done", [("n1", "nproc"), ("n2", "nproc")]),
    ("for h in $(cat hosts); do ssh $h nproc; done", [("$h", "nproc")]),
    ("while read h; do ssh -n $h nproc; done < hosts", [("local", "read h"), ("$h", "nproc")]),
    ("for n in 1 2; do ./bench -n $n; done", [("local", "./bench -n $n")]),
    ("gcloud compute ssh gpu-1 --zone a --command 'nvidia-smi'", [("gpu-1", "nvidia-smi")]),
    ("wsl -d Ubuntu -- uname -r", [("local", "uname -r")]),
    ("sudo su - web -c 'make deploy'", [("local", "make deploy")]),
    ("ssh box 'nohup ./serve > s.log 2>&1 &'", [("box", "nohup ./serve > s.log 2>&1")]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "places"), PLACES)
def test_places(line: str, places: list[tuple[str, str]]):
    assert [(run.host, run.command) for run in runs(line)] == places


def _last(line: str) -> Run:
    return runs(line)[-1]


# line, field of the last command, value
FIELDS = [
    ("ls &> /dev/null", "log", ""),
    ("make 2>&1", "log", ""),
    ("make 2> err.txt", "log", ""),
    ("make 2> err.txt", "errors_log", "err.txt"),
    ("git commit -m '> not a file'", "log", ""),
    ("make>out.txt", "log", "out.txt"),
    ("make &>> all.log &", "log", "all.log"),
    ("make &>> all.log &", "background", True),
    ("L=/var/log/x.log; nohup ./serve >$L 2>&1 &", "log", "/var/log/x.log"),
    ("./serve --port 80", "background", False),
    ("a && ./serve &", "background", True),
    ("(cd shop && ./serve) > s.log 2>&1 &", "background", True),
    ("(cd shop && ./serve) > s.log 2>&1 &", "log", "s.log"),
    ("(cd shop && ./serve) > s.log 2>&1 &", "cwd", "shop"),
    ("(cd shop && make); ls", "cwd", ""),
    ("cd /srv && cd shop; ls", "cwd", "/srv/shop"),
    ("D=/srv/shop; cd $D; ls", "cwd", "/srv/shop"),
    ("while true; do nvidia-smi; done > mon.log &", "log", "mon.log"),
    ("wc -l < a.txt", "stdin_from", "a.txt"),
    ("A=1 B='x y' ./serve", "env", {"A": "1", "B": "x y"}),
    ("env -i A=1 ./serve", "env", {"A": "1"}),
    ("export A=1 B=\"x y\"", "env", {"A": "1", "B": "x y"}),
    ("$env:A = 'x'", "env", {"A": "x"}),
    ("A=1 bash -c 'B=2 ./serve'", "env", {"A": "1", "B": "2"}),
    ("API_TOKEN=abc; curl -H \"X: $API_TOKEN\" h", "rest", ["-H", "X: $API_TOKEN", "h"]),
    ("N=4; ./bench --n $N '$N' \"${N}\"", "rest", ["--n", "4", "$N", "4"]),
    ("echo \"a \\\"b\\\" \\$c\" 'd'\\''e' $'f\\n'", "rest", ["a \"b\" $c", "d'e", "f\n"]),
    ("python - <<'PY'\nprint(1)\n\nprint(2)\nPY", "heredoc", "print(1)\n\nprint(2)"),
    ("python - <<-PY\n\tprint(1)\n\tPY", "heredoc", "\tprint(1)"),
    ("python - <<PY\nprint(1)", "heredoc", "print(1)"),
    ("nohup setsid ./serve &", "wrappers", ("nohup", "setsid")),
    ("uv run python -m pytest", "wrappers", ("uv run", "python")),
    ("A=1 make x > out.txt", "command", "A=1 make x > out.txt"),
    ("if true; then make x; fi", "command", "make x"),
    ("make a | tee b | cat", "fed_by", "tee"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "name", "value"), FIELDS)
def test_fields(line: str, name: str, value: object):
    assert getattr(_last(line), name) == value


def test_pipes():
    make, tee, cat = runs("(make a; ls) 2>&1 | tee b | cat")[1:]
    assert (make.piped_to, tee.piped_to, cat.piped_to) == (["tee", "cat"], ["cat"], [])


def test_continued_lines_are_one():
    assert (
        _last("docker run -d \\\n    --name db \\\n    postgres").line()
        == "docker run -d --name db postgres"
    )


def test_options():
    run = _last("./serve --port=80 -n4 --host 0.0.0.0 -- x")
    assert [run.option(n) for n in ("--port", "-n", "--host", "--none")] == [
        "80",
        "4",
        "0.0.0.0",
        "",
    ]


_BITS = st.sampled_from(["'", '"', "`", "$(", "(", ")", "{", "}", "<<A", "<<", "\n", "A\n", " ", "&", "|", ";", ">", "2>",
                         "do ", "done", "for x in a; ", "case a in ", "esac", "ssh h ", "bash -c ", "\\", "#", "$x", "x=",
                         "docker exec ", "kubectl exec ", "env ", "timeout ", "[[ ", "é", "\0"])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(_BITS, max_size=60).map("".join)))
def test_garbage_never_raises(line: str):
    for run in runs(line):
        assert run.host
        run.line(), run.args(), run.option("-p")


@pytest.mark.parametrize("bit", ["(", "$(", "<<A ", "'", '"', "`", "a|", "a&", "# x\n", "$((1<<n))\n", "<<a1\n", "bash -c '",
                                 "{ ", "for x in a; do ", "x=$x ", "\\\n"])  # fmt: skip
def test_time_grows_with_the_length(bit: str):
    begin = perf_counter()
    runs(bit * (LONGEST // len(bit)))
    assert perf_counter() - begin < 3  # quadratic work on 60,000 characters takes minutes
