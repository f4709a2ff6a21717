#!/usr/bin/env python3
"""Save a checkpoint of the demo session into a temporary repository, and show it.

Everything happens in a temporary folder, with a home of its own: your sessions, your repositories
and your settings are not looked at. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path(__file__).parent


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description="Run the demo.")
    parser.add_argument("--checkpoint", default="checkpoint", help="the program to run")
    given = parser.parse_args()
    program = str(Path(given.checkpoint).resolve()) if os.sep in given.checkpoint else "checkpoint"
    with tempfile.TemporaryDirectory(prefix="checkpoint-demo-") as folder:
        return _run(program, Path(folder).resolve())


def _run(program: str, folder: Path) -> int:
    home = folder / "home"
    project = folder / "tidewatch"
    home.mkdir()
    project.mkdir()
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    session = [sys.executable, str(DEMO / "session.py"), "--directory", str(project)]
    steps = [
        ["git", "init", "--quiet", "--initial-branch", "main", "."],
        [*session, "--claude", str(home / ".claude")],
        [program, "save"],
        [program, "log"],
        [program, "show"],
    ]
    for step in steps:
        said = " ".join(step).replace(program, "checkpoint").replace(str(folder), "$DEMO")
        said = said.replace(sys.executable, "python").replace(str(DEMO), "demo")
        print(f"\n$ {said}", flush=True)
        done = subprocess.run(step, cwd=project, env=environment, check=False)
        if done.returncode:
            print(f"failed with exit code {done.returncode}", file=sys.stderr)
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
