"""The arguments of a call: their JSON schema, their values by name, and one JSON text for equal calls."""

import json

from agent.errors import ToolRetry
from agent.llm.messages import Json, JsonObject


def schema(*required: str, **properties: Json) -> JsonObject:
    """The JSON schema of arguments with these properties, and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def text(arguments: JsonObject, name: str, default: str = "") -> str:
    """The text with this name; `default` if there is none."""
    value = arguments.get(name)
    return value if isinstance(value, str) else default


def texts(arguments: JsonObject, name: str) -> tuple[str, ...]:
    """The texts in the list with this name; empty if there is none."""
    value = arguments.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def number(arguments: JsonObject, name: str, default: int) -> int:
    """The whole number with this name; `default` if there is none."""
    value = arguments.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def main_argument(arguments: JsonObject, schema: JsonObject) -> str:
    """The call's subject for people, such as its path or query: the first required text, else the first text given."""
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list | tuple) else []
    return next((value for name in (*names, *arguments) if isinstance(value := arguments.get(name), str)), "")


def canonical(arguments: JsonObject) -> str:
    """The arguments as JSON with sorted keys and no blanks: equal for equal calls."""
    return json.dumps(plain(arguments), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def plain(value: Json) -> object:
    """The value as plain dictionaries and lists, as `json` and `jsonschema` require."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value]


LINES: JsonObject = {
    "type": "string",
    "pattern": "^[0-9]{1,9}(-[0-9]{0,9})?$",
    "description": "10-20",
}
"""The schema of the argument `lines`."""


def line_range(call: JsonObject, total: int, name: str) -> tuple[int, int]:
    """The first and the last line of the argument `lines`, of a text with `total` lines; all of them by default.

    Raises `ToolRetry` with the `name` of the text for lines that it does not have.
    """
    lines = text(call, "lines")
    begin, dash, end = lines.partition("-")
    first = int(begin or 1)
    last = min(int(end or total) if dash or not begin else first, total)
    if not 1 <= first <= last:
        raise ToolRetry(f"{name} has lines 1-{total}; there are no lines {lines}")
    return first, last
