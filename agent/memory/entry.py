"""A memory entry as a note: its header, body and path.

The expiry of entries: their own `expires`, or else days by type and scope since they were last said.

The day of what happened: the same words said of two days tell of two things.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import PurePosixPath

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.understanding.statements import is_event
from agent.texts import in_all_languages
from agent.vault.folders import ENTRIES

_SLUG_CHARACTERS = 48
_LABEL = re.compile(r"\A(?:(?:User|Assistant|Task): |(?:用户|助手|任务)：)")
"""The labels at the beginning of a conversation or task; left out of the file name."""
_PLACES = ("chat_id", "session_id", "sender_id", "thread_id")
_LISTS = ("evidence", "untrusted")
_LINKS = ("supersedes", "superseded_by")


MODEL = "model"
"""The source of entries that a model concluded: they rank lower, and are not evidence of what a person said."""
SAVED = "memory_save"
"""The source of entries that a model has worded for the person."""
ANSWER = "question"
"""The source of entries with an answer of the person's, and below it, in brackets, what the agent had asked."""
QUOTE = "quote"
"""The slot with the person's words on which a fact rests that a model has put into a sentence of its own."""
RESERVED = frozenset(
    ("id", "type", "created", "scope", "channel", "source", "keywords", "slots", "said", "expires", "tags", "aliases")
) | {*_PLACES, *_LISTS, *_LINKS, "contradicts"}  # fmt: skip
"""The keys of an entry's header that are not slots."""


class EntryType(StrEnum):
    """The kind of an entry: decides when it expires (`expiry`) and whose words it counts as
    (`upkeep.longterm`)."""

    FACT = "fact"
    """One thing that a person stated, in their words."""
    CHAT_TURN = "chat_turn"
    """What was said in a turn, after labels; of these words, the person's count as theirs."""
    AUTO_CAPTURE = "auto_capture"
    """What a run was asked for and came to, in the agent's words."""
    WORKFLOW_TRACE = "workflow_trace"
    """Written by earlier versions; expires at once. What skills learn from is read from the sessions."""
    USER_EXPLICIT = "user_explicit"
    """What the person asked to remember: their words, and never expires."""
    AUTO_FLUSH = "auto_flush"
    """What a compaction would lose; without keywords, or with `user_instruction`, it counts as the person's words."""
    RESEARCH = "research"
    REFLECTION = "reflection"

    @property
    def is_stated(self) -> bool:
        """True for a single statement, of whatever origin."""
        return self in {EntryType.FACT, EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}


class Scope(StrEnum):
    """The owner of an entry: the person, or one chat."""

    USER = "user"
    CHAT = "chat"


def with_question(answer: str, question: str) -> str:
    """The text of an entry with an answer to a question."""
    return f"{answer}\n\n({question})"


def words_of_answer(entry_text: str) -> str:
    """The person's words in such a text."""
    return entry_text.rpartition("\n\n(")[0] or entry_text


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory.

    `id` is a ULID; `created` has a UTC offset; `source` is the way it was added, such as `import`, or `MODEL` for what
    a model concluded. `restated` is the time at which it was last said again. `slots` are further named values, each a
    key of the header; `supersedes` is the entry that this one replaces, as a link or an id, and `superseded_by` the one
    that replaces it; `evidence` are links to its sources; `untrusted`
    names the sources of text that its person did not write. Empty fields do not appear in the note.
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
    superseded_by: str = ""
    restated: datetime | None = None
    evidence: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()

    @property
    def last_stated(self) -> datetime:
        """The time at which it was last said."""
        return self.restated or self.created

    @property
    def link(self) -> str:
        """A link that stays valid when the note is moved to the archive."""
        return f"[[{PurePosixPath(self.path).stem}]]"

    @property
    def path(self) -> str:
        """The path in the agent's folder: `entries/YYYY/MM/`, the day, the first words and the end of the id."""
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
        header["source"] = self.source
        if self.keywords:
            header["keywords"] = list(self.keywords)
        header |= {key: _plain(value) for key, value in self.slots.items() if key not in RESERVED}
        if self.restated:
            header["said"] = self.restated.replace(microsecond=0)
        if self.expires:
            header["expires"] = self.expires.replace(microsecond=0)
        header |= {key: value for key in _LINKS if (value := getattr(self, key))}
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
    repeated, expires, scope = note.header.get("said"), note.header.get("expires"), note.string("scope")
    chat_id, session_id, sender_id, thread_id = (note.string(key) or "" for key in _PLACES)
    evidence, untrusted = (note.strings(key) for key in _LISTS)
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
        slots_in(note),
        expires if isinstance(expires, datetime) else None,
        note.string("supersedes") or "",
        note.string("superseded_by") or "",
        repeated if isinstance(repeated, datetime) else None,
        evidence,
        untrusted,
    )


def slots_in(note: Note) -> dict[str, str]:
    """The named values in an entry's header: its own keys, and those below `slots`, as older entries have them."""
    nested = note.header.get("slots")
    older = {str(key): str(value) for key, value in nested.items()} if isinstance(nested, Mapping) else {}
    own = {
        key: str(value) for key, value in note.header.items() if key not in RESERVED and isinstance(value, str | int)
    }
    return older | own


def _plain(value: str) -> Value:
    """The value as a header shows it: a whole number without quotes."""
    return int(value) if re.fullmatch(r"0|[1-9][0-9]{0,8}", value) else value


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


_BEFORE = re.compile(
    r"\n(?:" + "|".join(re.escape(each).replace(r"\{text\}", "(.+)") for each in in_all_languages("memory_fact.before"))
    + r")\s*\Z"
)  # fmt: skip


def before_in(entry_text: str) -> str:
    """The statement that an entry's text says it corrects; empty if it names none."""
    found = _BEFORE.search(entry_text)
    return next(filter(None, found.groups()), "") if found else ""


def without_before(entry_text: str) -> str:
    """The text of an entry without the statement that it corrects."""
    return _BEFORE.sub("", entry_text)


def with_offset(when: datetime) -> datetime:
    """The time with an offset; UTC for a time that a person typed without one."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def expiry(entry: Entry, settings: MemorySettings) -> datetime | None:
    """The time at which the entry expires; None for never."""
    if entry.expires is not None:
        return entry.expires if entry.expires.tzinfo else entry.expires.replace(tzinfo=entry.created.tzinfo)
    days = lifetime(entry.type, entry.scope, settings)
    return None if days is None else entry.last_stated + timedelta(days=days)


def lifetime(kind: EntryType, scope: Scope, settings: MemorySettings) -> int | None:
    """Days for which an entry of this type and scope is recalled; None for always."""
    match kind:
        case EntryType.FACT:
            return settings.fact_days
        case EntryType.CHAT_TURN:
            return settings.chat_turn_user_days if scope is Scope.USER else settings.chat_turn_chat_days
        case EntryType.AUTO_CAPTURE | EntryType.AUTO_FLUSH:
            return settings.auto_capture_days
        case EntryType.WORKFLOW_TRACE:
            return 0
        case EntryType.USER_EXPLICIT | EntryType.RESEARCH | EntryType.REFLECTION:
            return None


def event_day(entry: Entry) -> str:
    """The day (ISO) on which an entry tells what happened then; empty for an entry that tells anything else."""
    return entry.created.date().isoformat() if entry.type.is_stated and is_event(entry.text) else ""
