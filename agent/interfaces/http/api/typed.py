"""Documents of the rooms as typed results: what the command line prints with `--json`, checked against its type."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

S = TypeVar("S")


def typed(document: object, kind: type[S]) -> S:
    """The document as a value of this type; sentences are plain text in it."""
    return msgspec.convert(_plain(document), kind)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple | frozenset | set) else value
