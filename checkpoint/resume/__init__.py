"""Resume: which checkpoint, what drifted since, the briefing, the agent's own command line."""

from __future__ import annotations

from checkpoint.resume.briefing import Briefing, brief, pointer, tokens
from checkpoint.resume.drift import Drift, drift
from checkpoint.resume.launch import Launch, agents, launch, native
from checkpoint.resume.picking import Picked, candidates, pick

__all__ = [
    "Briefing",
    "Drift",
    "Launch",
    "Picked",
    "agents",
    "brief",
    "candidates",
    "drift",
    "launch",
    "native",
    "pick",
    "pointer",
    "tokens",
]
