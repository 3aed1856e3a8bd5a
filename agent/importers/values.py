"""What an export is made of, whichever program has written it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.markdown.yaml_write import Header
from agent.memory.entry import Entry, EntryType

ID = "import_id"
"""The header key with the id of what a note was imported from, as a digest: it also tells that what stood in it when it
was written is no request to the agent."""
LINK = "import:"
"""Begins the target of a link in a text to another item of the same export: then comes its key, percent-encoded."""
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_FRAMES = ("#", "---", "```", "|", "<!--", ">")
_MILLISECONDS = 1e11
"""From here on a number of a time counts milliseconds: as seconds it would be after the year 5000."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file beside the texts, such as a picture. `key` is its name in the export; `load` returns its bytes and raises
    as reading the source does; `size` is in bytes."""

    key: str
    name: str
    load: Callable[[], bytes]
    size: int


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """What one side has said in a conversation; `id` is the source's, unique in the conversation."""

    id: str
    is_person: bool
    text: str
    at: datetime | None = None
    files: tuple[ImportedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation, in its order. `address` is its page on the web, empty if it has none."""

    id: str
    title: str
    turns: tuple[ImportedTurn, ...]
    created: datetime | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note. `key` is its name in the export, by which others link to it; `folder` is the path below which it lay;
    `header` has what its own header said; `address` is the page that it was clipped from."""

    id: str
    title: str
    body: str
    created: datetime | None = None
    modified: datetime | None = None
    folder: str = ""
    key: str = ""
    tags: tuple[str, ...] = ()
    address: str = ""
    header: Header = field(default_factory=dict)
    files: tuple[ImportedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedFact:
    """One thing that another program remembers. The `entry` gets its id when it is written."""

    id: str
    entry: Entry


class LeftReason(StrEnum):
    """Why something of an export is left out."""

    UNKNOWN = "unknown"
    EMPTY = "empty"
    KNOWN = "known"
    FORGOTTEN = "forgotten"
    SECRET = "secret"
    LINK = "link"
    NAME = "name"
    KIND = "kind"
    SIZE = "size"
    BROKEN = "broken"
    STEERS = "steers"
    CHANGED = "changed"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class LeftItem:
    """Something of an export that is not imported."""

    name: str
    why: LeftReason


Item: TypeAlias = ImportedConversation | ImportedNote | ImportedFact | ImportedFile | LeftItem


def fact(id: str, text: str, created: datetime, keywords: tuple[str, ...] = ()) -> ImportedFact:
    """A fact in another program's words."""
    return ImportedFact(id, Entry("", created, text.strip(), EntryType.FACT, source="import", keywords=keywords))


def statements(text: str) -> Iterator[str]:
    """The statements in a text of another program's memory: its rows, without bullets, headings and frames."""
    for row in text.splitlines():
        words = _BULLET.sub("", row.strip())
        is_heading = words.startswith(_FRAMES) or (words.startswith("**") and words.endswith("**"))
        if len(words) > 2 and not is_heading:
            yield words


def moment(value: object) -> datetime | None:
    """The time that a value of JSON stands for: seconds or milliseconds since 1970, or ISO 8601; None for no time."""
    if isinstance(value, bool) or value in (None, ""):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        number = None
    try:
        if number is not None:
            return datetime.fromtimestamp(number / 1000 if abs(number) > _MILLISECONDS else number, UTC)
        found = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
