"""Extractors of calls: what commands and tools did, as facts; look-alikes first."""

# ruff: noqa: E501 - lines stand as tools print them
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from checkpoint.extractors import _base, extract, extractors
from checkpoint.extractors.tool_outputs import LONGEST
from checkpoint.model import Change, Message, Text, Todo, ToolCall
from checkpoint.settings import Settings, shipped
from checkpoint.state import Authority, Fact

SETTINGS = shipped()


def shell(command: str, output: str = "", **more: Any) -> ToolCall:
    return ToolCall("bash", "shell", command, output=output, **more)


def facts(name: str, *calls: ToolCall, **more: Any) -> list[Fact]:
    """The facts that one extractor yields of an assistant's message with these calls."""
    extractors()
    message = Message(7, "assistant", list(calls), "agent", cwd="/shop", **more)
    return list(_base.EXTRACTORS[name](message, SETTINGS))


def told(name: str, fields: str, *calls: ToolCall, **more: Any) -> list[tuple[Any, ...]]:
    return [tuple(f.fields[field] for field in fields.split()) for f in facts(name, *calls, **more)]


ALL = [
    "commands",
    "commits",
    "environment",
    "files",
    "printed",
    "processes",
    "todos",
    "tool_outputs",
]


@pytest.mark.parametrize("name", ALL)
def test_no_calls_no_facts(name: str) -> None:
    assert facts(name) == []
    assert facts(name, ToolCall("", "other")) == []
    assert facts(name, shell("")) == []


@pytest.mark.parametrize("name", ["commands", "environment", "files", "processes", "tool_outputs"])
def test_what_a_person_refused_did_nothing(name: str) -> None:
    calls = (
        shell("A_B=1 make test >x.log &", "3 passed in 0.1s", refused=True),
        ToolCall("edit", "edit", "a.py", refused=True, changes=(Change("a.py", "edited"),)),
    )
    assert [f for f in facts(name, *calls) if f.kind != "tests"] == []


