"""Typed values from untrusted JSON: a missing field or a wrong type gives an empty value; only `parsed` raises.

The only place that looks up keys in a server's JSON.
"""

import json
from collections.abc import Mapping, Sequence

from agent.llm.messages import Json, JsonObject


def parsed(text: str | bytes) -> Json:
    """The value in `text`; raises `ValueError` for invalid JSON, also when it is nested too deeply."""
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def mapping(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def items(value: Json) -> Sequence[Json]:
    """`value` if it is a list, else an empty list."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def text(value: Json) -> str:
    """`value` if it is text, the joined texts of its parts if it is a list, else empty."""
    if isinstance(value, str):
        return value
    return "".join(text(mapping(part).get("text")) for part in items(value))


def number(value: Json) -> int:
    """`value` if it is a count, else 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0
