"""Values as JSON text, and back: dataclasses and what they are made of, by their types.

A text that is no value of its type raises only `ValueError`: records lie where anything may damage them.
"""

import dataclasses
import json
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from agent.json_value import parse_json

T = TypeVar("T")


def write_value(value: object) -> str:
    """The text of a value; a byte of a path that is no UTF-8 is written out in it."""
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain)
    return text


def parse_value(kind: type[T], text: str) -> T:
    """The value of a type in a text; times without a zone, and fields of a wrong type, raise `ValueError`."""
    try:
        return cast(T, _parsed(kind, parse_json(text)))
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _plain(value: object) -> object:
    match value:
        case date():
            return value.isoformat()
        case Mapping():
            return dict(value)
        case set() | frozenset():
            return sorted(value)
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(cast(Any, value))}


def _parsed(kind: Any, value: Any) -> object:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        found = next((each for each in inner if each == value and type(each) is type(value)), None)
        return _checked(found, found is not None, kind)
    if origin in (Union, UnionType):
        return _one_of(inner, value)
    if origin in (tuple, list, frozenset):
        return origin(_parsed(inner[0], each) for each in _checked(value, isinstance(value, list), kind))
    if issubclass(origin, Mapping):
        return {str(key): _parsed(inner[1], each) for key, each in value.items()}
    if dataclasses.is_dataclass(origin):
        return _made(origin, _checked(value, isinstance(value, dict), kind))
    return _simple(origin, value)


def _simple(kind: Any, value: Any) -> object:
    if issubclass(kind, datetime):
        at = datetime.fromisoformat(value)
        return _checked(at, at.tzinfo is not None, kind)
    if issubclass(kind, date):
        return date.fromisoformat(value)
    if issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    return _checked(value, kind is object or type(value) is kind, kind)


def _one_of(kinds: tuple[Any, ...], value: Any) -> object:
    if value is None:
        return _checked(None, type(None) in kinds, kinds)
    for kind in kinds:
        if kind is not type(None):
            try:
                return _parsed(kind, value)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
    raise ValueError(kinds)


def _made(kind: Any, fields: Mapping[str, Any]) -> object:
    hints = _hints(kind)
    return kind(**{name: _parsed(hints[name], fields[name]) for name in hints if name in fields})


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    """The types of the fields that are given when a value is made."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in dataclasses.fields(kind) if each.init}


def _checked(value: Any, is_right: bool, kind: Any) -> Any:
    if not is_right:
        raise ValueError(f"no {kind}")
    return value
