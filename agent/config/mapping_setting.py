"""A setting that is a mapping: in a settings file it may be written as one, and is read as its JSON."""

import json
from collections.abc import Mapping, Sequence

from agent.errors import ConfigError
from agent.json_value import parse_json


def mapping_as_json(texts: Mapping[str, str | None], name: str) -> str:
    """The mapping of the setting `name` as JSON, from the texts of its values by dotted key; `3` and `true` are no
    texts. Raises `ConfigError` for a list, which a settings file cannot hold."""
    whole: object = {}
    for key, text in texts.items():
        if text is None:
            raise ConfigError(
                "{key} is a list, which a settings file cannot hold",
                hint="write the whole of {name} as JSON, in quotes",
                key=f"{name}.{key}",
                name=name,
            )
        whole = _with(whole, key.split("."), _value(text))
    return json.dumps(whole)


def _with(mapping: object, path: Sequence[str], value: object) -> object:
    """The mapping with a value at this path; anything else that stands in its way is replaced."""
    if not path:
        return value
    before: dict[str, object] = mapping if isinstance(mapping, dict) else {}
    return {**before, path[0]: _with(before.get(path[0]), path[1:], value)}


def _value(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        return text
