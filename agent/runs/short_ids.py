"""Finds an object by its id, or by the end of its id as lists show it."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from agent.dataclass import dataclass
from agent.errors import Unknown, UserError

SHORT_ID = 6
"""The number of characters of an id's end that lists show; with fewer, nothing is found."""


class HasId(Protocol):
    """An object with an id."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=HasId)


def short_id(named: HasId) -> str:
    """The end of an id, as in the lists."""
    return named.id[-SHORT_ID:].lower()


@dataclass(frozen=True, slots=True)
class NotFound:
    """The sentences about a `{name}` that no object has, and that several have; and what lists the objects."""

    none: str
    several: str
    hint: str


def find_by_id(name: str, among: Iterable[T], otherwise: NotFound) -> T:
    """The object whose id is `name`, or ends in it, ignoring case; raises `UserError` unless it is exactly one."""
    end = name.casefold()
    found = [each for each in among if each.id == name or (len(name) >= SHORT_ID and each.id.casefold().endswith(end))]
    if len(found) != 1:
        if not found:
            raise Unknown(otherwise.none, hint=otherwise.hint, name=name)
        raise UserError(otherwise.several, hint=otherwise.hint, name=name)
    return found[0]
