"""The watcher of one vault: `poll` returns the changes since the last poll.

Hints name the paths to check; a scan of the whole vault at the start and some minutes after a hint finds changes
without one: hints are lost where many come, as in a checkout. Without any, the next scan may be later (`Pace`). A path
is checked after it has been quiet for a moment. All work is done in `poll`, on the caller's thread; between polls the
watcher only collects hints. `compare` reads and compares the files.

Debounce: a path is due after a quiet time, and after a maximum time even if it is never quiet.

Pure: the caller passes the time and handles the due paths.
"""

import os
from collections import deque
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field
from itertools import islice
from math import inf
from pathlib import Path
from typing import Generic, Self, TypeVar

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import ScanFinished
from agent.watch.classify import GIT_RULES, ContentChange, VaultEvent, is_note
from agent.watch.compare import UNSEEN, Comparison, Facts
from agent.watch.hints import Hints, Subscription
from agent.watch.scan import FileScan, compare, scan
from agent.watch.snapshot import FileStat, Recent, Snapshot

Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class WaitingPath(Generic[Mark]):
    """A waiting path: the times of its first and last touch, and the mark of the last touch."""

    first: float
    last: float
    mark: Mark


@dataclass(slots=True)
class Debounce(Generic[Mark]):
    """Waiting paths, due `quiet` seconds after the last touch or `longest` after the first, whichever is earlier."""

    quiet: float
    longest: float
    waiting: dict[str, WaitingPath[Mark]] = field(default_factory=dict)
    _next: float | None = None

    def __len__(self) -> int:
        return len(self.waiting)

    def touch(self, path: str, now: float, mark: Mark) -> None:
        """Record an event at `path` and restart its quiet time."""
        known = self.waiting.get(path)
        fresh = WaitingPath(known.first if known else now, now, mark)
        self.waiting[path] = fresh
        due = self._due(fresh)
        self._next = due if self._next is None else min(self._next, due)

    def due(self, now: float) -> list[tuple[str, WaitingPath[Mark]]]:
        """Remove the due paths; the result is in the order of their first touch."""
        if self._next is None or now < self._next:
            return []
        ready = [(path, entry) for path, entry in self.waiting.items() if self._due(entry) <= now]
        for path, _ in ready:
            del self.waiting[path]
        self._next = min(map(self._due, self.waiting.values()), default=None)
        return sorted(ready, key=lambda item: item[1].first)

    def next_due(self) -> float | None:
        """The earliest time at which a path can be due; None when none waits."""
        return self._next

    def _due(self, entry: WaitingPath[Mark]) -> float:
        return min(entry.last + self.quiet, entry.first + self.longest)