FILES = [
    ("ls src", []),
    ("cat README", []),  # no folder, no ending: as likely a word
    ("cat <<EOF | sort\na.py\nEOF", []),
    ("rm -rf build/*", []),
    ("sed -n 10,20p", []),
    ("mv a.py b.py c", []),
    ("cp a.py lib/", []),
    ("make > build.log", []),
    ("git rm", []),
    ("cat /dev/null", []),
    ("cat src/a.py src/b.py", [("read", "src/a.py", ""), ("read", "src/b.py", "")]),
    ("sed -n 10,20p src/a.py", [("read", "src/a.py", "")]),
    ("sed -i 's/a.b/c/' src/a.py", [("edited", "src/a.py", "")]),
    ("cat > notes.md <<'EOF'\nx\nEOF", [("written", "notes.md", "")]),
    ("echo a | tee -a log.txt", [("written", "log.txt", "")]),
    ("rm -f a.py b.py", [("deleted", "a.py", ""), ("deleted", "b.py", "")]),
    ("mv a.py lib/", [("renamed", "lib/a.py", "a.py")]),
    ("git mv a.py b.py", [("renamed", "b.py", "a.py")]),
    ("git rm --cached a.py", [("deleted", "a.py", "")]),
    ("cp a.py b.py", [("written", "b.py", "")]),
    ("touch a.py", [("created", "a.py", "")]),
    ("cd lib && touch a.py && rm /tmp/b.py", [("created", "lib/a.py", ""), ("deleted", "/tmp/b.py", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), FILES)
def test_files_of_commands(command: str, expected: list[tuple[str, str, str]]) -> None:
    assert told("files", "act path source", shell(command)) == expected
    assert facts("files", shell(command, failed=True)) == []


def test_files_on_other_hosts() -> None:
    assert told("files", "host act path", shell("ssh rig 'cd /srv; rm a.py'")) == [
        ("rig", "deleted", "/srv/a.py")
    ]


def test_files_of_file_tools() -> None:
    calls = (
        ToolCall("edit", "edit", "x", changes=(Change("Moved to a.py -> b.py", "edited"),)),
        ToolCall("read", "read", "/shop/src/a.py"),
        ToolCall("read", "read", "/shopping/a.py"),
        ToolCall("read", "read", "src/b.py", failed=True),
        ToolCall("patch", "edit", "2 files", changes=(
            Change("/shop/c.py", "created"), Change("d.py", "renamed", source="e.py"))),
    )  # fmt: skip
    assert told("files", "act path source", *calls) == [
        ("read", "src/a.py", ""),
        ("read", "/shopping/a.py", ""),
        ("created", "c.py", ""),
        ("renamed", "d.py", "e.py"),
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make", []),
        ("make --jobs=4", []),
        ("a=1 make", []),
        ("PATH=/x:$PATH CI=1 make", []),
        ("KEY=$OTHER make", []),
        ("KEY= make", []),
        ("TREE=`git write-tree` make", []),
        ("echo KEY=1", []),
        ("KEY=1 make", [("KEY", "1", "local")]),
        ("export KEY_A=1 KEY_B='x y'", [("KEY_A", "1", "local"), ("KEY_B", "x y", "local")]),
        ("ssh rig 'KEY=1 make'", [("KEY", "1", "rig")]),
        ("env KEY=1 make", [("KEY", "1", "local")]),
    ],
)
def test_environment(command: str, expected: list[tuple[str, str, str]]) -> None:
    assert told("environment", "name value host", shell(command)) == expected
    assert facts("environment", shell(command, failed=True)) == []


COMMANDS = [
    ("ls -l", []),
    ("grep -rn test src", []),
    ("git status", [("success", "git status")]),
    ("cargo build", [("success", "cargo build"), ("command", "cargo build")]),
    ("cd web && npm test", [("success", "npm test"), ("command", "npm test")]),
    ("npm run dev &", [("success", "npm run dev")]),
    ("docker run -d shop", [("success", "docker run -d shop")]),
    ("cat <<X | python3 -\nprint()\nX", [("success", "python3 -"), ("command", "python3 -")]),
]


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_commands(command: str, expected: list[tuple[str, str]]) -> None:
    assert [(f.kind, f.fields["command"]) for f in facts("commands", shell(command))] == expected
    assert facts("commands", shell(command, finished=False)) == []
    assert facts("commands", shell(command), subagent="explorer") == []


def test_a_command_of_many_lines_or_letters_is_not_worth_keeping() -> None:
    assert facts("commands", shell("python -c '\nx\n'"), shell("make " + "x" * 400)) == []


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("uv run pytest -q", "test"),
        ("./bench.sh --runs 3", "benchmark"),
        ("ruff check src", "test"),
        ("mypy src", "lint"),
        ("make -j4", "build"),
        ("pip install rich", "install"),
        ("terraform apply", "deploy"),
        ("uvicorn app:app", "serve"),
        ("python train.py", "run"),
    ],
)
def test_what_a_command_is_for(command: str, purpose: str) -> None:
    (kept,) = [f for f in facts("commands", shell(command)) if f.kind == "command"]
    assert kept.fields["purpose"] == purpose


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("grep x a.py", "", []),
        ("git push", "error: failed to push", []),
        ("make", "", []),
        ("make", "cc a.c\na.c:3: error: no x\nmake: *** stopped\n", ["a.c:3: error: no x"]),
        ("pytest", "E  KeyError: 'x'\n0 errors found\n", ["E  KeyError: 'x'"]),
        ("./run", "one\n\n", ["one"]),
    ],
)
def test_failures(command: str, output: str, expected: list[str]) -> None:
    found = facts("commands", shell(command, output, failed=True, exit_code=2))
    assert [f.fields["error"] for f in found if f.kind == "failure"] == expected
    assert [f for f in found if f.kind == "command" and f.fields["command"] == command] == []


def test_only_the_last_of_a_chain_is_known_to_have_failed() -> None:
    found = facts("commands", shell("make && ssh rig make test", "Error: x", failed=True))
    assert [(f.kind, f.fields["command"], f.fields["host"]) for f in found] == [
        ("failure", "make test", "rig")
    ]


PROCESSES = [
    ("npm test", "", []),
    ("sleep 5 &", "", []),
    ("kill -9 %1", "", []),
    ("docker run --rm shop", "", []),
    ("docker ps", "", []),
    ("docker compose up", "", []),
    ("tmux ls", "", []),
    ("systemctl status shop", "", []),
    ("kill 411", "", [{"act": "stop", "pid": "411"}]),
    ("kill $(lsof -t -i:8080)", "", [{"act": "stop", "port": "8080"}]),
    ("fuser -k 8080/tcp", "", [{"act": "stop", "port": "8080"}]),
    ("pkill -f 'shop serve'", "", [{"act": "stop", "pattern": "shop serve"}]),
    ("python app.py --port 8080 > app.log 2>&1 &\necho $!", "4711\n",
     [{"act": "start", "port": "8080", "pid": "4711", "log": "app.log", "host": "local"}]),
    ("a.sh & b.sh & echo $!", "4711\n", [{"act": "start", "pid": ""}, {"act": "start", "pid": ""}]),
    ("python app.py &", "started 4711\n", [{"act": "start", "pid": "", "port": ""}]),
    ("ssh rig 'nohup ./train.sh >t.log &'", "", [{"act": "start", "host": "rig", "log": "t.log"}]),
    ("docker run -d --name db -p 5433:5432 pg", "", [{"act": "start", "name": "db", "port": "5433"}]),
    ("docker compose up -d", "", [{"act": "start", "name": "compose"}]),
    ("docker compose down", "", [{"act": "stop", "name": "compose"}]),
    ("docker rm -f db cache", "", [{"act": "stop", "name": "db"}, {"act": "stop", "name": "cache"}]),
    ("tmux new-session -d -s web 'npm start'", "", [{"act": "start", "name": "web"}]),
    ("tmux kill-session -t web", "", [{"act": "stop", "name": "web"}]),
    ("screen -dmS web npm start", "", [{"act": "start", "name": "web"}]),
    ("sudo systemctl restart shop", "", [{"act": "start", "name": "shop"}]),
    ("service shop stop", "", [{"act": "stop", "name": "shop"}]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "expected"), PROCESSES)
