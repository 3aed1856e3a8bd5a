"""Errors of the disk, in words for the person."""

from collections.abc import Iterator
from contextlib import contextmanager

from agent.errors import UserError, os_reason
from agent.git.repository import Place


@contextmanager
def in_plain_words(place: Place) -> Iterator[None]:
    """Raise `UserError` for an error of the disk in the block, before anything was written."""
    try:
        yield
    except OSError as error:
        raise refused(error, place) from error


def refused(error: OSError, place: Place) -> UserError:
    """The error for a failure of the disk, in words for the person."""
    return UserError(
        "nothing was written: {reason} ({path})",
        hint="make room or set the folder's permissions, then try again",
        reason=os_reason(error),
        path=error.filename or place.root,
    )
