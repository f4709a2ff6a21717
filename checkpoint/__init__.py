"""Checkpoint summaries of long coding-agent sessions: exact, with evidence, without a model."""

__version__ = "0.1.0"
