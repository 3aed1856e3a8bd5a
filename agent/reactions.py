"""What follows from what: the one table of event types and what we do about each.

The index is brought up to date by the batch in which changes arrive, before anybody is told: an event is cheap, a
commit to an index is not.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.errors import AgentError, Retryable
from agent.events.bus import Bus
from agent.events.types import FileChanged, IndexUpdated, NoteCreated, NoteDeleted, NoteEdited, NoteMoved
from agent.index.update import IndexReport
from agent.vault.store import Vault
from agent.vault.write.change import Outcome
from agent.watch.classify import VaultEvent

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Reactions:
    """Keeps the index and the history in step with the notes. `problem` says in one line what does not work now.

    `refresh` brings the whole index up to date, `touch` the given paths (content hash, None: gone); `is_broken` says
    whether the index must be built anew; `let_go` closes its files, which the next update opens again; `recorded` hears
    of the commit of changes by hand, and of its files.
    """

    vault: Vault
    refresh: Callable[[], IndexReport]
    touch: Callable[[dict[str, str | None]], IndexReport]
    is_broken: Callable[[], bool]
    bus: Bus
    let_go: Callable[[], None] = lambda: None
    recorded: Callable[[str, Sequence[str]], None] = lambda commit, paths: None
    problem: dict[str, str] = field(default_factory=dict)
    settled: bool = True
    """Whether all that is left of a person's edits is in files that another program keeps open."""

    def to_changes(self, events: Sequence[VaultEvent]) -> None:
        """Index a batch of changes, then tell everybody."""
        changed: dict[str, str | None] = {}
        for event in events:
            match event:
                case NoteCreated(path=path, hash=digest) | NoteEdited(path=path, hash=digest):
                    changed[path] = digest
                case NoteMoved(path=path, source=source, hash=digest):
                    changed |= {source: None, path: digest}
                case NoteDeleted(path=path):
                    changed[path] = None
                case FileChanged():
                    pass
        if changed:
            self._index(changed)
        for event in events:
            self.bus.publish_async(event)

    def to_quiet(self) -> bool:
        """Record what people did by hand, if their burst is over; whether to try again soon."""
        try:
            if self.vault.writer.options.human_commits:
                outcome = self.vault.commit_human(quiet=True)
            else:
                self.vault.settle()
                outcome = Outcome()
        except Retryable as error:
            logger.info("not committed yet: %s", error.message)
            return True
        except Exception as error:  # the next burst, or the next look at all files, tries again
            logger.debug("what failed:", exc_info=True)
            self._trouble("commit", error)
            return False
        self.problem.pop("commit", None)
        if outcome.human:
            self.recorded(outcome.human, outcome.paths)
        waits = outcome.fresh or outcome.queued is not None or self.vault.writer.queue.count() > 0
        self.settled = not waits
        return waits or bool(outcome.open)

    def to_crash(self) -> None:
        """Finish what a crash left; what cannot be finished now is tried again with the next write."""
        try:
            self.vault.settle()
        except AgentError as error:
            logger.warning("not settled yet: %s", error.message)

    def to_start(self) -> IndexReport | None:
        """Bring the index up to what the notes say now."""
        return self._guard(self.refresh)

    def _index(self, changed: dict[str, str | None]) -> None:
        report = self._guard(lambda: self.touch(changed))
        if report is not None:
            self.bus.publish_async(IndexUpdated(report.indexed, report.forgotten, len(report.failed)))

    def _guard(self, work: Callable[[], IndexReport]) -> IndexReport | None:
        """Do the index's work; a failure is remembered and shown, and the next full look mends it."""
        try:
            report = work()
        except Exception as error:  # a daemon that has ended mends nothing
            logger.debug("what failed:", exc_info=True)
            self._trouble("index", error)
            return None
        self.problem.pop("index", None)
        return report

    def _trouble(self, where: str, error: Exception) -> None:
        what = str(error) or type(error).__name__
        if self.problem.get(where) != what:
            logger.warning("%s: %s", where, what)
        self.problem[where] = what
