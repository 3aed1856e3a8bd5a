"""Header values: their types, and a writer for them as YAML in Obsidian's style."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TypeAlias, TypeGuard

from agent.errors import BadNote
from agent.escape import escape, is_inert

Scalar: TypeAlias = None | bool | int | float | str | date | datetime
# Parsed values are never changed: lists are tuples, mappings are dictionaries that no code writes to.
Value: TypeAlias = Scalar | Sequence["Value"] | Mapping[str, "Value"]
Header: TypeAlias = Mapping[str, Value]
MAX_BYTES = 64 * 1024
"""The most bytes of a header that is read."""

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_STARTS_LIKE_A_NUMBER = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
    r" ?(Z|z|[-+][0-9]{2}(?::?[0-9]{2})?)?",
    re.ASCII,
)
_LONGEST_NUMBER = 400  # digits; a longer number stays text, because Python refuses to convert it


def resolve(word: str) -> Scalar:
    """The value of an unquoted scalar: null, a boolean, a number, a date, a time, or the text itself."""
    if word in _WORDS:
        return _WORDS[word]
    if word[0] not in _STARTS_LIKE_A_NUMBER or len(word) > _LONGEST_NUMBER:
        return word
    if _INTEGER.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    if _BASED.fullmatch(word):
        return int(word[2:], 8 if word[1] == "o" else 16)
    return _moment(word)


def _moment(word: str) -> Scalar:
    """A date or a time; the text itself for anything else, and for a day that does not exist."""
    try:
        if _DATE.fullmatch(word):
            return date.fromisoformat(word)
        if found := _TIME.fullmatch(word):
            day, clock, zone = found.groups()
            return datetime.fromisoformat(f"{day}T{clock}{(zone or '').upper()}")
    except ValueError:
        pass
    return word


def same(one: Value, other: Value) -> bool:
    """True if two values are equal with the same type: NaN equals NaN, and `true`, `1` and `1.0` all differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is not type(other):
        return False
    if isinstance(one, datetime) and isinstance(other, datetime):
        return one.isoformat() == other.isoformat()
    return one == other or (one != one and other != other)


def is_list(value: Value) -> TypeGuard[Sequence[Value]]:
    """True if a value is a list (not text, which is also a sequence in Python)."""
    return isinstance(value, Sequence) and not isinstance(value, str)


_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=~.<")
_OLD_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_NUMBER_LIKE = re.compile(r"[-+0-9][-+0-9a-fA-FoxXTtZz_.: ]*", re.ASCII)
_ESCAPED = re.compile('[\x00-\x1f\x7f-\x9f"\\\\\u2028\u2029\ufeff\ufffe\uffff]')
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def mapping(header: Header) -> list[str]:
    """The lines of a mapping in its order. Raises BadNote for lone surrogates, which UTF-8 cannot encode."""
    return [line for key, value in header.items() for line in pair(text(key), value)]


def pair(key: str, value: Value, *, step: int = 2) -> list[str]:
    """The lines of `key: value`; `key` is already quoted if needed, list items are indented by `step` spaces."""
    if isinstance(value, Mapping) and value:
        return [f"{key}:", *("  " + line if line else "" for line in mapping(value))]
    if is_list(value) and value:
        return [f"{key}:", *(" " * step + line if line else "" for line in _items(value))]
    lines = scalar(value)
    return [f"{key}: {lines[0]}" if lines[0] else f"{key}:", *("  " + line if line else "" for line in lines[1:])]


def scalar(value: Value) -> list[str]:
    """The lines of a scalar or of an empty list or mapping; several lines only for text with line feeds."""
    if isinstance(value, str):
        return _literal(value) or [text(value)]
    if isinstance(value, Mapping):
        return ["{}"]
    return ["[]"] if isinstance(value, Sequence) else [_word(value)]


def inline(value: Value) -> str | None:
    """A list of scalars as `[a, b]`, or None when it contains lists or mappings."""
    if not is_list(value) or any(isinstance(item, Mapping) or is_list(item) for item in value):
        return None
    return "[" + ", ".join(item_text(item, flow=True) for item in value) + "]"


def item_text(item: Value, *, flow: bool) -> str:
    """One scalar of a list on one line."""
    if isinstance(item, str):
        return text(item, flow=flow)
    return "null" if item is None else scalar(item)[0]


def text(value: str, *, flow: bool = False) -> str:
    """Text on one line, quoted when the unquoted text would not parse back as the same text."""
    if _stays_text(value) and not (flow and any(mark in value for mark in ",[]{}")):
        return value
    if _SURROGATE.search(value):
        raise BadNote("the value holds half a character (a lone surrogate)", hint="remove the broken character")
    quoted = _ESCAPED.sub(lambda found: _NAMED.get(found[0]) or f"\\u{ord(found[0]):04x}", value)
    return f'"{escape(quoted)}"'  # YAML has the same escapes in double quotes


def _stays_text(value: str) -> bool:
    if not value or value[0] in _INDICATORS or value[-1] == ":" or value != value.strip():
        return False
    if ": " in value or " #" in value or value.lower() in _OLD_WORDS or _NUMBER_LIKE.fullmatch(value):
        return False
    if any(mark in value for mark in "\t\n\r") or not is_inert(value):
        return False
    return isinstance(resolve(value), str)


def _literal(value: str) -> list[str]:
    """`|` or `|-` and the lines of a text; empty when the text needs quotes."""
    inner = value.removesuffix("\n")
    lines = inner.split("\n")
    if "\n" not in value or not inner or inner[0] in " \t\n" or inner[-1] == "\n":
        return []
    if any(line and not line.strip() for line in lines) or "\r" in value or not is_inert(value):
        return []
    return ["|" if value.endswith("\n") else "|-", *lines]


def _word(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(repr(value), repr(value))
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value)


def _items(values: Value) -> list[str]:
    lines: list[str] = []
    for item in values if is_list(values) else ():
        if isinstance(item, Mapping) and item:
            inner = mapping(item)
        elif is_list(item) and item:
            inner = _items(item)
        else:
            first, *rest = ["null"] if item is None else scalar(item)
            inner = [first, *rest]
        lines.append("- " + inner[0])
        lines.extend("  " + line if line else "" for line in inner[1:])
    return lines
