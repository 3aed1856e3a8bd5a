"""Comparison of files with the snapshot: reads paths that may have changed, finds the moves, builds the events.

A missing file counts as deleted only after `absence` seconds: most editors remove the old file before they write the
new one. While a new note is seen and not read yet, or a scan is due, it waits a little longer: that may be the same
note. The watcher chooses the paths and the times.

Outages: consecutive failures of one operation, with an increasing pause before each retry.

git may fail, or a folder may be unreadable, for a moment or for ever; a watcher that retried on each poll would do
little else. The caller decides what to do during the pause.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from math import inf
from pathlib import Path

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import Origin
from agent.markdown.note import Note
from agent.watch.classify import ContentChange, VaultEvent, classify, is_ignored, is_note
from agent.watch.scan import read_file, stat_file
from agent.watch.snapshot import FileStat, KnownFile, Recent, Snapshot

FIRST = 1.0
LONGEST = 60.0


@dataclass(slots=True)
class Outage:
    """Consecutive failures of one operation. `problem` is one line, empty for none; `again_at` is the time to retry."""

    failures: int = 0
    problem: str = ""
    again_at: float = 0.0

    def may_ask(self, now: float) -> bool:
        """True if the pause is over; `now` is monotonic, in seconds."""
        return now >= self.again_at

    def failed(self, error: Exception, now: float) -> None:
        """Record a failure: pause twice as long as the last time, from one second to a minute."""
        pause = min(LONGEST, FIRST * 2 ** min(self.failures, 10))
        self.failures += 1
        problem = error.message if isinstance(error, AgentError) else f"{error}" or type(error).__name__
        self.problem = problem.splitlines()[0] if problem else type(error).__name__
        self.again_at = now + pause

    def worked(self) -> None:
        """Record a success and end the pause."""
        self.failures, self.problem, self.again_at = 0, "", 0.0


UNSEEN = FileStat(-1, -1, -1, -1)
"""The mark of a path whose earlier `FileStat` is not known."""
MOST_HASHED = 1 << 20
"""Bytes. A larger file that is not a note is compared by size and time only: reading a film would take too long."""

PATIENCE = 3.0
"""Seconds for which a deletion waits, beyond the absence, while a new note may be unread or unseen yet."""
_AGAIN = 0.1

Due = tuple[str, FileStat | None]


def _nothing() -> Iterable[str]:
    return ()


def _never(path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Facts:
    """The vault's functions for the watcher, so that it does not import the vault. Paths are relative to the vault.

    `hash`: the content hash. `origins`: for each path and hash (None: deleted), the origin of this content; called
    after the contents have been read. `earlier`: versions by path and hash, many in one call; None for one that is not
    available. `head_moved`: paths that differ since the last call because HEAD has moved. `ignored`: True for files and
    folders to leave out in addition to `is_ignored`.
    """

    hash: Callable[[bytes], str]
    origins: Callable[[Sequence[tuple[str, str | None]]], Sequence[Origin]]
    earlier: Callable[[Sequence[tuple[str, str]]], Sequence[bytes | None]]
    head_moved: Callable[[], Iterable[str]] = _nothing
    ignored: Callable[[str], bool] = _never

    def leaves_out(self, path: str) -> bool:
        """True if a path, or a folder above it, is to be left out."""
        parts = path.split("/")
        below = ("/".join(parts[: depth + 1]) for depth in range(len(parts)))
        return is_ignored(path) or any(map(self.ignored, below))


@dataclass(slots=True)
class Comparison:
    """The known state of one vault's files, and the missing files. `absence` is in seconds.

    `again` collects the paths to check once more, for the watcher; `unread` the paths that could not be read; `fresh`
    the notes that were read and have no event yet. `git` is the outage state of `Facts`: while git fails, the event of
    an edit has no list of changes.
    """

    root: Path
    facts: Facts
    clock: Clock
    snapshot: Snapshot
    absence: float
    recent: Recent
    fresh: Recent
    again: list[str] = field(default_factory=list)
    missing: dict[str, float] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    git: Outage = field(default_factory=Outage)
    _ids: dict[str, str] = field(default_factory=dict)
    _settled: float = -inf

    def settle(
        self, due: Iterable[Due], now: float, waiting: Iterable[str] = (), *, is_scan_due: bool = False
    ) -> list[ContentChange]:
        """Compare these paths with the snapshot and update it; the result is the differences.

        Each path comes with its earlier `FileStat` (`UNSEEN`: not known); a path with another one now is still being
        written and goes to `again`. `waiting` are paths that are not due yet: while a new note is among them, or may be
        in a folder that is to be scanned (`is_scan_due`), a missing one may have become it.
        """
        found: dict[str, ContentChange] = {}
        ids: dict[str, str] = {}
        for path, mark in due:
            difference = self._compare(path, mark, now, ids)
            if difference is not None:
                found[path] = difference
        created = {path: each.after or "" for path, each in found.items() if each.before is None and is_note(path)}
        for path, source in self._moves(created, ids).items():
            seen = self.snapshot.get(source)
            found[path] = replace(found[path], before=seen.hash if seen else None, source=source)
            self._forget(source)
        self._settled = now
        unread = chain(waiting, self.again) if self.missing else ()
        may_turn_up = is_scan_due or any(is_note(path) and self.snapshot.get(path) is None for path in unread)
        return [*self._gone(now - (PATIENCE if may_turn_up else 0.0)), *found.values()]

    def pass_over(self, path: str, stat: FileStat) -> None:
        """Record a file that is not a note by its `FileStat`, without reading it; only later changes give an event."""
        self.snapshot.put(path, KnownFile("", stat))

    def next_due(self) -> float | None:
        """The time at which the next missing file counts as deleted; None when none is missing."""
        return max(min(self.missing.values()), self._settled + _AGAIN) if self.missing else None

    def _compare(self, path: str, mark: FileStat | None, now: float, ids: dict[str, str]) -> ContentChange | None:
        try:
            known = self._read(path)
        except BlockingIOError:
            self.again.append(path)
            return None
        except OSError:
            self.unread.add(path)  # an unreadable file is not deleted; the next scan checks it again
            return None
        self.unread.discard(path)
        seen = self.snapshot.get(path)
        if known is None:
            if seen is not None:
                self.missing.setdefault(path, now + self.absence)
            return None
        self.missing.pop(path, None)
        hash, data, stat = known
        if mark not in (UNSEEN, stat):
            self.again.append(path)
            return None
        if seen is None and data is not None and is_note(path):
            ids[path] = Note.parse(data).id or ""
        self.snapshot.record(path, hash, stat, self.now_ns())
        if seen is not None and seen.hash == hash:
            return None
        if data is not None and is_note(path) and self.fresh.size + len(data) <= self.fresh.limit:
            self.fresh.put(path, hash, data)  # when full, later notes are left out: the first ones are needed first
        return ContentChange(path, seen.hash if seen else None, hash)

    def _read(self, path: str) -> tuple[str, bytes | None, FileStat] | None:
        """The content's hash, the bytes (None if they were not read) and the `FileStat`; None for no file.

        A file with the `FileStat` of the snapshot is not read, nor a large one that is not a note. An ignored file
        counts as no file: it may be in the snapshot from a time when it was not ignored.
        """
        if self.facts.leaves_out(path):
            return None
        seen = self.snapshot.get(path)
        is_other = not is_note(path)
        if is_other or (seen is not None and seen.stat is not None):
            stat = stat_file(self.root, path)
            if stat is not None and seen is not None and seen.stat == stat:
                return seen.hash, None, stat
            if stat is not None and is_other and stat.size > MOST_HASHED:
                return f"look:{stat.size}:{stat.modified}", None, stat
        found = read_file(self.root, path)
        return None if found is None else (self.facts.hash(found[0]), *found)

    def _moves(self, created: dict[str, str], ids: dict[str, str]) -> dict[str, str]:
        """The old path of each moved note, by new path: matched by equal content first, then by equal id."""
        gone = {path: seen.hash for path in self.missing if is_note(path) and (seen := self.snapshot.get(path))}
        if not created or not gone:
            return {}
        pairs = pair_by(created, gone)
        taken = set(pairs.values())
        new = {path: ids.get(path, "") for path in created if path not in pairs}
        if any(new.values()):
            pairs |= pair_by(new, self._ids_of({path: gone[path] for path in gone if path not in taken}))
        return pairs

    def _ids_of(self, gone: dict[str, str]) -> dict[str, str]:
        """The header ids of missing notes, by path; empty where the last version is not available."""
        unknown = [(path, hash) for path, hash in gone.items() if path not in self._ids]
        for (path, _), data in zip(unknown, self._earlier(unknown), strict=True):
            self._ids[path] = (Note.parse(data).id or "") if data is not None else ""
        return {path: self._ids[path] for path in gone}

    def _gone(self, now: float) -> list[ContentChange]:
        """The deletions: files missing for at least `absence` seconds."""
        over = [path for path, until in self.missing.items() if until <= now]
        found = []
        for path in over:
            seen = self.snapshot.get(path)
            try:
                there = None if self.facts.leaves_out(path) else stat_file(self.root, path)
            except OSError:
                there = UNSEEN
            if there is not None or seen is None:
                del self.missing[path]
                self.again.append(path)
                continue
            self._forget(path)
            found.append(ContentChange(path, seen.hash, None))
        return found

    def tell(self, differences: Sequence[ContentChange]) -> list[VaultEvent]:
        """The events for some differences from `settle`; a file that has changed again is read again."""
        edited = [each for each in differences if is_note(each.path) and each.before and each.before != each.after]
        asked = [(each.source or each.path, each.before or "") for each in edited if each.after is not None]
        old = dict(zip(asked, self._earlier(asked), strict=True))
        found = [
            (change, old.get((change.source or change.path, change.before or "")), new)
            for each in differences
            for change, new in self._now_at(each)
        ]
        origins = self.facts.origins([(change.path, change.after) for change, _, _ in found])
        return [
            classify(change, before, new, origin) for (change, before, new), origin in zip(found, origins, strict=True)
        ]

    def _now_at(self, difference: ContentChange) -> Iterator[tuple[ContentChange, bytes | None]]:
        """The current difference with the note's bytes; nothing when the note has been deleted since."""
        path = difference.path
        if difference.after is None:
            self.recent.drop(path)
        elif is_note(path):
            if difference.source:
                self.recent.drop(difference.source)
            version = self._version(difference)
            if version is None:
                self._untell(difference)
                return
            new, difference = version
            self.recent.put(path, difference.after or "", new)
            yield difference, new
            return
        yield difference, None

    def _version(self, difference: ContentChange) -> tuple[bytes, ContentChange] | None:
        """The note's bytes and the difference: as `settle` read it, else the current file; None when it is gone."""
        path = difference.path
        data = self.fresh.get(path, difference.after or "")
        self.fresh.drop(path)
        if data is not None:
            return data, difference
        try:
            found = read_file(self.root, path)
        except OSError:
            return None
        if found is None:
            return None
        data, stat = found
        difference = replace(difference, after=self.facts.hash(data))
        self.snapshot.record(path, difference.after or "", stat, self.now_ns())
        return data, difference

    def _untell(self, difference: ContentChange) -> None:
        """Restore the snapshot for a file that was deleted before its event, and check it again."""
        self._forget(difference.path)
        source = difference.source or difference.path
        if difference.before is not None:
            self.snapshot.put(source, KnownFile(difference.before, None))
        self.again.extend({source, difference.path})

    def _earlier(self, asked: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Older versions, recent ones from memory; None for a version that is not available or has another hash."""
        recent = [self.recent.get(path, hash) for path, hash in asked]
        rest = [pair for pair, data in zip(asked, recent, strict=True) if data is None]
        fetched = iter(self._ask(rest) if rest else ())
        result = [data if data is not None else next(fetched, None) for data in recent]
        return [
            data if data is not None and self.facts.hash(data) == hash else None
            for (_, hash), data in zip(asked, result, strict=True)
        ]

    def _ask(self, asked: Sequence[tuple[str, str]]) -> Sequence[bytes | None]:
        now = self.clock.monotonic()
        if not self.git.may_ask(now):
            return ()
        try:
            found = self.facts.earlier(asked)
        except (AgentError, OSError) as error:
            self.git.failed(error, now)
            return ()
        self.git.worked()
        return found

    def _forget(self, path: str) -> None:
        self.snapshot.forget(path)
        self.missing.pop(path, None)
        self._ids.pop(path, None)

    def now_ns(self) -> int:
        """The wall clock, in nanoseconds."""
        return int(self.clock.now().timestamp() * 1e9)


def pair_by(new: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """The old path of each moved file, by new path; matched by equal non-empty marks (content hashes, or ids).

    Among equal marks, paths with the same file name are paired first, the rest in order of path.
    """
    pairs: dict[str, str] = {}
    _pair(new, gone, pairs, lambda path, mark: (mark, path.rpartition("/")[2]))
    _pair(new, gone, pairs, lambda path, mark: (mark, ""))
    return pairs


def _pair(
    new: Mapping[str, str],
    gone: Mapping[str, str],
    pairs: dict[str, str],
    key: Callable[[str, str], tuple[str, str]],
) -> None:
    taken = set(pairs.values())
    sources: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, mark in sorted(gone.items(), reverse=True):
        if mark and path not in taken:
            sources[key(path, mark)].append(path)
    for path, mark in sorted(new.items()):
        if path not in pairs and (fitting := sources.get(key(path, mark))):
            pairs[path] = fitting.pop()
