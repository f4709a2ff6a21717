"""`python -m checkpoint.hooks`: the same as `checkpoint-hook`."""

from __future__ import annotations

from checkpoint.hooks import main

main()
