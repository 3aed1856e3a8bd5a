"""Import of memories in an older layout: a flat folder with one note per memory, named by id.

The folder is only read. Files of other kinds are skipped and reported. An imported memory is recognised by its old id
and by its words, so an import can be repeated. Header keys without a field in `Entry` are stored in its slots.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.forgetting.tombstones import Tombstones, fingerprint, load_tombstones
from agent.memory.store import ARCHIVED, StoredEntry, load_entries
from agent.vault.change import Outcome, Stamp
from agent.vault.folders import ENTRIES
from agent.vault.secrets import find as secrets
from agent.vault.store import Vault

SLOT = "imported"
"""The slot with the memory's id, or its file name, in the older layout."""
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


class ImportResult(StrEnum):
    """The result of the import for one file."""

    TAKEN = "taken"
    KNOWN = "known"
    FORGOTTEN = "forgotten"
    SECRET = "secret"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One file of the folder: its name, its result and its entry."""

    name: str
    result: ImportResult
    entry: Entry | None = None


def load_folder(
    folder: Path, known: Iterable[StoredEntry], stones: Tombstones, clock: Clock
) -> tuple[ImportedFile, ...]:
    """The files directly in the folder, by name, with their results; `known` are the entries of the vault."""
    there = tuple(known)
    ids = {name for each in there if (name := each.entry.slots.get(SLOT))} | {each.entry.id for each in there}
    texts = {fingerprint(each.entry.text) for each in there}
    found: list[ImportedFile] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.is_file() or path.is_symlink():
            continue
        entry = _entry(path, clock)
        found.append(ImportedFile(path.name, _result(entry, ids, texts, stones), entry))
        if entry is not None:
            ids.add(entry.slots[SLOT])
            texts.add(fingerprint(entry.text))
    return tuple(found)


def _result(entry: Entry | None, ids: set[str], texts: set[str], stones: Tombstones) -> ImportResult:
    if entry is None:
        return ImportResult.UNKNOWN
    if entry.slots[SLOT] in ids or fingerprint(entry.text) in texts - {""}:
        return ImportResult.KNOWN
    if stones.is_forgotten(entry.text):
        return ImportResult.FORGOTTEN
    return ImportResult.SECRET if secrets(entry.text) else ImportResult.TAKEN


def _entry(path: Path, clock: Clock) -> Entry | None:
    """The memory in a file; None if the file is not a memory of an older layout."""
    if path.suffix.lower() != ".md" or path.stat().st_size > LARGEST:
        return None
    note = Note.parse(path.read_bytes())
    old = str(note.header.get("id") or note.header.get("key") or path.stem)
    named = any(pattern.fullmatch(name) for pattern in (_KSUID, _UUID, _ULID) for name in (path.stem, old))
    kind = _TYPES.get(_header_text(note.header, "type"))
    created = _created(note.header, old)
    if note.problem is not None or not note.body.strip() or not (named or (kind and created)):
        return None
    chat_id, session_id, sender_id, thread_id = (_header_text(note.header, key) for key in _PLACES)
    slots = {key: str(value) for key, value in _rest(note.header)}
    scope = _header_text(note.header, "scope")
    return Entry(
        clock.new_id(),
        created or datetime.fromtimestamp(path.stat().st_mtime, UTC),
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
        {**slots, SLOT: old},
    )


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
    said = header.get("created") or header.get("created_at")
    if isinstance(said, str):
        try:
            said = datetime.fromisoformat(said)
        except ValueError:
            said = None
    if isinstance(said, datetime):
        return said if said.tzinfo else said.replace(tzinfo=UTC)
    return _of_ksuid(identity) if _KSUID.fullmatch(identity) else None


def _of_ksuid(identity: str) -> datetime | None:
    """The time in a KSUID: seconds in the first four of its twenty bytes; None for an id out of range."""
    number = 0
    for character in identity:
        number = number * 62 + _DIGITS.index(character)
    if number >= 1 << 160:
        return None
    return datetime.fromtimestamp((number >> 128) + _KSUID_EPOCH, UTC)


def import_entries(vault: Vault, folder: Path, *, dry_run: bool) -> tuple[tuple[ImportedFile, ...], Outcome]:
    """Import the memories in a folder of an older layout as entries, in one commit."""
    known = load_entries(vault, (path for path in vault.note_paths() if vault.home.holds(path, ENTRIES, ARCHIVED)))
    found = load_folder(folder, known, load_tombstones(vault), vault.clock)
    entries = [each.entry for each in found if each.result is ImportResult.TAKEN and each.entry is not None]
    if dry_run or not entries:
        return found, Outcome()
    subject = f"memory(import): take in {len(entries)} memories of an older layout"
    with vault.transaction(subject, Stamp("agent", tool="import")) as transaction:
        for entry in entries:
            transaction.create(vault.home.at(entry.path), entry.note())
    return found, transaction.outcome
