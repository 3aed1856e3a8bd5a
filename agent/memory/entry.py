"""A memory entry as a note: its header, body and path."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.vault.folders import ENTRIES

_SLUG_CHARACTERS = 48
_LABEL = re.compile(r"\A(?:(?:User|Assistant|Task): |(?:用户|助手|任务)：)")
"""The labels at the beginning of a conversation or task; left out of the file name."""
_PLACES = ("chat_id", "session_id", "sender_id", "thread_id")
_LISTS = ("evidence", "contradicts", "untrusted")


class EntryType(StrEnum):
    """The kind of an entry: decides when it expires (`expiry`) and whose words it counts as
    (`upkeep.repeated_facts`)."""

    CHAT_TURN = "chat_turn"
    """What was said in a turn, after labels; of these words, the person's count as theirs."""
    AUTO_CAPTURE = "auto_capture"
    """What a run was asked for and came to, in the agent's words."""
    WORKFLOW_TRACE = "workflow_trace"
    """The tools of a run in their order; never merged, in the agent's words."""
    USER_EXPLICIT = "user_explicit"
    """What the person asked to remember: their words, and never expires."""
    AUTO_FLUSH = "auto_flush"
    """What a compaction would lose; without keywords, or with `user_instruction`, it counts as the person's words."""
    RESEARCH = "research"
    REFLECTION = "reflection"


class Scope(StrEnum):
    """The owner of an entry: the person, or one chat."""

    USER = "user"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory.

    `id` is a ULID; `created` has a UTC offset; `source` is the way it was added, such as `import`. `slots` are further
    named values; `supersedes` is the id of the entry that this one replaces; `evidence` are links to its sources,
    `contradicts` links to entries that contradict it; `untrusted` names the sources of text that its person did not
    write. Empty fields do not appear in the note.
    """

    id: str
    created: datetime
    text: str
    type: EntryType = EntryType.USER_EXPLICIT
    scope: Scope = Scope.USER
    channel: str = "cli"
    source: str = "remember"
    keywords: tuple[str, ...] = ()
    chat_id: str = ""
    session_id: str = ""
    sender_id: str = ""
    thread_id: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)
    expires: datetime | None = None
    supersedes: str = ""
    evidence: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path: `entries/YYYY/MM/`, then the day, the first words and the last characters of the id."""
        words = slug(_LABEL.sub("", self.text))
        name = "-".join(part for part in (f"{self.created:%Y-%m-%d}", words, self.id[-6:].lower()) if part)
        return f"{ENTRIES}{self.created:%Y/%m}/{name}.md"

    def note(self) -> bytes:
        """The bytes of the entry's note."""
        header: dict[str, Value] = {
            "id": self.id,
            "type": self.type.value,
            "created": self.created.replace(microsecond=0),
            "scope": self.scope.value,
            "channel": self.channel,
        }
        header |= {key: value for key in _PLACES if (value := getattr(self, key))}
        header |= {"source": self.source, "keywords": list(self.keywords)}
        if self.slots:
            header["slots"] = dict(self.slots)
        if self.expires:
            header["expires"] = self.expires.replace(microsecond=0)
        if self.supersedes:
            header["supersedes"] = self.supersedes
        for key in _LISTS:
            if value := getattr(self, key):
                header[key] = list(value)
        return Note.compose(header, self.text.strip("\n") + "\n").data


def parse_entry(data: bytes) -> Entry | None:
    """The entry in a note; None if the note is not an entry or lacks a required field."""
    note = Note.parse(data)
    created = note.header.get("created")
    if note.id is None or not isinstance(created, datetime) or note.type not in set(EntryType):
        return None
    slots, expires, scope = note.header.get("slots"), note.header.get("expires"), note.string("scope")
    chat_id, session_id, sender_id, thread_id = (note.string(key) or "" for key in _PLACES)
    return Entry(
        note.id,
        created,
        note.body.strip("\n"),
        EntryType(note.type),
        Scope(scope) if scope in set(Scope) else Scope.USER,
        note.string("channel") or "",
        note.string("source") or "",
        note.strings("keywords"),
        chat_id,
        session_id,
        sender_id,
        thread_id,
        {str(key): str(value) for key, value in slots.items()} if isinstance(slots, Mapping) else {},
        expires if isinstance(expires, datetime) else None,
        note.string("supersedes") or "",
        *(note.strings(key) for key in _LISTS),
    )


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
