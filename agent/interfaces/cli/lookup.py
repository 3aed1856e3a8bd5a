"""Finding what a person means by an id, or by the end of one, as the lists show it."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from agent.errors import UserError

SHORT_ID = 6
"""Characters of an id's end that the lists show, and the fewest that name something."""


class HasId(Protocol):
    """What has an id that a person may be shown."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=HasId)


def short_id(named: HasId) -> str:
    """The end of an id, as the lists show it."""
    return named.id[-SHORT_ID:].lower()


def find_by_id(name: str, among: Iterable[T], what: str, none: str, hint: str) -> T:
    """The one whose id is `name`, or ends in it, in either case.

    Raises `UserError`: `none` where there is none, several `what` where there are several; both with `hint`.
    """
    end = name.casefold()
    found = [each for each in among if each.id == name or (len(name) >= SHORT_ID and each.id.casefold().endswith(end))]
    if len(found) != 1:
        raise UserError(f"{f'several {what} end in' if found else none} {name}", hint=hint)
    return found[0]
