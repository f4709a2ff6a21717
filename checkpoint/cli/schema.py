"""`checkpoint schema`: the JSON Schema of the state."""

from __future__ import annotations

from checkpoint.cli._app import command


@command("checkpoint schema > state.schema.json", "checkpoint schema | jq '.\"$defs\" | keys'")
def schema() -> None:
    """Print the JSON Schema of state.json."""
    from checkpoint.cli._print import out_json
    from checkpoint.state import SCHEMA_VERSION, State

    made = State.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = f"The state of a coding-agent session, version {SCHEMA_VERSION}"
    out_json(made)
