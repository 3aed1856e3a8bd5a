"""Works on what people ask in their notes, for the daemon: each finished request once, and only what a hand has asked.

A note is looked at when a person has changed it here and it has lain still for a while. What came with a pull or a
checkout, and what we wrote ourselves, starts nothing. Runs go on in threads of their own; notes are written by the
daemon's. A request that comes back the same again and again is stopped, as some other program must be at it.
"""

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

from agent.app.arrivals import Arrivals, head_of
from agent.app.build import App
from agent.app.pending import ALL, Entry, PendingFile, pending_file
from agent.app.requests import FOLDER, asked_in
from agent.app.working import answer, is_open, is_over, work
from agent.errors import AgentError, NoteGone, Retryable
from agent.events.types import NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.loop.outcome import Ended, Outcome
from agent.markdown.changes import Change, TaskAdded, TaskMarked, TaskUnticked
from agent.markdown.requests import Request, key_of, may_ask, unreadable
from agent.vault.plumbing.objects import blob_id
from agent.watch.classify import VaultEvent

TOGETHER = 2
"""Runs at the same time, those that were taken up again included."""
PATIENCE = 4.0
"""Seconds that runs get to stop when the daemon does; they are taken up again by the next one."""
LATER = 15.0
"""Seconds until a run that waits for the person is looked at again: what told that it is over may have been missed."""
AGAIN = 10.0
"""Seconds until what could not be done now is tried again."""
LOST = 60.0
"""Seconds for which a note that is not where it was is waited for: a program may be about to put it back."""
CYCLES, WINDOW = 3, 600.0
"""The same request, answered so often within so many seconds, is not a person's."""
SESSIONS = "sessions/"
_ELSEWHERE = "gone on with elsewhere, see {}"
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Inbox:
    """The requests of one vault. `others` says how many runs go on elsewhere in this process; `held` gives a note's
    bytes by path and hash where they are in memory; `trouble` says by path what does not work."""

    app: App
    others: Callable[[], int] = lambda: 0
    held: Callable[[str, str], bytes | None] = lambda path, hash: None
    trouble: dict[str, str] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    _file: PendingFile = field(init=False)
    _arrivals: Arrivals | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _cycles: defaultdict[str, deque[tuple[float, str]]] = field(default_factory=lambda: defaultdict(deque))
    _stopped: dict[str, str] = field(default_factory=dict)
    _ticked: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self._file = pending_file(self.app.vault)

    @property
    def busy(self) -> int:
        """How many runs go on."""
        return sum(entry.is_running for entry in list(self.entries.values()))

    @property
    def problem(self) -> str:
        """What does not work, in one line; empty for nothing."""
        return "; ".join(f"{path}: {what}" for path, what in self.trouble.items())

    def begin(self) -> None:
        """Take up what the last daemon has left."""
        self._arrivals = Arrivals(self.app.vault, head_of(self.app.vault))
        for entry in self._file.load():
            data = self.app.vault.read(entry.path)
            if entry.request and entry.phase in ("running", "ended", "queued") and not is_open(self.app, entry):
                continue  # it was answered, and only that could not be noted any more
            if entry.phase == "still" and (
                data is None or blob_id(data) != entry.blob or not self._listens(entry.path)
            ):
                continue  # changed while nobody watched
            if entry.phase in ("waits", "interrupted") and is_over(self.app.vault, entry.session):
                entry.phase, entry.refusal = "ended", ("done", _ELSEWHERE.format(entry.session))
            elif entry.phase in ("running", "ended"):
                entry.phase, entry.refusal = "ended", ("failed", "the program was stopped in the middle of it")
            self.entries[entry.path] = entry

    def notice(self, events: Iterable[VaultEvent], now: float) -> None:
        """Something has happened to these notes."""
        for event in events:
            match event:
                case NoteMoved(path=path, source=source):
                    self._move(source, path)
                case NoteDeleted(path=path, origin=Origin.HUMAN):
                    self._drop(path)
                    continue
                case NoteEdited(path=path, origin=Origin.OWN) if path.startswith(SESSIONS):
                    self._look_after(path, now)
            match event:
                case (
                    NoteCreated(path=path, hash=digest, origin=Origin.HUMAN, changes=changes)
                    | NoteEdited(path=path, hash=digest, origin=Origin.HUMAN, changes=changes)
                    | NoteMoved(path=path, hash=digest, origin=Origin.HUMAN, changes=changes)
                ):
                    told = not isinstance(event, NoteEdited | NoteMoved) or event.compared
                    self._touch(path, digest, _keys(changes) if told else {ALL}, now)

    def take_in(self, ended: Ended) -> None:
        """A run that waited has come to an end; may be called from its thread."""
        for entry in list(self.entries.values()):
            if entry.phase == "waits" and entry.session == ended.session and ended.outcome is not Outcome.INTERRUPTED:
                entry.due, entry.ended, entry.phase = 0.0, ended, "ended"

    def step(self, now: float) -> None:
        """Begin what has lain still for long enough, write what is answered."""
        for entry in list(self.entries.values()):
            try:
                self._step(entry, now)
            except Retryable as error:
                entry.due = now + AGAIN
                logger.info("%s: not yet: %s", entry.path, error.message)
            except (AgentError, OSError) as error:
                self._give_up(entry, str(error))
        try:
            self._file.save(self.entries.values())
        except OSError as error:
            self.trouble["inbox"] = f"what is asked cannot be kept for the next start: {error}"

    def close(self) -> None:
        """Ask all runs to stop, wait for them, but not for long, and keep what was not answered."""
        self._stopping.set()
        threads = [entry.thread for entry in self.entries.values() if entry.thread is not None]
        for thread in threads:
            thread.join(PATIENCE / len(threads))
        for entry in list(self.entries.values()):
            if entry.phase == "ended":
                with suppress(AgentError, OSError):
                    self._write(entry, entry.due)
        self._file.save(self.entries.values())

    def _touch(self, path: str, digest: str, keys: set[str], now: float) -> None:
        entry = self.entries.get(path)
        if entry is None:
            if not self._listens(path) or not (path.startswith(f"{FOLDER}/") or self._may_ask(path, digest)):
                return
            entry = self.entries[path] = Entry(path, now)
        entry.due, entry.blob, entry.again = now + self.app.settings.inbox.quiet_seconds, digest, True
        entry.keys |= keys
        self.trouble.pop(path, None)

    def _listens(self, path: str) -> bool:
        """Whether notes in this place are answered unasked."""
        where = self.app.settings.inbox.answers
        return where == "vault" or (where == "inbox" and path.startswith(f"{FOLDER}/"))

    def _look_after(self, session: str, now: float) -> None:
        """A session has grown: the run in it that waited may have been taken up by hand."""
        for entry in self.entries.values():
            if entry.phase == "waits" and entry.session == session:
                entry.due = now + AGAIN

    def _may_ask(self, path: str, digest: str) -> bool:
        try:
            data = self.held(path, digest) or self.app.vault.read(path)
        except (AgentError, OSError) as error:
            logger.info("%s cannot be read: %s", path, error)
            return False
        return data is not None and may_ask(data)

    def _move(self, source: str, path: str) -> None:
        entry = self.entries.pop(source, None)
        if entry is not None:
            entry.path = path
            self.entries[path] = entry
        for known in (self._stopped, self.trouble):
            if source in known:
                known[path] = known.pop(source)
        if source in self._cycles:
            self._cycles[path] = self._cycles.pop(source)
        if source in self._ticked:
            self._ticked[path] = self._ticked.pop(source)

    def _drop(self, path: str) -> None:
        entry = self.entries.pop(path, None)
        if entry is not None:
            entry.cancelled.set()
        self.trouble.pop(path, None)

    def _step(self, entry: Entry, now: float) -> None:
        if now < entry.due and entry.phase == "still":
            return
        match entry.phase:
            case "still":
                self._consider(entry, now)
            case "interrupted" if not entry.is_running:
                self._start(entry, now)
            case "ended" if not entry.is_running:
                self._write(entry, now)
            case "waits" if now >= entry.due and not self.others():
                entry.due = now + LATER
                if is_over(self.app.vault, entry.session):
                    entry.due = inf
                    entry.phase, entry.refusal = "ended", ("done", _ELSEWHERE.format(entry.session))
            case "queued" if not self.app.vault.writer.queue.count():
                self._finish(entry)

    def _consider(self, entry: Entry, now: float) -> None:
        """Start the first request of the note, if there is one that the person has made."""
        data = self.app.vault.read(entry.path)
        if data is None:
            self._wait_for_it(entry, now)
            return
        entry.missing = None
        if self.app.vault.writer.waiting_reason():
            entry.due = now + AGAIN  # in the middle of a merge nobody knows yet whose words these are
            return
        if self._arrivals is not None and self._arrivals.has(entry.path, blob_id(data)):
            logger.info("%s came from elsewhere, and asks nothing until somebody changes it here", entry.path)
            del self.entries[entry.path]
            return
        request = next((each for each in asked_in(self.app, entry.path) if self._is_meant(each, entry)), None)
        if request is None or self._stopped.get(entry.path) == request.key:
            del self.entries[entry.path]
            if entry.path.startswith(f"{FOLDER}/") and (cannot := unreadable(data)):
                self.trouble[entry.path] = cannot
            return
        self._stopped.pop(entry.path, None)
        entry.request = request
        if self._goes_round(entry.path, request.key, now):
            self._stopped[entry.path] = request.key
            entry.phase = "ended"
            entry.refusal = ("stopped", f"asked and answered {CYCLES} times in {WINDOW / 60:.0f} minutes")
            return
        self._start(entry, now)

    def _is_meant(self, request: Request, entry: Entry) -> bool:
        """Whether the person has made this request: a whole note they changed, or a task they wrote or unticked; one
        that we have ticked before was unticked, even if nobody saw both."""
        touched = entry.keys | self._ticked[entry.path] if entry.path in self._ticked else entry.keys
        return not request.line or request.key in touched or ALL in touched

    def _goes_round(self, path: str, key: str, now: float) -> bool:
        cycles = self._cycles[path]
        while cycles and cycles[0][0] <= now - WINDOW:
            cycles.popleft()
        return sum(each == key for _, each in cycles) >= CYCLES

    def _start(self, entry: Entry, now: float) -> None:
        if self.busy + self.others() >= TOGETHER:
            return
        if entry.phase == "still":
            entry.session = ""
        entry.phase, entry.again, entry.ended, entry.refusal = "running", False, None, None
        self._file.save(self.entries.values())
        entry.thread = threading.Thread(
            target=work, args=(self.app, entry, self._stopping), name="vault-agent-note", daemon=True
        )
        entry.thread.start()

    def _write(self, entry: Entry, now: float) -> None:
        """Put what the run came to into the note; what is asked in it besides is looked at then."""
        ended = entry.ended
        if ended is not None:
            entry.session = ended.session
            if ended.outcome is Outcome.INTERRUPTED and self._stopping.is_set():
                entry.phase = "interrupted"
                return
        if now < entry.due and entry.missing is not None:
            return
        try:
            placed = answer(self.app, entry)
        except NoteGone:
            self._wait_for_it(entry, now)
            return
        entry.missing = None
        if entry.request is not None and (ended or entry.refusal):
            self._cycles[entry.path].append((now, entry.request.key))
            entry.keys.discard(entry.request.key)
            if entry.request.line and placed is not None:
                self._ticked[entry.path].add(entry.request.key)
        if entry.refusal is not None and entry.refusal[0] != "done":
            self.trouble[entry.path] = f"{entry.refusal[0]}: {entry.refusal[1]}"
        if placed is not None and placed.queued:
            entry.phase = "queued"
        elif ended is not None and ended.outcome.waits:
            entry.due, entry.phase, entry.ended = now + LATER, "waits", None
        else:
            self._finish(entry)

    def _finish(self, entry: Entry) -> None:
        """Go on with what the person has asked meanwhile, or be done with the note."""
        if entry.again or entry.keys:
            entry.phase, entry.request, entry.ended, entry.refusal = "still", None, None, None
            entry.due = 0.0 if entry.due == inf else entry.due
        else:
            self.entries.pop(entry.path, None)

    def _wait_for_it(self, entry: Entry, now: float) -> None:
        """The note is not there: it may turn up under another name, and counts as gone when it does not."""
        entry.missing = now if entry.missing is None else entry.missing
        entry.due = now + 1.0
        if now - entry.missing >= LOST:
            if entry.ended is not None:
                logger.warning("%s is gone; its answer is in %s", entry.path, entry.ended.session)
            self._drop(entry.path)

    def _give_up(self, entry: Entry, what: str) -> None:
        where = f"; the answer is in {entry.ended.session}" if entry.ended else ""
        logger.warning("%s: %s%s", entry.path, what, where)
        self._drop(entry.path)
        self.trouble[entry.path] = f"{what}{where}"


def _keys(changes: Iterable[Change]) -> set[str]:
    touched = (each for each in changes if isinstance(each, TaskAdded | TaskUnticked | TaskMarked))
    return {key_of(each.text) for each in touched if "@agent" in each.text.lower()}
