"""The data that upkeep needs of each entry beside its text, and a cache of it: only changed entries are read.

The cache is one file outside the vault. It has no text and no path, only fingerprints of them; it can be deleted at any
moment, and a missing or damaged one is made anew. An entry whose file has not changed since is not read again. Whether
its text came from a stranger is asked each time, as the person may have answered since.
"""

import json
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from agent.config import private
from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory.entry import Entry, EntryType, Scope, lifetime, parse_entry, with_offset
from agent.memory.store import StoredEntry, session_days
from agent.memory.understanding.rules import same_words
from agent.memory.upkeep.longterm import stated_by_rule
from agent.vault.layout import OUTLINES
from agent.vault.store import Vault

_VERSION = "entries-known 4"
_LONGEST = 200
_RECENT = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was read may change again without another time."""

_TYPES, _SCOPES = {str(each): each for each in EntryType}, {str(each): each for each in Scope}

_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class EntryOutline:
    """An entry without its text: times in seconds since 1970, `day` and `stated_on` as ISO dates, in its own time zone.

    `kind` is equal for entries that may be merged, `words` for those that say the same by rule. `stated_on` are its
    conversations' days, `times` how often it was said. `facts` are fingerprints of what it states by rule (None: not
    looked for, as it was old), `lasts` is True if one of them lasts. `is_marked`: its header says that others wrote it;
    `marks` and `blob` tell whether its text has arrived from a stranger.
    """

    id: str
    created: float
    day: str
    type: EntryType
    scope: Scope
    last_stated: float
    expires: float | None
    kind: str
    words: str
    is_replaced: bool
    stated_on: tuple[str, ...]
    times: int
    facts: tuple[str, ...] | None
    lasts: bool
    is_marked: bool
    marks: tuple[int, ...]
    blob: str

    def is_over(self, settings: MemorySettings, now: datetime) -> bool:
        """True if the entry has expired."""
        until = self.expires
        if until is None:
            days = lifetime(self.type, self.scope, settings)
            until = None if days is None else self.last_stated + timedelta(days=days).total_seconds()
        return until is not None and until <= now.timestamp()

    def times_since(self, since: datetime) -> int:
        """How often it was said since then, as for a stored entry."""
        if self.created >= with_offset(since).timestamp():
            return self.times
        return sum(day >= since.date().isoformat() for day in self.stated_on)


@dataclass(frozen=True, slots=True)
class _Row:
    """The outline of a file: when it was read, what was found (None: no entry), and both as a line of the cache."""

    stamp: _Stamp
    outline: EntryOutline | None
    line: bytes


@dataclass(frozen=True, slots=True)
class Outlined:
    """An entry's outline with its path."""

    path: str
    outline: EntryOutline
    untrusted: bool

    @property
    def link(self) -> str:
        """A link that stays valid when the note is moved to the archive."""
        return f"[[{self.path.rpartition('/')[2].removesuffix('.md')}]]"


def current(entries: Collection[Outlined], since: datetime) -> list[Outlined]:
    """The entries of which something was said since then, and that no later one replaces."""
    return [each for each in entries if not each.outline.is_replaced and each.outline.times_since(since)]


def telling(entries: Collection[Outlined], since: datetime, times: int) -> list[Outlined]:
    """The entries that may count for facts stated `times` times since then, or for lasting ones, by rule."""
    recent = current(entries, since)
    shared = Counter(fact for each in recent for fact in set(each.outline.facts or ()))

    def tells(outline: EntryOutline) -> bool:
        if outline.facts is None or outline.lasts:
            return True
        often = outline.times_since(since) >= times
        return any(often or shared[fact] > 1 for fact in outline.facts)

    return [each for each in recent if tells(each.outline)]


