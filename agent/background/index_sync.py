"""Keeps the search index in step with the notes: with each batch of changes, and by comparing everything now and then.

An update costs one commit to the index, whatever its size; a burst is taken in whole, after its last change, or what
there is of it every half minute. An update that fails is remembered in `problem` and tried again soon; nothing is lost
by it, as the whole comparison finds what is missing.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field

from agent.background.failures import log_failure
from agent.background.part import PACE
from agent.clock import Clock
from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.events.types import (
    FileChanged,
    FilesChanged,
    IndexUpdated,
    NoteCreated,
    NoteDeleted,
    NoteEdited,
    NoteMoved,
    TurnEnded,
)
from agent.index.files import WrittenElsewhere
from agent.index.update import IndexReport
from agent.index.words_met import MOST, forget_words_met
from agent.markdown.changes import NoteChange
from agent.vault.listing import VaultListing
from agent.watch.classify import GIT_RULES
from agent.workspace.index_status import may_have_type
from agent.workspace.process_memory import trim_memory
from agent.workspace.search_index import SearchIndex

RETRY = 10.0
"""Seconds until the index is tried again after an update of it has failed."""
MANY = 100
"""Changes that make a burst large: the index follows at its end, by a process that first loads for .4 s, and then gives
memory back."""
RUSH = 10.0
"""Seconds in which they come: at a hundred a second, as programs that sync folders write, few are in one turn."""
LATEST = 30.0
"""Seconds after which the index takes in what a burst that goes on has changed so far."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class IndexSync:
    """The index of one vault. `tell` publishes what it has taken in; work on it happens inside `cut_short`. `listed` is
    told of all notes whenever they are compared with the index: `scan_seconds` after a change, or `still_seconds` after
    the last time, if that is more."""

    index: SearchIndex
    clock: Clock
    scan_seconds: float
    tell: Callable[[object], object]
    cut_short: Callable[[], AbstractContextManager[None]]
    listed: Callable[[VaultListing], object]
    problem: str = ""
    still_seconds: float = 0.0
    doubtful: frozenset[str] | None = None
    """The notes of which it is not known what they contained when all were compared last; None: it is of none."""
    _compare_at: float = field(default=0.0, init=False)
    _follows: bool = field(default=False, init=False)
    """True while another machine writes the index that they share; that one may stop at any moment."""
    _large_from: float | None = field(default=None, init=False)
    """Since when there is a large burst of which nothing was taken in; None: there is none."""
    _rush: float = field(default=0.0, init=False)
    _rush_at: float = field(default=0.0, init=False)
    _unindexed: dict[str, str | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.index.on_listing = self._listed

    def start(self, _: object) -> None:
        """Bring the index up to what the notes say."""
        self._compare()

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Take in one batch of changes; those of a large burst at its end."""
        self._compare_at = min(self._compare_at, event.now + self.scan_seconds)
        hashes: dict[str, str | None] = {}
        for each in (*event.events, *event.private):
            match each:
                case NoteCreated(path=path, hash=digest) | NoteEdited(path=path, hash=digest):
                    hashes[path] = digest
                case NoteMoved(path=path, source=source, hash=digest):
                    hashes |= {source: None, path: digest}
                case NoteDeleted(path=path):
                    hashes[path] = None
                case FileChanged(path=path) if path == VAULT_FILE or path.rpartition("/")[2] == GIT_RULES:
                    self._compare_at = event.now
        self._unindexed |= hashes
        if not self._is_rush(len(event.events) + len(event.private), event.now):
            self._take_in()
        elif self._large_from is None:
            self._large_from = event.now  # the rest of the burst comes first: others wait for its events

    def turn(self, now: float) -> float:
        """Compare the whole index with the notes: at once when it is broken or other files are ignored or private,
        soon after a failed update, and as often as the watcher looks at all files, since some of what decides is no
        file of the vault."""
        if self.problem:
            self._compare_at = min(self._compare_at, now + RETRY)
        elif self.index.is_broken():
            self._compare_at = now
        if now >= self._compare_at:
            self._compare()
        return PACE

    def turn_ended(self, event: TurnEnded) -> None:
        """Compare the whole index soon when a look has failed: changes may have been missed. After a large burst, take
        it in, then close the index's files and give memory back; the next update opens them again."""
        if event.failures:
            self._compare_at = min(self._compare_at, self.clock.monotonic() + RETRY)
        if self._large_from is None:
            return
        if not event.waiting:
            self._large_from = None
            self._take_in()
            self.index.release_files()
            trim_memory()
        elif self.clock.monotonic() >= self._large_from + LATEST:
            self._take_in()
            self._large_from = self.clock.monotonic()

    def _is_rush(self, changes: int, now: float) -> bool:
        """Count some changes; True if there are `MANY` in about `RUSH` seconds."""
        passed, self._rush_at = now - self._rush_at, now
        self._rush = max(0.0, self._rush - passed * MANY / RUSH) + changes
        return self._rush >= MANY

    def _take_in(self) -> None:
        """Update the index for the changes that it does not have yet."""
        hashes, self._unindexed = self._unindexed, {}
        report = self._guarded(lambda: self.index.touch(hashes)) if hashes else None
        forget_words_met(MOST)
        if report is not None:
            self.tell(IndexUpdated(report.indexed, report.forgotten, len(report.failed)))

    def may_have_type(self, type_asked: str) -> frozenset[str] | None:
        """The notes that may have a type, but for those that `changed` has yet to name; None if that is not known."""
        return None if self.problem or self.doubtful is None else may_have_type(self.index.files, type_asked)

    def _listed(self, listing: VaultListing) -> None:
        self.doubtful = listing.doubtful
        self.listed(listing)

    def _compare(self) -> None:
        self._unindexed, self.doubtful = {}, None
        report = self._guarded(self.index.refresh)
        if report is None:
            self.doubtful = None
        now = self.clock.monotonic()
        if self._large_from is None and report is not None and report.indexed >= MANY:
            self._large_from = now
        trim_memory()
        self._compare_at = now + (RETRY if self._follows else max(self.scan_seconds, self.still_seconds))

    def _guarded(self, work: Callable[[], IndexReport]) -> IndexReport | None:
        """The report of an update; None when it has failed, and `problem` says why then."""
        self._follows = False
        try:
            with self.cut_short():
                report = work()
        except WrittenElsewhere:
            self._follows, self.problem = True, ""
            return None
        except Exception as error:  # a daemon that has ended mends nothing
            logger.debug("index:", exc_info=True)
            self.problem = log_failure(logger, "index", error, self.problem)
            return None
        self.problem = ""
        return report
