"""Hints from watchdog: a bounded set of paths that may have changed, and of folders to scan.

Events may be late, duplicated or lost, so they are only hints. After too many events, or any warning from watchdog, the
set becomes "everything" and a full scan is needed. watchdog's threads add hints; the watcher takes them.
"""

import logging
import os
import threading
import warnings
from pathlib import Path
from typing import Protocol

from agent.dataclass import dataclass
from agent.watch.classify import is_ignored

MOST_PATHS = 4096
MOST_FOLDERS = 16
MOST_EVENTS = 8192
"""Half of the kernel's default queue (16,384): a full scan is requested before the kernel drops events."""

logger = logging.getLogger(__name__)


class WatchdogEvent(Protocol):
    """The attributes used of a watchdog event."""

    @property
    def event_type(self) -> str: ...
    @property
    def is_directory(self) -> bool: ...
    @property
    def src_path(self) -> bytes | str: ...
    @property
    def dest_path(self) -> bytes | str: ...


@dataclass(frozen=True, slots=True)
class HintBatch:
    """The hints since the last `take`. `everything` is the reason for a full scan, empty for none; `head`: HEAD may
    have moved."""

    paths: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    everything: str = ""
    head: bool = False

    @property
    def is_any(self) -> bool:
        return self.head or bool(self.everything or self.paths or self.folders)


class Hints:
    """A bounded set of hints; other threads may add to it."""

    def __init__(self, root: Path) -> None:
        self._start = os.path.join(os.path.realpath(root), "")  # noqa: PTH118  # compared with event paths as text
        self._lock = threading.Lock()
        self._arrived = threading.Event()
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._everything, self._head, self._events = "", False, 0

    def dispatch(self, event: WatchdogEvent) -> None:
        """Add the hints of a watchdog event; called on watchdog's thread."""
        changes_folder = event.is_directory and event.event_type in {"created", "deleted", "moved"}
        if event.is_directory and not changes_folder:
            return
        for raw in (event.src_path, event.dest_path):
            if raw:
                self.put(os.fsdecode(raw), folder=event.is_directory)

    def put(self, absolute: str, *, folder: bool = False) -> None:
        """Add a hint for this absolute path."""
        path = absolute.removeprefix(self._start) if absolute.startswith(self._start) else ""
        head = path.startswith(".git/") and (path.endswith("HEAD") or path.startswith(".git/refs/heads/"))
        with self._lock:
            self._events += 1
            if self._events > MOST_EVENTS:
                self._overflow("too many events")
            elif head:
                self._head = True
            elif not path or is_ignored(path):
                return
            elif not self._everything:
                (self._folders if folder else self._paths).add(path)
                if len(self._paths) > MOST_PATHS or len(self._folders) > MOST_FOLDERS:
                    self._overflow("too many changes at once")
        self._arrived.set()

    def overflow(self, reason: str) -> None:
        """Request a full scan, because events were lost."""
        with self._lock:
            self._overflow(reason)
        self._arrived.set()

    def _overflow(self, reason: str) -> None:
        self._everything = self._everything or reason
        self._paths, self._folders = set(), set()

    def take(self) -> HintBatch:
        """Remove and return the hints. Later hints are in the next `take`."""
        if not self._arrived.is_set():
            return _NOTHING
        with self._lock:
            self._arrived.clear()
            taken = HintBatch(frozenset(self._paths), frozenset(self._folders), self._everything, self._head)
            self._paths, self._folders = set(), set()
            self._everything, self._head = "", False
            if taken.everything:
                self._events = 0
        return taken

    def scanned(self) -> None:
        """Reset the event count at the start of a full scan, which finds all earlier changes."""
        with self._lock:
            self._events = 0

    def wait(self, seconds: float | None) -> bool:
        """Wait for hints, at most `seconds`; True if there are any."""
        return self._arrived.wait(seconds)


_NOTHING = HintBatch()


class Subscription:
    """A running watchdog observer of one vault; fills `hints` until `close`. Raises `OSError` if the system refuses."""

    def __init__(self, root: Path, hints: Hints) -> None:
        from watchdog import events
        from watchdog.observers import Observer

        kinds: list[type[events.FileSystemEvent]] = [
            *(events.FileCreatedEvent, events.FileModifiedEvent, events.FileClosedEvent, events.FileDeletedEvent),
            *(events.FileMovedEvent, events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent),
        ]

        class Handler(events.FileSystemEventHandler):
            def dispatch(self, event: events.FileSystemEvent) -> None:
                hints.dispatch(event)

        # harmless: a folder created, deleted and created again at once is still watched
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._complaints = _Complaints(hints)
        self._complaints.listen()
        try:
            self._observer = Observer()
        except OSError:
            self._complaints.stop()
            raise
        try:
            self._observer.daemon = True
            self._observer.schedule(Handler(), os.path.realpath(root), recursive=True, event_filter=kinds)
            self._observer.start()
        except OSError:
            self.close()
            raise

    def alive(self) -> bool:
        """True if watchdog's threads are running."""
        return self._observer.is_alive() and all(emitter.is_alive() for emitter in self._observer.emitters)

    def close(self) -> None:
        """Stop watching."""
        self._complaints.stop()
        self._observer.stop()
        if self._observer.ident is not None:
            self._observer.join(5)


class _Complaints(logging.Handler):
    """A log handler: watchdog reports events that the kernel dropped only in its log, at any configured log level."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(logging.WARNING)
        self._hints = hints
        self._log = logging.getLogger("watchdog")

    def listen(self) -> None:
        self._log.addHandler(self)
        self._log.setLevel(logging.WARNING)
        self._log.propagate = False

    def stop(self) -> None:
        self._log.removeHandler(self)
        self._log.setLevel(logging.NOTSET)
        self._log.propagate = True

    def emit(self, record: logging.LogRecord) -> None:
        logger.info("watchdog: %s", record.getMessage())
        self._hints.overflow("the system dropped events")
