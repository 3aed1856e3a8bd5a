"""Header values: their types, and the value of an unquoted word.

YAML 1.1, which PyYAML implements, turns `yes` into true, `12:30` into 750 and `0123` into 83. Obsidian uses YAML 1.2,
so plain words are resolved here by the 1.2 core schema, plus ISO dates and times, which Obsidian has as property types.
`yaml_read` parses the syntax, `yaml_write` writes it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TypeAlias, TypeGuard

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
