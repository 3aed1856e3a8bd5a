"""Reading JSON that a stranger wrote: what is missing or of the wrong kind is empty, and nothing raises but `parsed`.

The only place where a server's JSON is looked into by key; what comes out is typed.
"""

import json
from collections.abc import Mapping, Sequence

from agent.llm.messages import Json, JsonObject


def parsed(text: str | bytes) -> Json:
    """The value in `text`; raises `ValueError` for what is no JSON, also when it is nested too deeply."""
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def mapping(value: Json) -> JsonObject:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Json) -> Sequence[Json]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def text(value: Json) -> str:
    """`value` when it is text, the texts of its parts when it is a list of them, else empty."""
    if isinstance(value, str):
        return value
    return "".join(text(mapping(part).get("text")) for part in items(value))


def number(value: Json) -> int:
    """`value` when it is a count, else 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0
