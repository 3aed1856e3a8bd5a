"""The most that git may bring here at once, and the error for more."""

from agent.dataclass import dataclass
from agent.errors import UserError


class TooMuch(UserError):
    """What a remote has is too much to be taken in; nothing of it was."""


@dataclass(frozen=True, slots=True)
class ReceivingLimits:
    """`files`: of a commit. `depth`: its levels of folders. `note` and `fetch`: the bytes of a note and of all that a
    fetch brings, as it is sent and as it is written here; 0 for no limit."""

    files: int = 200_000
    depth: int = 64
    note: int = 0
    fetch: int = 500_000_000