def test_processes(command: str, output: str, expected: list[dict[str, str]]) -> None:
    found = facts("processes", shell(command, output))
    picked = [{k: f.fields[k] for k in want} for f, want in zip(found, expected, strict=True)]
    assert picked == expected
    assert facts("processes", shell(command, output, failed=True)) == []


def test_processes_of_the_agents_own_background() -> None:
    started = shell("cd web && npm start", "", background=True, id="bash_1")
    stopped = ToolCall("KillShell", "other", input={"shell_id": "bash_1"})
    assert told("processes", "act name", started, stopped) == [
        ("start", "bash_1"),
        ("stop", "bash_1"),
    ]


COMMITS = [
    ("git status", "[main 1a2b3c4] Fix\n", []),
    ("git commit -m Fix", "", []),
    ("git commit -m Fix", "hook: lint failed\n", []),
    ("git commit -m Fix", "nothing to commit, working tree clean\n", []),
    ("git log --oneline -3", "1a2b3c4 Fix\n[main 1a2b3c4] Fix\n", []),
    ("git commit -m Fix", " 1a2b3c4 Fix\n", []),
    ("git commit -m Fix", "[main 1a2b3c4] Fix the pump\n 1 file changed\n",
     [("1a2b3c4", "Fix the pump", "main", False)]),
    ("git commit", "[main (root-commit) 1a2b3c4] Begin\n", [("1a2b3c4", "Begin", "main", False)]),
    ("git commit --amend --no-edit", "[fix/x 1a2b3c4] Fix\n", [("1a2b3c4", "Fix", "fix/x", True)]),
    ("git commit -qm Fix && git log --oneline -1", "1a2b3c4 (HEAD -> main) Fix\n", [("1a2b3c4", "Fix", "", False)]),
    ("git commit -m A && git commit -m B", "[m 1a2b3c4] A\n[m 1a2b3c5] B\n",
     [("1a2b3c4", "A", "m", False), ("1a2b3c5", "B", "m", False)]),
    ("git cherry-pick 9f", "[main 1a2b3c4] Fix\n", [("1a2b3c4", "Fix", "main", False)]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "expected"), COMMITS)
def test_commits(command: str, output: str, expected: list[tuple[Any, ...]]) -> None:
    made = told("commits", "sha subject branch amended", shell(command, output))
    assert made == expected


def test_a_commit_counts_though_its_call_failed_later() -> None:
    call = shell("git commit -m A && git push", "[m 1a2b3c4] A\nfatal: no remote\n", failed=True)
    assert [f.kind for f in facts("commits", call)] == ["commit"]


PUSHED = "To example.org:shop.git\n   1a2b3c4..5d6e7f8  main -> main\n"
HOSTS = [
    ("git push", "Everything up-to-date\n", []),
    ("git push", " ! [rejected]  main -> main (fetch first)\n", []),
    ("gh pr list", "https://example.org/a/shop/pull/12\n", []),
    ("gh pr view", "no pull requests\n", []),
    ("gh pr create --title Fix", "aborted\n", []),
    ("git tag", "v1.2.0\n", []),
    ("git tag -l v1.2.0", "", []),
    ("git tag wip", "", []),
    ("git reset --hard", "", []),
    ("npm publish --dry-run", "", []),
    ("git push upstream main", PUSHED, [("push", {"remote": "upstream", "branch": "main", "range": "1a2b3c4..5d6e7f8"})]),
    ("git push -u origin fix", " * [new branch]      fix -> fix\n", [("push", {"branch": "fix", "range": ""})]),
    ("git reset --soft HEAD~1", "", [("commit_undone", {"sha": ""})]),
    ("git tag -a v1.2.0 -m x", "", [("release", {"tag": "v1.2.0"})]),
    ("gh pr create -t 'Fix it'", "https://example.org/a/shop/pull/12\n",
     [("pull_request", {"number": "12", "state": "open", "title": "Fix it"})]),
    ("gh pr merge 12 --squash", "", [("pull_request", {"number": "12", "state": "merged", "url": ""})]),
    ("gh release create v2.0", "", [("release", {"tag": "v2.0"})]),
    ("cargo publish", "", [("release", {"version": "cargo publish"})]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "expected"), HOSTS)
