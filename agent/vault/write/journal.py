"""The write-ahead journal: every planned change, flushed outside the vault before the first file is touched.

A record is opened before and closed after the transaction. `recover` finishes or rolls back a record that was never
closed. Closed records are kept for a while, as proof of the contents that this program wrote (`written`).
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

from agent.config.durable import flush_folder
from agent.config.private import FILE, clear_way, write
from agent.dataclass import dataclass
from agent.git.object_ids import blob_id
from agent.json_value import parse_json
from agent.platform.here import platform
from agent.vault.change import Change, Stamp, parse_stamp

Versions: TypeAlias = frozenset[tuple[str, str | None]]
"""Contents of notes, as path and blob id."""
KEEP_BYTES = 64 << 10
PERSON = "person"
"""The `collision` of a file that is only committed, as the person left it."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A change in the journal: contents as blob ids (None: no file)."""

    path: str
    before: str | None
    after: str | None
    temporary: str
    collision: str
    copy: str = ""
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One transaction: its commit message and trailers, and its changes; for files that arrived, the commit that they
    are from, HEAD's before, and whether this program made the new one (`Arrival`)."""

    token: str
    subject: str
    body: str
    stamp: Stamp
    changes: tuple[Planned, ...]
    arrived: str = ""
    seen: str = ""
    is_own: bool = False


