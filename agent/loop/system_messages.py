"""The system messages of sessions: made when a conversation begins, and sent again to the letter as long as it goes on.

A session whose text is not kept on this machine any more, or whose last message was for another audience, gets a new
one.
"""

from collections.abc import Callable
from typing import TypeAlias

from agent.context.prompt import Audience, reader_for, system_part
from agent.dataclass import dataclass
from agent.llm.messages import System
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.texts import Language
from agent.vault.store import Vault

FixedTexts: TypeAlias = Callable[[], tuple[str, ...]]
"""Makes the texts about the owner and the skills that a conversation begins with."""


def no_texts() -> tuple[str, ...]:
    """None: for a system message of the prompts alone."""
    return ()


@dataclass(frozen=True, slots=True)
class SystemMessages:
    """The system messages of one vault's sessions."""

    vault: Vault
    language: Language

    def new(self, audience: Audience, fixed: FixedTexts = no_texts) -> Spoken:
        """The message of a conversation that begins now; raises `UserError` for a prompt with a wrong variable."""
        folder = "" if audience is Audience.GUEST else self.vault.home.path
        text = system_part(reader_for(audience, self.vault.own_version_of), self.language, folder, fixed())
        return Spoken(System(self.vault.masked(text)), audience=audience.name.lower())

    def provide(self, session: Session, audience: Audience, fixed: FixedTexts = no_texts) -> None:
        """Give the session a new system message, unless it has the text of one for this audience."""
        said = (record.event for record in reversed(session.records) if isinstance(record.event, Spoken))
        last = next((each for each in said if isinstance(each.message, System)), None)
        if last is None or not last.message.text or last.audience != audience.name.lower():
            session.add(self.new(audience, fixed))
