"""Memories of an older layout of this program: a flat folder with one note per memory, named by id.

Header keys without a field in `Entry` are stored in its slots.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from agent.importers.export import Export, ExportFile
from agent.importers.values import ImportedFact, Item, LeftItem, LeftReason
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.entry import Entry, EntryType, Scope

LARGEST = 1 << 20
"""Bytes: a larger file is not a memory."""

_KSUID = re.compile(r"[0-9A-Za-z]{27}")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}", re.IGNORECASE)
_KSUID_EPOCH = 1_400_000_000
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TYPES = {
    "chat_turn": EntryType.CHAT_TURN,
    "conversation": EntryType.CHAT_TURN,
    "auto_capture": EntryType.AUTO_CAPTURE,
    "workflow_trace": EntryType.WORKFLOW_TRACE,
    "auto_flush": EntryType.AUTO_FLUSH,
    "context_compact": EntryType.AUTO_FLUSH,
    "research": EntryType.RESEARCH,
    "reflection": EntryType.REFLECTION,
    "user_explicit": EntryType.USER_EXPLICIT,
    "manual": EntryType.USER_EXPLICIT,
}
_KNOWN = {"id", "key", "created", "created_at", "type", "scope", "channel", "source", "keywords", "tags", "slots"}
_PLACES = ("chat_id", "session_id", "sender_id", "thread_id")


def fits(source: Export) -> bool:
    """True for a folder with at least one such memory at its top."""
    return any(isinstance(each, ImportedFact) for each in read(source))


def read(source: Export) -> Iterator[Item]:
    """The memories directly in the folder, known by their ids."""
    for name, file in source.files.items():
        if "/" in name:
            continue
        found = _memory(file)
        yield found if found is not None else LeftItem(name, LeftReason.UNKNOWN)


def _memory(file: ExportFile) -> ImportedFact | None:
    """The memory in a file; None if the file is not a memory of an older layout."""
    stem, _, ending = file.name.rpartition(".")
    if ending.lower() != "md" or file.size > LARGEST:
        return None
    note = Note.parse(file.read())
    old = str(note.header.get("id") or note.header.get("key") or stem)
    named = any(pattern.fullmatch(name) for pattern in (_KSUID, _UUID, _ULID) for name in (stem, old))
    kind = _TYPES.get(_header_text(note.header, "type"))
    created = _created(note.header, old)
    if note.problem is not None or not note.body.strip() or not (named or (kind and created)):
        return None
    chat_id, session_id, sender_id, thread_id = (_header_text(note.header, key) for key in _PLACES)
    scope = _header_text(note.header, "scope")
    entry = Entry(
        "",
        created or file.modified or datetime.fromtimestamp(0, UTC),
        note.body.strip("\n"),
        kind or _TYPES.get(_header_text(note.header, "source"), EntryType.USER_EXPLICIT),
        Scope(scope) if scope in set(Scope) else Scope.USER,
        _header_text(note.header, "channel") or "cli",
        _header_text(note.header, "source") or "import",
        note.strings("keywords") or note.strings("tags"),
        chat_id,
        session_id,
        sender_id,
        thread_id,
        {key: str(value) for key, value in _rest(note.header)},
    )
    return ImportedFact(old, entry)


def _header_text(header: Mapping[str, Value], key: str) -> str:
    """The string in the header, or in the header's slots; empty if it is in neither."""
    slots = header.get("slots")
    value = header.get(key, slots.get(key) if isinstance(slots, Mapping) else None)
    return value if isinstance(value, str) else ""


def _rest(header: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """The header values for which an entry has no field."""
    slots = header.get("slots")
    every = {**(slots if isinstance(slots, Mapping) else {}), **header}
    for key, value in every.items():
        if key not in _KNOWN and key not in _PLACES and isinstance(value, str | int | float) and value != "":
            yield str(key), value


def _created(header: Mapping[str, Value], identity: str) -> datetime | None:
    """The creation time of a memory, from its header or else from its id."""
    created = header.get("created") or header.get("created_at")
    if isinstance(created, str):
        try:
            created = datetime.fromisoformat(created)
        except ValueError:
            created = None
    if isinstance(created, datetime):
        return created if created.tzinfo else created.replace(tzinfo=UTC)
    return _of_ksuid(identity) if _KSUID.fullmatch(identity) else None


def _of_ksuid(identity: str) -> datetime | None:
    """The time in a KSUID: seconds in the first four of its twenty bytes; None for an id out of range."""
    number = 0
    for character in identity:
        number = number * 62 + _DIGITS.index(character)
    if number >= 1 << 160:
        return None
    return datetime.fromtimestamp((number >> 128) + _KSUID_EPOCH, UTC)
