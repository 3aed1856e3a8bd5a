"""The arguments of a call: their JSON schema, their values by name, and one JSON text for equal calls.

Checks a call's arguments against the tool's JSON schema, with problems in words that a model can correct.

The library `jsonschema` validates; this module formats its errors, one line per problem.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent.errors import ToolRetry
from agent.llm.messages import Json, JsonObject
from agent.markdown.title import clipped

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


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


_SHOWN = 5
_VALUE = 60


def with_types(arguments: JsonObject, schema: JsonObject) -> JsonObject:
    """The arguments, with values that only miss their type: `"3"` for the number 3, `"true"` for true, a list or an
    object written as JSON, one text for a list of texts.

    A value that fits already, or that could be read in two ways, is unchanged.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    return {name: _typed(value, known.get(name)) for name, value in arguments.items()}


def _typed(value: Json, rules: Json) -> Json:
    wanted = rules.get("type") if isinstance(rules, Mapping) else None
    types = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, list | tuple) else []
    if types == ["integer"] and isinstance(value, float) and value.is_integer():
        return int(value)
    if not types or "string" in types or not isinstance(value, str):
        return value
    try:
        read: Json = json.loads(value.strip().lower() if "boolean" in types else value.strip())
    except (ValueError, RecursionError):
        return [value] if types == ["array"] and value.strip() else value
    return read if any(_is_of(read, each) for each in types) else value


def _is_of(value: Json, kind: Json) -> bool:
    """True for a value of this type of JSON schemas."""
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    names = {int: ("integer", "number"), float: ("number",), list: ("array",), dict: ("object",)}
    return kind in names.get(type(value), ())


def problems(arguments: JsonObject, schema: JsonObject) -> tuple[str, ...]:
    """The problems of the arguments, at most five lines; empty if there are none.

    An argument that is not in the schema is refused, even if the schema does not forbid it. A server's schema that is
    none, or refers to what is not in it, is a problem, too.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import UnknownType
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    unusable = (AttributeError, TypeError, ValueError, LookupError, RecursionError, UnknownType, Unresolvable)

    plain_arguments = plain(arguments)
    rules = plain({"additionalProperties": False, **schema})
    assert isinstance(rules, dict)
    # an empty registry: a `$ref` to a URL is never fetched
    validator = Draft202012Validator(rules, registry=Registry())
    try:
        found = [line for error in validator.iter_errors(plain_arguments) for line in _lines(error)]
    except unusable:
        return ("this tool's own schema is wrong, so that no call of it can be checked: do without it",)
    found += [f"{name}: the text holds half a character; leave it out" for name in _broken(plain_arguments)]
    unique = list(dict.fromkeys(found))
    more = [f"and {len(unique) - _SHOWN} more problems"] if len(unique) > _SHOWN else []
    return tuple(unique[:_SHOWN] + more)


def _lines(error: "ValidationError") -> Iterator[str]:
    where = ".".join(str(part) for part in error.absolute_path)
    wanted = error.validator_value
    match error.validator:
        case "additionalProperties":
            yield from _unknown(error, where)
        case "required":
            names = wanted if isinstance(wanted, list) else []
            present = error.instance if isinstance(error.instance, Mapping) else {}
            yield from (f"{_inside(where, str(name))} is missing" for name in names if name not in present)
        case "type":
            kinds = " or ".join(wanted) if isinstance(wanted, list) else str(wanted)
            yield f"{where or 'the arguments'} must be of type {kinds}, not {_quoted(error.instance)}"
        case "enum":
            choices = wanted if isinstance(wanted, list) else []
            yield f"{where} must be one of {', '.join(map(_quoted, choices))}, not {_quoted(error.instance)}"
        case "minLength" | "minItems" if not error.instance:
            yield f"{where} must not be empty"
        case "maxLength" | "maxItems" if isinstance(error.instance, str | list):
            what = "characters" if error.validator == "maxLength" else "items"
            yield f"{where} must have at most {wanted} {what}, not {len(error.instance)}"
        case _:
            message = error.message if len(error.message) < 200 else f"{_quoted(error.instance)} does not fit"
            yield f"{where}: {message}" if where else message


def _unknown(error: "ValidationError", where: str) -> Iterator[str]:
    allowed = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    known = ", ".join(str(name) for name in allowed) or "none"
    instance = error.instance if isinstance(error.instance, Mapping) else {}
    for name in instance:
        if name not in allowed:
            yield f"unknown argument {_inside(where, _quoted(name))}; allowed: {known}"


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _quoted(value: object) -> str:
    written = json.dumps(value, ensure_ascii=True, default=str)
    return clipped(written, _VALUE)


def _broken(value: object, where: str = "") -> Iterator[str]:
    """Yield the places of texts that cannot be encoded as UTF-8."""
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            yield where or "the arguments"
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _broken(item, _inside(where, ascii(name)[1:-1]))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _broken(item, _inside(where, str(number)))
