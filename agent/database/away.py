"""The errors of the shared database, for those that have no connection to it."""

from agent.errors import Permanent, Retryable

REST = 2.0
"""Seconds for which a server that was away is not tried again: each search would wait for it."""


class DatabaseAway(Retryable):
    """The shared database cannot be reached now; what needs it is tried again."""

    def __init__(self, reason: object) -> None:
        super().__init__(
            "the shared database cannot be reached: {reason}",
            delay=REST,
            hint="start the server, or look at database.url; it is tried again by itself",
            reason=reason,
        )


class DatabaseFault(Permanent):
    """The shared database refuses something, or lacks what it needs: a person has to look."""


class MissingThere(DatabaseFault):
    """What is asked for is not in the shared database, or is damaged."""
