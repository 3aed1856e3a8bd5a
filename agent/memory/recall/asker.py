"""The person for whom memories are recalled."""

from datetime import datetime

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks.

    `sender` is empty for the owner at their own machine, `chat` outside of groups. `is_owner`: owns the vault; others
    see only their own messages and those of their chat. `session` is the current conversation; its turns since `since`
    are still in the model's context.
    """

    sender: str = ""
    chat: str = ""
    is_owner: bool = True
    session: str = ""
    since: datetime | None = None
    run: str = ""

    @property
    def is_named(self) -> bool:
        """True for the owner, and for anyone with a sender name."""
        return self.is_owner or bool(self.sender)