def load_outlines(vault: Vault, paths: Iterable[str], since: datetime) -> tuple[Outlined, ...]:
    """The outlines of the entries at these paths, newest first; with the facts of those that were said since then."""
    file = vault.private_folder / OUTLINES
    known, now, root = _load(file), _time_now(file), str(vault.place.root)
    is_new = False
    found: dict[str, EntryOutline] = {}
    rows: dict[str, _Row] = {}
    for path in paths:
        name, stamp = _fingerprint(path), _stamp(f"{root}/{path}")
        row = known.get(name)
        if row is None or stamp is None or row.stamp != stamp:
            is_new, data = True, vault.read(path)
            row = _row(name, stamp or (0, 0, 0, 0), None if data is None else _outline(vault, path, data, since))
        if stamp is not None and stamp[1] < now - _RECENT:
            rows[name] = row
        if row.outline is not None:
            found[path] = row.outline
    if is_new or len(rows) != len(known):
        with suppress(OSError):  # a full disk only makes the next upkeep slow
            _save(file, rows.values())
    texts = ((path, outline.marks, outline.blob) for path, outline in found.items())
    foreign = vault.provenance.strangers_among(texts)
    made = (Outlined(path, outline, outline.is_marked or path in foreign) for path, outline in found.items())
    return tuple(sorted(made, key=lambda each: (each.outline.created, each.outline.id), reverse=True))


def _outline(vault: Vault, path: str, data: bytes, since: datetime) -> EntryOutline | None:
    entry = parse_entry(data)
    if entry is None:
        return None
    each = StoredEntry(path, data, entry)
    facts, lasts = stated_by_rule(each) if each.times_since(since) else (None, False)
    return EntryOutline(
        entry.id,
        with_offset(entry.created).timestamp(),
        entry.created.date().isoformat(),
        entry.type,
        entry.scope,
        (entry.restated or entry.created).timestamp(),
        _expires(entry),
        _fingerprint(json.dumps([entry.type, entry.scope, entry.sender_id, entry.chat_id, entry.thread_id])),
        _words(entry.text),
        bool(entry.superseded_by),
        tuple(session_days(entry.evidence)),
        each.times,
        None if facts is None else tuple(dict.fromkeys(map(_words, facts))),
        lasts,
        b"untrusted" in data and bool(Note.parse(data).header.get("untrusted")),
        tuple(vault.provenance.marks_of(data)),
        vault.content_id(data),
    )


def _words(text: str) -> str:
    return _fingerprint(json.dumps(sorted(same_words(text))))


def _expires(entry: Entry) -> float | None:
    until = entry.expires
    if until is None:
        return None
    return (until if until.tzinfo else until.replace(tzinfo=entry.created.tzinfo)).timestamp()


def _fingerprint(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _stamp(path: str) -> _Stamp | None:
    """The stamp of a file, another one after each change: its times, size and inode; None if there is no plain file."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _time_now(file: Path) -> int:
    """The time of the file system, in nanoseconds; 0, from which nothing is known, if it cannot be asked."""
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        private.touch(beside)
        return beside.stat().st_ctime_ns
    except OSError:
        return 0
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _load(file: Path) -> dict[str, _Row]:
    try:
        with file.open("rb") as opened:
            first, body = opened.readline(_LONGEST), opened.read()
        if first != _first_line(body):
            return {}
        lines = body.splitlines()
        parsed = json.loads(b"[" + b",".join(lines) + b"]")
        return {
            name: _Row(_four(stamp), _parse(row) if row else None, line)
            for (name, stamp, row), line in zip(parsed, lines, strict=True)
        }
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _save(file: Path, rows: Iterable[_Row]) -> None:
    body = b"".join(row.line + b"\n" for row in rows)
    private.replace_bytes(file, _first_line(body) + body)


def _row(name: str, stamp: _Stamp, outline: EntryOutline | None) -> _Row:
    fields = outline and [getattr(outline, each) for each in EntryOutline.__slots__]
    return _Row(stamp, outline, json.dumps((name, stamp, fields)).encode())


def _first_line(body: bytes) -> bytes:
    return f"{_VERSION} {zlib.crc32(body):08x}\n".encode()


def _four(stamp: Collection[int]) -> _Stamp:
    mtime, ctime, size, inode = stamp
    return mtime, ctime, size, inode


def _parse(row: list[Any]) -> EntryOutline:
    """The outline of a row; raises `ValueError`, `TypeError` or `KeyError` for another form."""
    stated_on, times, facts, lasts, is_marked, marks, blob = row[10:]
    id, created, day, kind_of_entry, scope, last_stated, expires, kind, words, is_replaced = row[:10]
    return EntryOutline(
        id,
        float(created),
        day,
        _TYPES[kind_of_entry],
        _SCOPES[scope],
        float(last_stated),
        None if expires is None else float(expires),
        kind,
        words,
        is_replaced,
        tuple(stated_on),
        int(times),
        None if facts is None else tuple(facts),
        lasts,
        is_marked,
        tuple(marks),
        blob,
    )
