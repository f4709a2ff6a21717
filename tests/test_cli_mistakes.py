"""The command line under bad input, mistakes, interrupts, closed pipes and hostile text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import Checkpoint, process


def bad(folder: Path) -> dict[str, Path]:
    """Files that are no sessions."""
    content = {
        "empty": b"",
        "blank": b"\n \n",
        "zero bytes": b"\x00" * 5000,
        "junk": bytes(range(256)) * 64,
        "prose": b"Dear diary,\ntoday I wrote a parser.\n",
        "other json": b'{"name": "x", "version": 1}',
        "other lines": b'{"level": "info", "msg": "started"}\n' * 50,
        "broken database": b"SQLite format 3\x00" + b"\x01" * 2000,
    }
    made = {"missing": folder / "missing.jsonl", "a folder": folder}
    for name, value in content.items():
        made[name] = folder / f"{name}.jsonl"
        made[name].write_bytes(value)
    return made


BAD = ["missing", "a folder", "empty", "blank", "zero bytes", "junk", "prose", "other json"]
BAD += ["other lines", "broken database"]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["extract", "save"])
def test_bad_input_is_told_in_one_line(
    checkpoint: Checkpoint, tmp_path: Path, name: str, command: str
):
    folder = tmp_path / "bad"
    folder.mkdir()
    path = bad(folder)[name]
    ran = checkpoint(command, path)
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("checkpoint: ")
    assert path.name in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_told(checkpoint: Checkpoint, demo_session: Path):
    demo_session.chmod(0)
    ran = checkpoint("extract", demo_session)
    assert ran.code == 1
    assert "cannot be read" in ran.err


def test_strict_fails_on_what_was_not_understood(checkpoint: Checkpoint, demo_session: Path):
    assert checkpoint("extract", demo_session, "--strict").code == 0
    with demo_session.open("ab") as file:
        file.write(b"{this is no JSON\n{}\n")
    loose = checkpoint("extract", demo_session)
    assert loose.code == 0
    assert "warning" in loose.err or "error" in loose.err
    assert checkpoint("extract", demo_session, "--strict").code == 1


def test_a_torn_last_line_loses_nothing_else(checkpoint: Checkpoint, demo_session: Path):
    whole = json.loads(checkpoint("extract", demo_session, "--json").out)
    with demo_session.open("ab") as file:
        file.write(demo_session.read_bytes().splitlines()[-1][:200])
    torn = json.loads(checkpoint("extract", demo_session, "--json").out)
    assert torn["session"]["messages"] == whole["session"]["messages"]
    assert torn["goals"] == whole["goals"]


MISTAKES = [
    (["nothing-of-the-kind"], 2, "No such command"),
    (["extract"], 2, "Missing argument"),
    (["extract", "x", "--until", "-1"], 2, "--until"),
    (["extract", "x", "--format", "pdf"], 2, "--format"),
    (["save"], 1, "session"),
    (["save", "zz-no-such-id"], 1, "checkpoint sessions --all"),
    (["save", "no/such/file"], 1, "no such file"),
    (["extract", "x", "--agent", "nobody"], 1, "x"),
    (["show"], 1, "checkpoint save"),
    (["show", "20990101"], 1, "checkpoint save"),
    (["log", "-n", "0"], 2, "-n"),
    (["diff"], 2, "Missing argument"),
    (["diff", "a", "b"], 1, "a"),
    (["why", "x"], 1, "checkpoint save"),
    (["completion", "tcsh"], 2, "tcsh"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), MISTAKES)
def test_a_mistake_is_told_on_standard_error(
    checkpoint: Checkpoint, arguments: list[str], code: int, said: str
):
    ran = checkpoint(*arguments)
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_no_checkpoint_yet_is_no_error_for_log(checkpoint: Checkpoint):
    ran = checkpoint("log")
    assert (ran.code, ran.out) == (0, "")
    assert "checkpoint save" in ran.err


def test_a_bad_setting_is_told_with_its_file(checkpoint: Checkpoint, home: Path):
    path = home / ".config" / "checkpoint" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("budgett: 3\n", encoding="utf-8")
    ran = checkpoint("config", "show")
    assert ran.code == 1
    assert str(path) in ran.err
    assert "budgett" in ran.err


def test_a_bug_is_one_line_and_a_log_file(home: Path, demo_session: Path):
    code = (
        "import sys, checkpoint.render as r\n"
        "def broken(*a, **k): raise ZeroDivisionError('a secret of the session')\n"
        "r.document = broken\n"
        "from checkpoint.cli import run; sys.exit(run(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "extract", str(demo_session)],
        capture_output=True,
        text=True,
        check=False,
    )
    log = home / ".local" / "state" / "checkpoint" / "bugs.log"
    assert done.returncode == 3
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert str(log) in done.stderr
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


def test_nobody_reads_any_more(demo_session: Path):
    first = subprocess.Popen(
        [sys.executable, "-m", "checkpoint", "schema"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert first.stdout is not None
    assert first.stderr is not None
    first.stdout.close()
    said = first.stderr.read()
    first.stderr.close()
    assert first.wait(20) == 0
    assert said == b""


def test_an_interrupt_ends_with_130(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [sys.executable, "-m", "checkpoint", "extract", str(pipe)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running,
        pipe.open("wb"),
    ):  # opens once the program waits for what comes
        time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert b"Traceback" not in out + err


def test_session_text_does_not_reach_the_terminal_as_control(
    checkpoint: Checkpoint, demo_session: Path
):
    text = demo_session.read_text(encoding="utf-8")
    nasty = r"below 2 seconds \u001b[31mred\u0007 \u009b2J \u202eesrever"
    demo_session.write_text(text.replace("below 2 seconds", nasty), encoding="utf-8")
    checkpoint("save", demo_session)
    (goal, *_) = json.loads(checkpoint("extract", demo_session, "--json").out)["goals"]
    for arguments in (
        ["extract", demo_session],
        ["extract", demo_session, "--json"],
        ["show"],
        ["log"],
        ["why", goal["id"]],
        ["resume", "--print"],
    ):
        ran = checkpoint(*arguments)
        assert ran.code == 0
        assert not set(ran.out) & set("\x1b\x07\x9b\u202e"), arguments


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf8_in_every_locale(demo_session: Path, locale: str):
    given = {**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "checkpoint", "extract", str(demo_session), "--json"],
        capture_output=True,
        env=given,
        check=True,
    )
    assert "tidewatch" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(checkpoint: Checkpoint, shell: str):
    ran = checkpoint("completion", shell)
    assert ran.code == 0
    assert f"complete_{shell}" in ran.out
    assert "checkpoint" in ran.out


def test_the_completion_of_bash_completes(tmp_path: Path):
    script = process("completion", "bash").stdout
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "checkpoint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m checkpoint "$@"\n')
    program.chmod(0o755)
    test = (
        f"{script}\nCOMP_WORDS=(checkpoint s); COMP_CWORD=1; _checkpoint_completion checkpoint\n"
        'echo "${COMPREPLY[*]}"\n'
        "COMP_WORDS=(checkpoint save --agent c); COMP_CWORD=3; _checkpoint_completion checkpoint\n"
        'echo "${COMPREPLY[*]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", test],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"},
    )
    commands, agents = done.stdout.splitlines()[-2:]
    assert {"save", "show", "sessions", "schema"} <= set(commands.split())
    assert {"claude-code", "codex"} <= set(agents.split())
