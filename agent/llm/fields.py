"""Typed values from untrusted JSON: a missing field or a wrong type gives an empty value; only `parsed` raises.

The only place that looks up keys in a server's JSON.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from agent.json_value import parse_json
from agent.llm.messages import Json, JsonObject

_END_OF_TIME = 253_402_000_000
"""The seconds from 1970 to the end of the year 9999, less than two days."""


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
    """`value` if it is text, the joined texts of its parts if it is a list, else empty. Halves of characters, which
    JSON can hold and no file can, become question marks."""
    found = streamed_text(value)
    return found if found.isascii() else found.encode("utf-8", "replace").decode()


def streamed_text(value: Json) -> str:
    """The same for a piece of a text, whose last character may have its other half in the next piece."""
    if isinstance(value, str):
        return value
    return "".join(streamed_text(mapping(part).get("text")) for part in items(value))


def moment(seconds: int) -> datetime:
    """The time so many seconds after the beginning of 1970, which is the time for a number that is out of range."""
    return datetime.fromtimestamp(seconds if 0 < seconds < _END_OF_TIME else 0, UTC)


def number(value: Json) -> int:
    """`value` if it is a count, else 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0


def reply_items(reply: str) -> Iterator[Mapping[str, str]]:
    """The objects of the JSON array in a reply, a list in them as lines; raises `ValueError` if there is none."""
    begin, end = reply.find("["), reply.rfind("]")
    if begin < 0 or end < begin:
        raise ValueError("no JSON array in the answer")
    for item in parse_json(reply[begin : end + 1]):
        if isinstance(item, dict):
            yield {str(key): _text(value) for key, value in item.items()}


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
