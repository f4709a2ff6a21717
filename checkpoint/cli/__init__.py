"""The command line: parse, call, print. One file a command; only here are exit codes known.

0 done; 1 the user can mend it, or problems under `--strict`; 2 usage; 3 a bug of ours; 130
interrupted.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence

from checkpoint import __version__
from checkpoint.errors import CheckpointError

DONE, FAILED, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; nothing is raised from here.

    Args:
        arguments: without the program's name; None takes the process's own.
    """
    _speak_utf8()
    gc.set_threshold(100_000, 50, 50)  # sessions make many objects and hardly a cycle
    try:
        code = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet()
    except KeyboardInterrupt:
        return INTERRUPTED
    except CheckpointError as error:
        _tell(f"checkpoint: {error}")
        return FAILED
    except Exception as error:
        return _bug(error)
    return code


def _dispatch(arguments: list[str]) -> int:
    from checkpoint.cli._app import load

    try:
        load(arguments)(args=arguments, prog_name="checkpoint")
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else DONE
    return DONE


def _speak_utf8() -> None:
    """Write UTF-8 into files and pipes whatever the locale; never fail on what cannot be shown."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def _quiet() -> int:
    """Leave without a word when nobody reads any more (`checkpoint show | head`)."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return DONE


def _tell(text: str) -> None:
    from checkpoint.cli._print import note

    note(text)


def _masked(trace: str) -> str:
    """Return the trace without secrets; an error's message may quote the session."""
    try:
        from checkpoint.redact import Redactor

        return Redactor.shipped().text(trace)
    except Exception:  # the redactor itself may be what broke
        return "\n".join(line for line in trace.splitlines() if line.startswith("  File "))


def _bug(error: Exception) -> int:
    """Write the trace of a mistake of ours to a log file, and one line to standard error."""
    import traceback
    from datetime import UTC, datetime

    from checkpoint.cli._print import state_home

    trace = "".join(traceback.format_exception(error))
    what = f"{type(error).__name__} (a mistake of ours, not of yours)"
    try:
        folder = state_home()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / "bugs.log"
        with log.open("a", encoding="utf-8", errors="replace") as file:
            log.chmod(0o600)
            python = sys.version.split()[0]
            at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
            file.write(f"{at} checkpoint {__version__}, python {python}\n{_masked(trace)}\n")
        _tell(f"checkpoint: {what}; the trace is in {log}")
    except OSError:
        _tell(f"checkpoint: {what}; no trace could be written")
    return BUG
