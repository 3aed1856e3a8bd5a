"""The arguments of a call: their JSON schema, their values by name, and one JSON text for equal calls."""

import json

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
