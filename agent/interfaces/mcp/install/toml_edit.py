"""Sets and removes one table in a TOML text, and leaves all other lines as they are."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

_TABLE = re.compile(r"[ \t]*\[\[?[ \t]*(?P<name>[^\]#]+?)[ \t]*\]\]?[ \t]*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, object]:
    """The tables of the text; raises `tomllib.TOMLDecodeError`."""
    return tomllib.loads(text)


def with_table(text: str, keys: Sequence[str], values: Mapping[str, str | Sequence[str] | Mapping[str, str]]) -> str:
    """The text with this table, at the place of an older one of the name, else at the end."""
    rows = [f"[{_dotted(keys)}]", *(f"{_key(name)} = {_shown(value)}" for name, value in values.items())]
    kept, at = _without(text, keys)
    lines = kept.split("\n")
    if at is None:
        head = kept.rstrip("\n")
        return f"{head}\n\n{_joined(rows)}" if head else _joined(rows)
    return "\n".join([*lines[:at], *rows, *([""] if any(map(str.strip, lines[at:])) else []), *lines[at:]])


def without_table(text: str, keys: Sequence[str]) -> str:
    """The text without this table and those below it."""
    return _without(text, keys)[0]


def _without(text: str, keys: Sequence[str]) -> tuple[str, int | None]:
    """The text without the table and those below it, and the number of the line where it began."""
    wanted, kept, at, inside = list(keys), list[str](), None, False
    for row in text.split("\n"):
        found = _TABLE.fullmatch(row.rstrip("\r"))
        if found is not None:
            inside = _parts(found["name"])[: len(wanted)] == wanted
            at = len(kept) if inside and at is None else at
        if not inside:
            kept.append(row)
    return "\n".join(kept), at


def _parts(name: str) -> list[str]:
    try:
        found: object = tomllib.loads(f"[{name}]\n")
    except tomllib.TOMLDecodeError:
        return []
    parts: list[str] = []
    while isinstance(found, dict) and found:
        key = next(iter(found))
        parts.append(str(key))
        found = found[key]
    return parts


def _dotted(keys: Sequence[str]) -> str:
    return ".".join(map(_key, keys))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _shown(value: str | Sequence[str] | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_shown(each)}" for name, each in value.items()) + " }"
    return f"[{', '.join(map(_shown, value))}]"


def _joined(rows: Sequence[str]) -> str:
    return "\n".join(rows) + "\n"