def test_pushes_pulls_and_releases(
    command: str, output: str, expected: list[tuple[str, dict[str, str]]]
) -> None:
    found = facts("commits", shell(command, output))
    assert [f.kind for f in found] == [kind for kind, _ in expected]
    for made, (_, fields) in zip(found, expected, strict=True):
        assert {k: made.fields[k] for k in fields} == fields
    assert facts("commits", shell(command, output, failed=True)) == []


def test_todos() -> None:
    items = (Todo("Write", "completed", "1"), Todo("Test", "in_progress", "2"))
    call = ToolCall("todowrite", "todo", todos=items)
    empty = ToolCall("todowrite", "todo", todos=())
    single = ToolCall("update", "todo", todos=items[:1], todos_whole=False)
    assert facts("todos", ToolCall("todowrite", "todo", todos=items, failed=True)) == []
    assert facts("todos", ToolCall("x", "todo", todos_whole=False)) == []
    assert facts("todos", call, subagent="explorer") == []
    assert told("todos", "items whole", call, empty, single) == [
        ([["completed", "Write", "1"], ["in_progress", "Test", "2"]], True),
        ([], True),
        ([["completed", "Write", "1"]], False),
    ]
    assert [f.quote for f in facts("todos", call, single)] == ["Test", "Write"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (shell("x", "no number"), []),
        (shell("x", "12 and 0.05"), []),
        (shell("x", "at 10:45:12 in a.py:120:"), []),
        (ToolCall("read", "read", "a", output="94.25"), []),
        (shell("x", " ".join(str(n) for n in range(100, 300))), []),
        (shell("x", "94.25 " + "x" * 12_000), []),
        (shell("x", "94.25 tok/s of 1,024"), [["1024", "94.25"]]),
    ],
)
def test_printed(call: ToolCall, expected: list[list[str]]) -> None:
    assert [f.fields["numbers"] for f in facts("printed", call)] == expected


def test_outputs_are_read_without_colours_and_quoted_as_they_stand() -> None:
    line = "\x1b[32m\x1b[1m3 passed\x1b[0m in 0.12s\x1b[0m"
    (tests,) = facts("tool_outputs", shell("pytest -q", f"..\n{line}\n"))
    assert (tests.kind, tests.fields["passed"], tests.quote) == ("tests", 3, line)


def test_outputs_of_commands_elsewhere_are_of_that_host() -> None:
    found = facts("tool_outputs", shell("ssh rig ./bench.sh", "throughput: 812 req/s\n"))
    assert [(f.kind, f.fields["host"]) for f in found] == [("measurement", "rig")]


@pytest.mark.parametrize("more", [{"truncated": True}, {}])
def test_a_cut_output_says_so(more: dict[str, bool]) -> None:
    output = "throughput: 812 req/s\n" + ("" if more else "[output truncated]\n")
    (made,) = facts("tool_outputs", shell("./bench.sh", output, **more))
    assert made.fields["partial"] is True


def test_only_the_ends_of_a_long_output_are_looked_at() -> None:
    far = "x\n" * LONGEST
    line = "3 passed in 1.0s\n"
    assert facts("tool_outputs", shell("pytest", far + line + far)) == []
    assert told("tool_outputs", "passed", shell("pytest", far + line)) == [(3,)]


def test_an_extractor_that_raises_costs_its_own_facts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(message: Message, settings: Settings) -> Iterator[Fact]:
        yield from ()
        raise ValueError("a fault of ours")

    present = extractors()
    monkeypatch.setattr("checkpoint.extractors.extractors", lambda: (broken, *present))
    message = Message(0, "user", [Text("Never touch the BIOS.")], "person")
    told: list[str] = []
    found = list(extract(message, SETTINGS, lambda name, error: told.append(str(error))))
    assert told == ["a fault of ours"]
    assert "instruction" in {f.kind for f in found}
    with pytest.raises(ValueError, match="a fault of ours"):
        list(extract(message, SETTINGS))


def test_every_quote_stands_in_its_message() -> None:
    calls = [shell(c, o) for c, o, _ in (*COMMITS, *HOSTS, *PROCESSES)]
    calls += [shell(c) for c, _ in (*FILES, *COMMANDS)]
    message = Message(7, "assistant", list(calls), "agent", cwd="/shop", id="m7")
    whole = "\n".join(f"{call.target}\n{call.output}" for call in calls)
    found = list(extract(message, SETTINGS))
    assert len(found) > 60
    for made in found:
        assert made.quote in whole, made
        assert (made.message, made.id, made.role) == (7, "m7", "assistant")
        assert made.authority in (Authority.INPUT, Authority.OUTPUT)