@dataclass(slots=True)
class Journal:
    """The journal file of one vault; only the holder of the writer lock writes to it."""

    path: Path
    durable: bool = True
    _written: tuple[object, Versions, Versions, Versions] = (None, frozenset(), frozenset(), frozenset())

    def open(self, record: JournalRecord) -> None:
        """Record a transaction before it starts; durable when this returns."""
        self._write({"open": record.token, **asdict(record)}, flush=self.durable)

    def reached_ref(self, token: str, commit: str, *, is_own: bool = True) -> None:
        """Record that HEAD is about to move; after a crash this shows the stage, and the owner of locks on refs.

        A commit that this program did not make is not `is_own`.
        """
        self._write({"ref": token, "commit" if is_own else "arrived": commit}, flush=False)

    def close(self, token: str, commit: str | None) -> None:
        """Record that a transaction has ended."""
        self._write({"done": token, "commit": commit}, flush=False)
        if self.path.stat().st_size > KEEP_BYTES:
            self._shorten()

    def give_up(self, token: str) -> None:
        """Record that a transaction was reported as failed but is not rolled back yet."""
        self._write({"back": token}, flush=self.durable)

    def was_abandoned(self, token: str) -> bool:
        """True if a transaction was reported as failed."""
        return any(line.get("back") == token for line in self._lines())

    def unfinished(self) -> list[JournalRecord]:
        """The transactions that were opened and never closed, oldest first."""
        opened: dict[str, list[bytes]] = {}
        for raw in self._raw():
            kind, token = raw[2:6], raw[10:36].decode("ascii", "replace")
            if kind == b"open":
                opened.setdefault(token, []).append(raw)
            elif kind == b"done":
                opened.pop(token, None)
        return [record for raws in opened.values() if (record := _joined(raws))]

    def ref_was_reached(self, token: str) -> tuple[str, ...]:
        """The commits to which a transaction was about to move HEAD; empty if it did not get that far."""
        lines = [line for line in self._lines() if line.get("ref") == token]
        return tuple(str(line.get("commit") or line["arrived"]) for line in lines)

    def commits(self) -> frozenset[str]:
        """The commits of this program that the journal still lists."""
        return frozenset(str(line["commit"]) for line in self._lines() if line.get("commit"))

    def written(self) -> Versions:
        """The contents that this program wrote of itself; the file is read again only after a change."""
        self._look()
        return self._written[1]

    def taken_in(self) -> Versions:
        """The contents that it wrote because they, or a part of them, came from a remote."""
        self._look()
        return self._written[2]

    def typed(self) -> Versions:
        """The contents that it wrote as a person has typed them in a page (`Stamp.typed`)."""
        self._look()
        return self._written[3]

    def stamp_of(self, path: str, blob: str) -> Stamp | None:
        """The stamp of the last transaction that wrote this content of a note; None if it is not in the journal."""
        found: Stamp | None = None
        for line in self._lines():
            record = _record(line) if "open" in line else None
            if record is not None and any((each.path, each.after) == (path, blob) for each in record.changes):
                found = record.stamp
        return found

    def _look(self) -> None:
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._written[0]:
                return
            records = [record for line in self._lines() if "open" in line and (record := _record(line))]
        except OSError:
            self._written = None, frozenset(), frozenset(), frozenset()
            return
        ours, theirs, typed = (set[tuple[str, str | None]]() for _ in range(3))
        for record in records:
            changes = [change for change in record.changes if change.after and change.collision != PERSON]
            writer = theirs if record.arrived else typed if record.stamp.typed else ours
            writer.update((change.path, change.after) for change in changes)
        self._written = stamp, frozenset(ours - theirs - typed), frozenset(theirs), frozenset(typed - theirs)

    def _write(self, line: dict[str, object], *, flush: bool) -> None:
        clear_way(self.path)
        fresh = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE)
        with os.fdopen(descriptor, "a+b") as file:
            file.write(_gap(file) + json.dumps(line, ensure_ascii=True).encode() + b"\n")
            file.flush()
            if flush:
                platform().flush(file.fileno())
        if fresh and flush:
            flush_folder(self.path.parent)

    def _lines(self) -> Iterator[dict[str, object]]:
        """All complete lines; a line that a crash cut short is left out."""
        for raw in self._raw():
            line = _parse(raw)
            if line is not None:
                yield line

    def _raw(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")
        except (FileNotFoundError, IsADirectoryError):
            return []

    def drop(self, unwanted: Callable[[str], bool]) -> None:
        """Remove the records with an unwanted word in their subject, body or paths; none while one is unfinished."""
        if self.unfinished():
            return
        raws = self._raw()
        lines = [_parse(raw) for raw in raws]
        tokens = {line["open"] for line in lines if line and "open" in line and any(map(unwanted, _words(line)))}
        of_them = [line is not None and not tokens.isdisjoint(map(str, line.values())) for line in lines]
        left = [raw for raw, is_one in zip(raws, of_them, strict=True) if not is_one]
        if len(left) < len(raws):
            self._replace(b"\n".join(left))

    def _shorten(self) -> None:
        """Remove the older half of a journal in which every record is closed."""
        if self.unfinished():
            return
        content = self.path.read_bytes()
        cut = content.index(b"\n", len(content) // 2) + 1
        self._replace(content[cut:])

    def _replace(self, content: bytes) -> None:
        draft = self.path.with_suffix(".new")
        write(draft, content)
        draft.replace(self.path)


def _gap(file: BinaryIO) -> bytes:
    """A line end if a crash cut the last line short, so that the next one starts on a new line; else nothing."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def planned(changes: Sequence[Change], width: int) -> tuple[Planned, ...]:
    """The changes in the journal's form, contents as ids of `width` hex digits."""

    def name(data: bytes | None) -> str | None:
        return None if data is None else blob_id(data, width)

    return tuple(
        Planned(c.path, name(c.before), name(c.after), c.temporary, c.collision.value, c.copy, c.mode) for c in changes
    )


def _parse(raw: bytes) -> dict[str, object] | None:
    try:
        line = parse_json(raw)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _words(line: object) -> Iterator[str]:
    """The texts in a line of the journal, at any depth."""
    match line:
        case str():
            yield line
        case dict():
            yield from (text for value in line.values() for text in _words(value))
        case list():
            yield from (text for value in line for text in _words(value))


def _joined(raws: Sequence[bytes]) -> JournalRecord | None:
    """The record of one transaction, from all lines that opened it."""
    lines = [line for raw in raws if (line := _parse(raw)) is not None]
    records = [record for line in lines if (record := _record(line)) is not None]
    if not records:
        return None
    return replace(records[0], changes=tuple(change for record in records for change in record.changes))


def _record(line: dict[str, object]) -> JournalRecord | None:
    """The record on a line; None for a damaged line, which is treated like one that a crash cut short."""
    stamp, changes = line.get("stamp"), line.get("changes")
    if not isinstance(stamp, dict) or not isinstance(changes, list):
        return None
    try:
        planned_changes = tuple(Planned(**change) for change in changes)
        known = parse_stamp(stamp)
        return JournalRecord(
            str(line["token"]),
            str(line["subject"]),
            str(line["body"]),
            known,
            planned_changes,
            str(line.get("arrived", "")),
            str(line.get("seen", "")),
            line.get("is_own") is True,
        )
    except (KeyError, TypeError):
        return None
