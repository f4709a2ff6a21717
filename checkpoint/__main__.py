"""The command `checkpoint`, also as `python -m checkpoint`."""

from __future__ import annotations

import sys


def main() -> None:
    """Answer `--version` at once; everything else is the command line's."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from checkpoint import __version__

        print(f"checkpoint {__version__}")
        return
    from checkpoint.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
