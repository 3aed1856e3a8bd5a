"""The system messages of sessions: made when a session begins, and made again to the letter when it goes on.

A session's note has only what its system message was built of: the day, the language, and the ids of the contents of
the notes. If the message made of these has another hash than the first one had, because a prompt of the program is
another one now or a content is gone, the session gets a new message.
"""

import hashlib
from collections.abc import Mapping
from datetime import date

from agent.context.prompt import VaultReader
from agent.context.system import system_part
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.llm.messages import System
from agent.loop.records import PromptParts, Spoken
from agent.loop.session import Session
from agent.texts import LANGUAGES, Language
from agent.vault.history.pins import read_pinned
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class SystemMessages:
    """The system messages of one vault's sessions."""

    vault: Vault
    language: Language

    def new(self) -> Spoken:
        """The message of a session that begins today; raises `UserError` for a prompt with a wrong variable."""
        read: dict[str, bytes] = {}

        def note(name: str) -> bytes | None:
            data = self.vault.own_version_of(name)
            if data is not None:
                read[self.vault.home.at(name)] = data
            return data

        day = self.vault.clock.now().date()
        text = self._text(note, day, self.language)
        notes = tuple((path, self.vault.content_id(data)) for path, data in read.items())
        return Spoken(System(text), built=PromptParts(_hash(text), day, self.language, notes))

    def provide(self, session: Session) -> None:
        """Give the session a new system message, unless it has one that can be made again to the letter."""
        self.read_again(session)
        if not session.system:
            session.add(self.new())

    def read_again(self, session: Session) -> None:
        """Put the text into the last system message of a session that was loaded from its note, if it can be made again
        to the letter."""
        for at, record in reversed(list(enumerate(session.records))):
            match record.event:
                case Spoken(message=System(text=""), built=PromptParts() as built):
                    session.put_text(at, self._again(built))
                    return
                case Spoken(message=System()):
                    return

    def _again(self, built: PromptParts) -> str:
        """The message made of these parts; empty if it is not the same to the letter."""
        language = next((each for each in LANGUAGES if each == built.language), None)
        found = read_pinned(self.vault, built.notes)
        notes: Mapping[str, bytes] = {path: data for (path, _), data in found.items()}
        if language is None or len(notes) < len(built.notes):
            return ""
        try:
            text = self._text(lambda name: notes.get(self.vault.home.at(name)), built.day, language)
        except UserError:
            return ""
        return text if _hash(text) == built.sha256 else ""

    def _text(self, read: VaultReader, day: date, language: Language) -> str:
        return self.vault.masked(system_part(read, day, language, folder=self.vault.home.path))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
