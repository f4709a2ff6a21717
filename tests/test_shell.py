"""Command lines: simple commands, hosts, wrappers, redirections; garbage is taken as it comes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.extractors._shell import BEHIND, LONGEST, Run, runs
from checkpoint.extractors._shell_words import pipelines, split, take_heredocs


def names(command: str) -> list[str]:
    return [run.name for run in runs(command)]


def only(command: str) -> Run:
    (run,) = runs(command)
    return run


NOTHING = [
    "",
    "   ",
    "\n\n",
    "# rm -rf build",
    ";;;",
    "&&",
    "()",
    "for f in a b",
    "cd src",
    "if",
]


@pytest.mark.parametrize("command", NOTHING)
def test_no_command(command: str) -> None:
    assert runs(command) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls", ["ls"]),
        ("/usr/bin/ls -l", ["ls"]),
        ("a; b\nc && d || e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("a # ; b", ["a"]),
        ("a '#' b; c", ["a", "c"]),
        ("echo a#b; c", ["echo", "c"]),
        ("echo 'a; b' \"c | d\" e\\;f", ["echo"]),
        ("echo $(a; b | c); d", ["echo", "d"]),
        ("diff <(a; b) <(c)", ["diff"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("for f in *.py; do wc $f; done", ["wc"]),
        ("while ! a; do sleep 1; done", ["a", "sleep"]),
        ("{ a; b; }", ["a", "b"]),
        ("(a; b) && c", ["a", "b", "c"]),
        ("a >/dev/null 2>&1 && b", ["a", "b"]),
        ("a &> out.log; b", ["a", "b"]),
        ("a \\\n  -b \\\n  -c\nd", ["a", "d"]),
        ("echo 'never closed; b", ["echo"]),
        ("echo $(never closed; b", ["echo"]),
    ],
)
def test_the_simple_commands_in_order(command: str, expected: list[str]) -> None:
    assert names(command) == expected


@pytest.mark.parametrize(
    ("command", "name", "sub", "wrappers"),
    [
        ("make", "make", "", ()),
        ("git", "git", "", ()),
        ("git status", "git", "status", ()),
        ("git -C ../shop -c user.name=x commit -m y", "git", "commit", ()),
        ("cargo +nightly test", "cargo", "test", ()),
        ("make -C docs -j 4 html", "make", "html", ()),
        ("kubectl -n prod get pods", "kubectl", "get", ()),
        ("ls status", "ls", "", ()),
        ("python3 -m pytest -q", "pytest", "", ("python3",)),
        ("python3.12 app.py", "python3.12", "", ()),
        ("sudo -u web systemctl restart shop", "systemctl", "restart", ("sudo",)),
        ("timeout 30 make test", "make", "test", ("timeout",)),
        ("timeout -k 5 30s env A=1 nice -n 5 ./run.sh", "run.sh", "", ("timeout", "env", "nice")),
        ("uv run --with rich python -m pytest", "pytest", "", ("uv run", "python")),
        ("npx -p typescript tsc", "tsc", "", ("npx",)),
        ("poetry run mypy", "mypy", "", ("poetry run",)),
        ("uv sync", "uv", "sync", ()),
        ("nohup", "nohup", "", ()),
        ("time make test", "make", "test", ()),  # a word of the shell, no program
        ("env time", "time", "", ("env",)),
    ],
)
def test_the_program_behind_its_wrappers(
    command: str, name: str, sub: str, wrappers: tuple[str, ...]
) -> None:
    run = only(command)
    assert (run.name, run.sub, run.wrappers) == (name, sub, wrappers)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make", {}),
        ("make A=1", {}),
        ("A=1 B='x y' make", {"A": "1", "B": "x y"}),
        ("env A=1 make", {"A": "1"}),
        ("A=1 env B=2 make", {"A": "1", "B": "2"}),
        ("export A=1 B", {"A": "1"}),
        ("A=b=c", {"A": "b=c"}),
        ("A= make", {"A": ""}),
        ("A=1 bash -c 'B=2 make'", {"A": "1", "B": "2"}),
    ],
)
def test_variables(command: str, expected: dict[str, str]) -> None:
    assert only(command).env == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls", [("ls", "local", "")]),
        ("ssh rig", [("ssh", "local", "")]),
        ("ssh rig uptime", [("uptime", "rig", "")]),
        ("ssh -p 22 -i key -l ada rig 'cd /srv && ls'", [("ls", "ada@rig", "/srv")]),
        ("ssh -tt ada@rig -- ls", [("--", "ada@rig", "")]),
        ("ssh rig 'a; b'; c", [("a", "rig", ""), ("b", "rig", ""), ("c", "local", "")]),
        ("ssh a ssh b ls", [("ls", "a/b", "")]),
        ("ssh rig <<EOF\nmake\nEOF", [("make", "rig", "")]),
        ("ssh rig docker exec -it -e A=1 db psql", [("psql", "rig/container:db", "")]),
        ("docker exec -w /x db sh -c 'a && b'",
         [("a", "container:db", ""), ("b", "container:db", "")]),
        ("docker compose exec --user root web ls", [("ls", "container:web", "")]),
        ("docker exec db", [("docker", "local", "")]),
        ("kubectl -n prod exec pod/web-1 -c app -- ls -l", [("ls", "pod:web-1", "")]),
        ("kubectl exec web-1", [("kubectl", "local", "")]),
        ("bash -lc 'cd a; cd b; make'", [("make", "local", "a/b")]),
        ("bash run.sh -c x", [("bash", "local", "")]),
        ("bash <<'X'\nmake\nX", [("make", "local", "")]),
        ("cd /srv && make; cd ~ && ls", [("make", "local", "/srv"), ("ls", "local", "~")]),
        ("cd /srv | cat", [("cd", "local", ""), ("cat", "local", "")]),
        ("bash -c ''", [("bash", "local", "")]),
    ],
)  # fmt: skip
def test_where_a_command_runs(command: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(r.name, r.host, r.cwd) for r in runs(command)] == expected


@pytest.mark.parametrize(
    ("command", "background", "log", "stdin"),
    [
        ("a", False, "", ""),
        ("a &", True, "", ""),
        ("a && b 2>&1", False, "", ""),
        ("a > x.log 2>&1 &", True, "x.log", ""),
        ("a &>x.log &", True, "x.log", ""),
        ("a >>x.log", False, "x.log", ""),
        ("a 2>err.log", False, "", ""),
        ("a >/dev/null", False, "", ""),
        ("a <in.txt >out.txt", False, "out.txt", "in.txt"),
        ("ssh rig 'nohup a > x.log' &", True, "x.log", ""),
    ],
)
def test_background_and_redirections(command: str, background: bool, log: str, stdin: str) -> None:
    run = runs(command)[-1]
    assert (run.background, run.log, run.stdin_from) == (background, log, stdin)


def test_only_what_ends_in_an_ampersand_is_in_the_background() -> None:
    assert [(r.name, r.background) for r in runs("a & b; c && d &")] == [
        ("a", True), ("b", False), ("c", False), ("d", True)]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a", [[]]),
        ("a; b", [[], []]),
        ("a | b | tail -3", [["b", "tail"], ["tail"], []]),
        ("ssh rig 'a | b' | c", [["b", "c"], ["c"], []]),
    ],
)
def test_what_stands_behind_in_the_pipe(command: str, expected: list[list[str]]) -> None:
    assert [run.piped_to for run in runs(command)] == expected


def test_a_pipe_without_end_is_known_so_far() -> None:
    found = runs("|".join(["a"] * 200))
    assert (len(found), len(found[0].piped_to), len(found[-3].piped_to)) == (200, BEHIND, 2)


def test_heredocs_are_cut_out_and_belong_to_their_command() -> None:
    cat, sort = runs("cat <<A >x.txt\nrm -rf /; b\nA\nsort <<-'B'\n\tz\n\tB\n")
    assert (cat.name, cat.heredoc, cat.log) == ("cat", "rm -rf /; b", "x.txt")
    assert (sort.name, sort.heredoc) == ("sort", "\tz")


def test_a_heredoc_without_end_takes_the_rest() -> None:
    assert only("cat <<EOF\nrm x\nmake").heredoc == "rm x\nmake"


def test_a_here_string_is_no_heredoc() -> None:
    assert names("grep x <<<abc\nmake") == ["grep", "make"]
    assert names("grep x <<< 'abc'\nmake") == ["grep", "make"]
    assert [run.heredoc for run in runs("grep x <<<a; cat <<A\nb\nA")] == ["", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  ", []),
        ("a  b\tc\nd", ["a", "b", "c", "d"]),
        ("''", [""]),
        ("a'b c'd", ["ab cd"]),
        (r'"a \"b\" \x $c"', [r'a "b" \x $c']),
        (r"'a\' b", ["a\\", "b"]),
        ("a\\ b", ["a b"]),
        ("a\\\nb", ["ab"]),
        ("$(a b) c", ["$(a b)", "c"]),
        ("x=$(a (b) c)d e", ["x=$(a (b) c)d", "e"]),
        ("'open a b", ["open a b"]),
        ("a \\", ["a"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    found = split(text)
    assert [word for word in found if word or word in expected] == expected


@pytest.mark.parametrize(
    ("command", "asked", "expected"),
    [
        ("serve", ("--port",), ""),
        ("serve --port", ("--port",), ""),
        ("serve --port 80", ("--port",), "80"),
        ("serve --port=80", ("-p", "--port"), "80"),
        ("serve -p80", ("-p",), "80"),
        ("serve -p 80 -p 81", ("-p",), "80"),
        ("serve --ports 80", ("--port", "-p"), ""),
        ("sudo serve --port 80", ("--port",), "80"),
    ],
)
def test_options(command: str, asked: tuple[str, ...], expected: str) -> None:
    assert only(command).option(*asked) == expected


def test_arguments_stand_behind_the_program() -> None:
    assert only("sudo -u web /opt/serve --port 80 x").args() == ["--port", "80", "x"]
    assert only("python3 -m pytest -q tests").args() == ["-q", "tests"]


def test_what_is_returned_is_the_callers() -> None:
    runs("a | b").clear()
    assert names("a | b") == ["a", "b"]


# Pieces that a shell gives meaning to, in any order: what agents write, cut and doubled.
PIECES = st.lists(
    st.sampled_from(
        ["a", "b", " ", "\n", "'", '"', "`", "\\", "$(", "<(", "(", ")", "{", "}", "|", "|&", "||",
         "&", "&&", ";", ";;", "#", ">", ">>", "2>&1", "&>", "<", "<<A", "<<'A'", "<<<", "\nA\n",
         "A=1 ", "export ", "cd ", "ssh h ", "docker exec ", "kubectl exec p -- ", "bash -c ",
         "sudo ", "timeout ", "uv run ", "python -m ", "-x", "--", "then ", "for ", "ß", "\x00"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(st.one_of(PIECES, st.text(max_size=200)))
def test_nothing_raises_and_commands_stand_in_their_line(text: str) -> None:
    for run in runs(text):
        run.args()
        run.option("-x", "--long")
        assert isinstance(run.name, str)
        if run.host == "local" and "#" not in text and "<" not in text and "-c" not in text:
            assert run.command in text


@given(PIECES.filter(lambda text: "#" not in text))
def test_pieces_of_a_line_stand_in_it_in_order(text: str) -> None:
    kept, _ = take_heredocs(text)
    place = 0
    for pieces, _ in pipelines(kept):
        for piece in pieces:
            place = kept.index(piece, place) + len(piece)


def test_comments_are_blank() -> None:
    assert list(pipelines("a # x | y\n# z\nb")) == [
        (["a        "], False), (["   "], False), (["b"], False)]  # fmt: skip


@given(PIECES)
def test_whatever_follows_a_line_it_is_read(text: str) -> None:
    assert names(f"make\n{text}")[:1] == ["make"]


REPEATED = ["a|", "a&", "a;", "#\n", "then ", "$(", "(", "<<A ", "cat <<A\nA\n", "<<<", "> a ",
            "A=1 ", "sudo ", "ssh a ", "bash -c '", "'\"", "\\", "docker exec a sh -c ", "uv run ",
            "cd a;", "kubectl exec ", "env -u ", " ", "\n"]  # fmt: skip


def _seconds(text: str) -> float:
    taken = []
    for turn in range(2):
        begun = time.process_time()
        runs(text, cwd=f"/turn{turn}")  # else it is remembered
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.parametrize("piece", REPEATED)
def test_time_grows_with_the_length(piece: str) -> None:
    short, long = ((piece * LONGEST)[:size] for size in (3_000, 24_000))
    # eightfold; of quadratic work it would be 64 times
    assert _seconds(long) < 28 * max(_seconds(short), 0.001)


def test_what_is_too_long_is_read_so_far() -> None:
    assert names("a;" + " " * LONGEST + "b") == ["a"]
