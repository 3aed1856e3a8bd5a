"""What the person allows in a round of sync; apart from the work, so that what only shows it loads little."""

from enum import StrEnum

from agent.dataclass import dataclass


class RemoteChoice(StrEnum):
    """The person's answer about a remote whose history was rewritten."""

    ASK = "ask"
    KEEP = "keep"
    """Keep what is here: it goes to the remote again."""
    TAKE = "take"
    """Take what is there: what was taken out there goes here, too; only our newer changes are added."""


@dataclass(frozen=True, slots=True)
class RemotePermission:
    """What the person allows in this round. `mass`: to delete many notes. `join`: to put two vaults together.

    `theirs` is the commit of the remote that they were asked about; empty for any.
    """

    choice: RemoteChoice = RemoteChoice.ASK
    mass: bool = False
    join: bool = False
    theirs: str = ""

    def at(self, theirs: str) -> "RemotePermission":
        """What is allowed while the remote is at a commit."""
        return self if self.theirs in {"", theirs} else RemotePermission()
