"""Every error that is raised on purpose.

::

    CheckpointError
    ├── ReadError               a session file that cannot be read at all
    │   └── AmbiguousFormatError    two readers claim one file
    ├── SettingsError           a configuration file that says something wrong
    ├── RenderError             a template that does not compile or render
    └── StoreError              a repository that refuses

A message says where, what, and what to do. Foreign *content* never raises: what a reader cannot
understand becomes a `checkpoint.model.Problem`.
"""

from __future__ import annotations


class CheckpointError(Exception):
    """The user can mend this; the command line prints it and exits with 1."""


class ReadError(CheckpointError):
    """A session file that cannot be read at all."""


class AmbiguousFormatError(ReadError):
    """More than one reader claims the file."""


class SettingsError(CheckpointError):
    """A configuration file that says something wrong."""


class RenderError(CheckpointError):
    """A template that does not compile or render."""


class StoreError(CheckpointError):
    """A repository that refuses."""
