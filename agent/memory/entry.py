"""A memory entry as a note: its header, its body, and the path it gets."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent.markdown.note import Note
from agent.markdown.values import Value

_SLUG_CHARACTERS = 48


class EntryType(StrEnum):
    """Where an entry came from."""

    USER_EXPLICIT = "user_explicit"


class Scope(StrEnum):
    """Whom an entry is about: the person, or one chat."""

    USER = "user"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory. `id` is a ULID; `created` carries its offset; `source` says through what it came in."""

    id: str
    created: datetime
    text: str
    type: EntryType = EntryType.USER_EXPLICIT
    scope: Scope = Scope.USER
    channel: str = "cli"
    source: str = "remember"
    keywords: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """`entries/YYYY/MM/`, the day, the first words, and the id's last characters."""
        words = slug(self.text)
        name = "-".join(part for part in (f"{self.created:%Y-%m-%d}", words, self.id[-6:].lower()) if part)
        return f"entries/{self.created:%Y/%m}/{name}.md"

    def note(self) -> bytes:
        """The entry as a note."""
        header: dict[str, Value] = {
            "id": self.id,
            "type": self.type.value,
            "created": self.created.replace(microsecond=0),
            "scope": self.scope.value,
            "channel": self.channel,
            "source": self.source,
            "keywords": list(self.keywords),
        }
        return Note.compose(header, self.text.strip("\n") + "\n").data


def slug(text: str) -> str:
    """The first words of a text as part of a file name: letters and digits of any script, joined by hyphens."""
    plain = unicodedata.normalize("NFC", text)
    words = re.findall(r"[^\W_]+", plain.splitlines()[0] if plain.strip() else "")
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer.encode()) > _SLUG_CHARACTERS * 2 or len(longer) > _SLUG_CHARACTERS:
            break
        name = longer
    return (name or "".join(words)[:16]).lower()
