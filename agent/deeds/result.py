"""Result values: what the command line prints with `--json`, and what HTTP answers and describes in its document."""

from collections.abc import Mapping
from datetime import date
from enum import Enum
from functools import cache
from inspect import getdoc
from typing import Annotated, Any, Self, get_args

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
"""An id, a note or a title, as a person or program names a thing; a door checks its length."""
ShortName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
TaskText = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
"""A task for a run, in the person's words."""
MostItems = Annotated[int, msgspec.Meta(ge=1, le=200)]
"""The most items of an answer."""


class ResultValue(msgspec.Struct, frozen=True):
    """A result value: its fields are plain values, lists of them, and other result values."""

    def __init_subclass__(cls) -> None:
        cls.__doc__ = getdoc(cls)  # that of the value that it extends, where it has none

    @classmethod
    def of(cls, *sources: object, **values: object) -> Self:
        """A value made of others: a field that is not among the `values` is the attribute of its name of the first
        value that has one, else its default. Sentences become plain texts, moments texts in ISO form, and an empty text
        null where the field may be. Raises `TypeError` for a field that is missing or of another type."""
        may_be_null, found = _null_fields(cls), dict[str, object]()
        for name, key in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
            source = next((each for each in sources if hasattr(each, name)), None)
            if name in values or source is not None:
                value = _plain(values[name] if name in values else getattr(source, name))
                found[key] = None if value == "" and name in may_be_null else value
        try:
            return msgspec.convert(found, cls)
        except msgspec.ValidationError as error:  # no fault of who asked
            raise TypeError(f"{cls.__name__}: {error}") from error

    def document(self) -> dict[str, Any]:
        """The value as a JSON document."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


@cache
def _null_fields(kind: type[ResultValue]) -> frozenset[str]:
    """The names of the fields that may be null."""
    return frozenset(each.name for each in msgspec.structs.fields(kind) if type(None) in get_args(each.type))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple | frozenset | set) else value
