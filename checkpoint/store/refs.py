"""Names of refs, made of names that sessions, agents and remotes bring along."""

from __future__ import annotations

import hashlib
import re

LOCAL = "refs/checkpoints"
FETCHED = "refs/checkpoints-remotes"
IMPORTED = "imported"
_IMPORTED_FOLDER = "imported+files"

_LONGEST = 100  # characters; a file system takes 255 bytes, and ".lock" is still to come


def component(text: str) -> str:
    """Return `text` as one component of a ref.

    Plain names stay as they are. Whatever git, a file system or a command line could take for
    something else is replaced, and a hash of the whole name follows after a "+", which plain names
    do not have: so two names never meet in one ref, and none climbs or is taken for an option.
    """
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    clean = re.sub(r"\.{2,}", ".", clean).strip(".-")[:_LONGEST].rstrip(".-")
    if clean.endswith(".lock"):
        clean = clean[: -len(".lock")].rstrip(".-")
    if clean and clean == text:
        return clean
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{clean or 'unnamed'}+{digest}"


def session_ref(agent: str, session: str) -> str:
    """Return the ref of a session's own checkpoints."""
    return f"{LOCAL}/{component(agent)}/{component(session)}"


def imported_ref(agent: str, session: str) -> str:
    """Return the ref of a session's checkpoints that came in files; as foreign as fetched ones."""
    return f"{FETCHED}/{_IMPORTED_FOLDER}/{component(agent)}/{component(session)}"


def fetched_folder(remote: str) -> str:
    """Return where the checkpoints fetched from a remote lie."""
    return f"{FETCHED}/{component(remote)}"


def remote_of(ref: str) -> str:
    """Return which remote a ref was fetched from; "" for our own."""
    if not ref.startswith(f"{FETCHED}/"):
        return ""
    folder = ref[len(FETCHED) + 1 :].partition("/")[0]
    return IMPORTED if folder == _IMPORTED_FOLDER else folder


def glob(space: str, agent: str | None, session: str | None) -> str:
    """Return the pattern for `git log --glob` of the refs in a name space.

    Without a wildcard git would look for refs *below* the name; hence the brackets around the last
    character. A component has no character that means anything in a pattern.
    """
    if agent is None and session is None:
        return f"{space}/*"
    parts = ["*" if one is None else component(one) for one in (agent, session)]
    head = f"{space}/*/" if space == FETCHED else f"{space}/"
    whole = head + "/".join(parts)
    return whole if whole.endswith("*") else f"{whole[:-1]}[{whole[-1]}]"
