"""A call's arguments, read by name once the schema has been checked; and as JSON that is the same for the same call."""

import json

from agent.llm.messages import Json, JsonObject


def text(arguments: JsonObject, name: str, default: str = "") -> str:
    """The text under a name."""
    value = arguments.get(name)
    return value if isinstance(value, str) else default


def texts(arguments: JsonObject, name: str) -> tuple[str, ...]:
    """The list of texts under a name; empty where there is none."""
    value = arguments.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def number(arguments: JsonObject, name: str, default: int) -> int:
    """The whole number under a name."""
    value = arguments.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def canonical(arguments: JsonObject) -> str:
    """The arguments as JSON with sorted keys and no blanks: equal for equal calls."""
    return json.dumps(plain(arguments), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def plain(value: Json) -> object:
    """The value as the dictionaries and lists that `json` and `jsonschema` know."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value]