_ALL = ""
_START = "start"


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of the watcher, in seconds, and its limits.

    `quiet`: time without a change before a file is checked (0.2: a save takes a few milliseconds, and a person waits
    for the search to find it). `longest`: after this time a file is checked in any case. `absence`: time after which a
    missing file counts as deleted. `scan`: between two scans (240: every change is found within five minutes). `still`:
    the same while no hint has come since the last one. `blind`: the same while the system gives no hints. `batch`: the
    maximum number of events per poll. `keep`: bytes of recent versions kept in memory, and the same again for versions
    that have no event yet.
    """

    quiet: float = 0.2
    longest: float = 2.0
    absence: float = 1.0
    scan: float = 240.0
    still: float = 240.0
    blind: float = 10.0
    batch: int = 500
    keep: int = 16 << 20


@dataclass(frozen=True, slots=True)
class WatcherState:
    """The state of a watcher. `problem`: one line on changes that are detected late or not at all; empty for none.

    `waiting`: the number of paths not compared yet. `failures`: the number of consecutive failures of git.
    """

    hints: bool
    problem: str
    files: int
    waiting: int
    failures: int
    last_scan: ScanFinished | None


@dataclass(frozen=True, slots=True)
class FirstLook:
    """All files as they were at `at` (monotonic, seconds), `at_ns` by the wall clock."""

    seen: FileScan
    at: float
    at_ns: int


@dataclass(slots=True)
class Watcher:
    """The watcher of the vault at `root`; created by `watch`, ended by `close`. Only one thread may poll."""

    root: Path
    facts: Facts
    pace: Pace
    hints: Hints
    comparison: Comparison
    paths: Debounce[FileStat | None]
    folders: Debounce[str]
    _subscription: Subscription | None = None
    _found: deque[ContentChange] = field(default_factory=deque)
    _next_scan: float | None = None
    _last_scan: ScanFinished | None = None
    _asked: bool = False
    _deaf: str = "the system has not been asked for hints yet"
    _unseen: str = ""
    _away: str = ""
    _ground: tuple[int, int] = (0, 0)
    _look: FirstLook | None = None

    @classmethod
    def watch(
        cls,
        root: Path,
        facts: Facts,
        clock: Clock,
        known: Mapping[str, str],
        pace: Pace | None = None,
        recent: Recent | None = None,
    ) -> Self:
        """A watcher that starts from `known` (content hash by path), the state that its caller has already handled.

        The first poll scans; differences from `known` become events like any other change. For files that are not
        notes, only changes after the first poll become events. `recent` is the cache of the bytes that are read.
        """
        pace = pace or Pace()
        recents = (recent or Recent(pace.keep), Recent(pace.keep))
        comparison = Comparison(root, facts, clock, Snapshot.of(known), pace.absence, *recents)
        quiet: Debounce[FileStat | None] = Debounce(pace.quiet, pace.longest)
        return cls(root, facts, pace, Hints(root), comparison, quiet, Debounce(pace.quiet, pace.longest))

    def listen(self) -> None:
        """Subscribe to the system's hints; call it before the first poll, so that no change is missed.

        If the system refuses, `state` has the reason, scans are more frequent, and each one tries again.
        """
        self._asked = True
        self._silence()
        try:
            self._subscription = Subscription(self.root, self.hints)
            self._deaf = ""
        except OSError as error:
            self._deaf = (
                f"the system gives no hints of changes ({error.strerror or error}): looking at all files instead"
            )

    def look(self, now: float) -> None:
        """Take the size and times of all files, before the caller asks what they contain; call `know` then.

        Between `listen` and the first poll, in place of its scan; `now` as in `poll`.
        """
        if self._is_there(now):
            at_ns = self.comparison.now_ns()
            self._look = FirstLook(scan(self.root, Snapshot({}), self.facts.ignored), now, at_ns)

    def know(self, known: Mapping[str, str], doubtful: Collection[str] | None) -> None:
        """Start from `known`, as in `watch`: contents that files had after `look`, but perhaps not the `doubtful` ones
        (None: all). A file that has looked the same since then is not read, others are with the first poll.

        Hints since `listen` name what has changed since the look; what no hint names is found by the next scan.
        """
        first, self._look = self._look, None
        if first is None or not first.seen.files or doubtful is None:
            self.comparison.snapshot = Snapshot.of(known)
            return
        looks = first.seen.suspects
        sure = {path: stat for path, stat in looks.items() if path not in doubtful} if doubtful else looks
        self.comparison.snapshot = Snapshot.of(known, sure, first.at_ns)
        self._take(compare(first.seen, self.comparison.snapshot), _ALL, _START, first.at)
        self._ask_head(first.at)
        self._next_scan = first.at + (self.pace.blind if self._deaf else self.pace.scan)

    def close(self) -> None:
        """Stop watching. Changes without an event yet are found at the next start."""
        self._asked = False
        self._silence()

    def poll(self, now: float) -> list[VaultEvent]:
        """The changes since the last poll, each once; `now` is monotonic, in seconds.

        At most `pace.batch` events; while there are more, `wait` returns at once. Empty while the vault is missing: an
        unplugged disk does not delete its files.
        """
        if not self._is_there(now):
            return []
        self._take_hints(now)
        if self.comparison.git.problem and self.comparison.git.may_ask(now):
            self._ask_head(now)
        self._scan_what_is_due(now)
        if not self._found:
            due = [(path, entry.mark) for path, entry in self.paths.due(now)]
            if due or self.comparison.missing:
                is_scan_due = len(self.folders) > 0
                self._found.extend(self.comparison.settle(due, now, self.paths.waiting, is_scan_due=is_scan_due))
        batch = list(islice(self._found, self.pace.batch))
        events = self.comparison.tell(batch) if batch else []
        for _ in batch:  # only now, so that an error above loses no event
            self._found.popleft()
        again, self.comparison.again = self.comparison.again, []
        for path in again:
            self.paths.touch(path, now, UNSEEN)
        return events

    def next_due(self) -> float | None:
        """The time at which the next poll has work, unless a hint comes before; None: now."""
        if self._away:
            return inf
        if self._found or self._next_scan is None:
            return None
        asked = self.comparison.git.again_at if self.comparison.git.problem else None
        others = (self.paths.next_due(), self.folders.next_due(), self.comparison.next_due(), asked)
        return min([self._next_scan, *(each for each in others if each is not None)])

    def wait(self, now: float, most: float) -> bool:
        """Wait until a poll has work, at most `most` seconds; True if a hint came."""
        due = self.next_due()
        return due is not None and self.hints.wait(max(0.0, min(most, due - now)))

    @property
    def is_away(self) -> bool:
        """True if the vault's folder could not be opened by the last poll."""
        return bool(self._away)

    def state(self) -> WatcherState:
        """The current state of the watcher."""
        unread = sorted(self.comparison.unread)
        cannot = f"cannot read {', '.join(unread[:3])}" + (f" and {len(unread) - 3} more" if unread[3:] else "")
        asked = f"git does not answer: {git.problem}" if (git := self.comparison.git).problem else ""
        seen = (self._deaf, self._unseen, cannot if unread else "", asked)
        problem = self._away or "; ".join(filter(None, seen))
        waiting = len(self.paths) + len(self._found) + len(self.comparison.missing)
        known = len(self.comparison.snapshot)
        return WatcherState(not self._deaf, problem, known, waiting, git.failures, self._last_scan)

    def _is_there(self, now: float) -> bool:
        """True if the vault's folder can be opened; requests a full scan when it is back or has been replaced."""
        try:
            descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError | NotADirectoryError)
            what = "is not there: is it mounted?" if gone else f"cannot be looked into: {error.strerror}"
            self._away = f"the vault at {self.root} {what}"
            self.hints.take()
            return False
        try:
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        before, self._ground = self._ground, (status.st_dev, status.st_ino)
        if self._away or before not in ((0, 0), self._ground):
            self._away = ""
            self.folders.touch(_ALL, now, "the vault is back")
            if self._asked:
                self.listen()
        return True

    def _take_hints(self, now: float) -> None:
        taken = self.hints.take()
        if taken.is_any and self._next_scan is not None:
            self._next_scan = min(self._next_scan, now + self.pace.scan)
        for path in taken.paths:
            if not self.facts.leaves_out(path):
                self.paths.touch(path, now, UNSEEN)
        for folder in taken.folders:
            self.folders.touch(folder, now, "a folder changed")
        if taken.everything:
            self.folders.touch(_ALL, now, taken.everything)
        if taken.head:
            self._ask_head(now)

    def _ask_head(self, now: float) -> None:
        """Check the paths that changed with HEAD; if git fails, request a full scan."""
        git = self.comparison.git
        if not git.may_ask(now):
            return
        try:
            moved = list(self.facts.head_moved())
        except (AgentError, OSError) as error:
            self.folders.touch(_ALL, now, "git does not say what has moved")
            git.failed(error, now)
            return
        git.worked()
        for path in moved:
            if path not in self.paths.waiting and not self.facts.leaves_out(path):
                self.paths.touch(path, now, UNSEEN)

    def _scan_what_is_due(self, now: float) -> None:
        wanted = {folder: entry.mark for folder, entry in self.folders.due(now)}
        if self._subscription is not None and not self._subscription.alive():
            self._deaf = "the system has stopped giving hints: looking at all files instead"
            self._silence()
            wanted[_ALL] = "hints have stopped"
        if self._next_scan is None or self._next_scan <= now:
            wanted[_ALL] = _START if self._next_scan is None else "time"
            if self._deaf and self._asked and self._next_scan is not None:
                self.listen()
        if _ALL in wanted:
            self.hints.scanned()
            self._scan(_ALL, wanted[_ALL], now)
            self._ask_head(now)
            self._plan_scan(now)
            return
        for folder, reason in wanted.items():
            self._scan(folder, reason, now)

    def _plan_scan(self, now: float) -> None:
        self._next_scan = now + (self.pace.blind if self._deaf else self.pace.still)

    def _scan(self, folder: str, reason: str, now: float) -> None:
        self._take(scan(self.root, self.comparison.snapshot, self.facts.ignored, folder), folder, reason, now)

    def _take(self, seen: FileScan, folder: str, reason: str, now: float) -> None:
        if folder == _ALL:
            self.comparison.unread.clear()
            self._last_scan = ScanFinished(reason, seen.files, len(seen.suspects))
            self._unseen = f"cannot look into {', '.join(seen.unread[:3])}" if seen.unread else ""
            if self._has_nothing(seen) and len(self.comparison.snapshot):
                self._unseen = f"nothing is left at {self.root}: is it mounted? Nothing is taken as deleted"
                return
        for path, stat in seen.suspects.items():
            if reason == _START and stat is not None and not is_note(path):
                self.comparison.pass_over(path, stat)
            elif path not in self.paths.waiting and path not in self.comparison.missing:
                self.paths.touch(path, now, stat)

    def _has_nothing(self, seen: FileScan) -> bool:
        """True if no file is left, but for one that `rm *` does not remove either."""
        return not seen.files or (seen.files == 1 and os.path.lexists(self.root / GIT_RULES))

    def _silence(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(OSError):
                subscription.close()
