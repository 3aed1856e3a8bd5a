"""From paths that may have changed to events: reads each file, compares it with what is known, finds the moves.

A file that is gone is given a moment to come back or to turn up elsewhere: most editors take the old one away before
they put the new one in its place. Which paths are worth a look, and when, is the watcher's business.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.clock import Clock
from agent.errors import AgentError
from agent.events.types import Origin
from agent.markdown.note import Note
from agent.watch.classify import ContentChange, VaultEvent, classify
from agent.watch.ignore import is_ignored, is_note
from agent.watch.outage import Outage
from agent.watch.recent import Recent
from agent.watch.scan import read_file, stat_file
from agent.watch.snapshot import FileStat, KnownFile, Snapshot

UNSEEN = FileStat(-1, -1, -1, -1)
"""The mark of a path of which nobody knows how it looked."""
MOST_HASHED = 1 << 20
"""Bytes. A larger file that is not a note is known by its look alone: nobody waits while a film is read."""

Due = tuple[str, FileStat | None]


def _nothing() -> Iterable[str]:
    return ()


def _never(path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Facts:
    """What the watcher asks of the vault, as functions, since it does not know it. Paths are relative to the vault.

    `hash`: the content hash. `origins`: for each path and hash, whose doing it is that the path has this content (None:
    that it has none); asked when the contents have been read.
    `earlier`: versions by path and hash, in one call for many; None for one that is not to be had. `head_moved`:
    paths that differ since it was last asked, because HEAD points elsewhere. `ignored`: files and folders to leave out
    beyond `is_ignored`.
    """

    hash: Callable[[bytes], str]
    origins: Callable[[Sequence[tuple[str, str | None]]], Sequence[Origin]]
    earlier: Callable[[Sequence[tuple[str, str]]], Sequence[bytes | None]]
    head_moved: Callable[[], Iterable[str]] = _nothing
    ignored: Callable[[str], bool] = _never

    def leaves_out(self, path: str) -> bool:
        """Whether a path, or a folder that it is in, is not to be looked at."""
        parts = path.split("/")
        below = ("/".join(parts[: depth + 1]) for depth in range(len(parts)))
        return is_ignored(path) or any(map(self.ignored, below))


@dataclass(slots=True)
class Comparison:
    """What is known of the files of one vault, and what has gone missing. `absence` is in seconds.

    `again` collects the paths that have to be looked at once more, for the watcher to take; `unread` those that could
    not be read, `fresh` notes that were read and are not told yet. `git` is how it goes with what the vault is asked:
    without an answer an edit is told uncompared.
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

    def settle(self, due: Iterable[Due], now: float) -> list[ContentChange]:
        """Compare these paths with what is known, and take the result as known from now on.

        Each path comes with how it looked before (`UNSEEN`: not known); one that looks different now is still being
        written and goes to `again`.
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
        return [*self._gone(now), *found.values()]

    def pass_over(self, path: str, stat: FileStat) -> None:
        """Know a file that is not a note as it looks now, without reading it; its next change is told."""
        self.snapshot.put(path, KnownFile("", stat))

    def next_due(self) -> float | None:
        """When the next missing file is given up; None when none is missing."""
        return min(self.missing.values(), default=None) if self.missing else None

    def _compare(self, path: str, mark: FileStat | None, now: float, ids: dict[str, str]) -> ContentChange | None:
        try:
            known = self._read(path)
        except BlockingIOError:
            self.again.append(path)
            return None
        except OSError:
            self.unread.add(path)  # not readable is not gone; the next scan has it again
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
        self.snapshot.record(path, hash, stat, self._now())
        if seen is not None and seen.hash == hash:
            return None
        if data is not None and is_note(path) and self.fresh.size + len(data) <= self.fresh.limit:
            self.fresh.put(path, hash, data)  # those that are told first are kept
        return ContentChange(path, seen.hash if seen else None, hash)

    def _read(self, path: str) -> tuple[str, bytes | None, FileStat] | None:
        """The content's hash, the bytes unless it is too large to look into, and its look; None for no file.

        A file that is left out counts as none: it may have been known from a time when it was not.
        """
        if self.facts.leaves_out(path):
            return None
        if not is_note(path):
            stat = stat_file(self.root, path)
            if stat is not None and stat.size > MOST_HASHED:
                return f"look:{stat.size}:{stat.modified}", None, stat
        found = read_file(self.root, path)
        return None if found is None else (self.facts.hash(found[0]), *found)

    def _moves(self, created: dict[str, str], ids: dict[str, str]) -> dict[str, str]:
        """New notes that were elsewhere before: the same content first, then the same id."""
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
        """The ids in the headers of notes that are gone, as far as their last version is to be had."""
        unknown = [(path, hash) for path, hash in gone.items() if path not in self._ids]
        for (path, _), data in zip(unknown, self._earlier(unknown), strict=True):
            self._ids[path] = (Note.parse(data).id or "") if data is not None else ""
        return {path: self._ids[path] for path in gone}

    def _gone(self, now: float) -> list[ContentChange]:
        """The files that have been missing long enough."""
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
        """The events for some of what `settle` found; a file that has changed again meanwhile is told as it is now."""
        edited = [each for each in differences if is_note(each.path) and each.before and each.before != each.after]
        asked = [(each.source or each.path, each.before or "") for each in edited if each.after is not None]
        old = dict(zip(asked, self._earlier(asked), strict=True))
        found = [
            (told, old.get((told.source or told.path, told.before or "")), new)
            for each in differences
            for told, new in self._now_at(each)
        ]
        origins = self.facts.origins([(told.path, told.after) for told, _, _ in found])
        return [classify(told, before, new, origin) for (told, before, new), origin in zip(found, origins, strict=True)]

    def _now_at(self, difference: ContentChange) -> Iterator[tuple[ContentChange, bytes | None]]:
        """What to tell of a difference, with the note's bytes; nothing when the note went away meanwhile."""
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
        """The bytes to tell of: what `settle` read, else the file as it is now; None when it is gone."""
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
        self.snapshot.record(path, difference.after or "", stat, self._now())
        return data, difference

    def _untell(self, difference: ContentChange) -> None:
        """The file went away again before it was told: know what was known before, and look again."""
        self._forget(difference.path)
        source = difference.source or difference.path
        if difference.before is not None:
            self.snapshot.put(source, KnownFile(difference.before, None))
        self.again.extend({source, difference.path})

    def _earlier(self, asked: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Older versions, the recent ones from memory; what has another hash than asked for is not the version."""
        kept = [self.recent.get(path, hash) for path, hash in asked]
        rest = [pair for pair, data in zip(asked, kept, strict=True) if data is None]
        fetched = iter(self._ask(rest) if rest else ())
        result = [data if data is not None else next(fetched, None) for data in kept]
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

    def _now(self) -> int:
        return int(self.clock.now().timestamp() * 1e9)


def pair_by(new: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """Each new path with the old one it came from, by equal non-empty marks (content hashes, or ids).

    Where several have the same mark, those of the same file name go together first, then in order of path.
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
