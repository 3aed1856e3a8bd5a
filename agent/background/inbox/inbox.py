"""Works on what people ask in their notes, for the daemon: each finished request once, and only what a hand has asked.

A note is looked at when a person has changed it here and it has lain still for a while. What came with a pull or a
checkout, and what we wrote ourselves, starts nothing. A request that was answered is not answered again while its words
are the same: an editor that saves an older version over the answer does not ask, and history has the answer. Runs are
work for the pool; notes are written in the daemon's turn. A request that comes back the same again and again is
stopped, as some other program must be at it.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial
from math import inf

from agent.background.inbox.answer_log import CYCLES, WINDOW, AnswerLog, LoggedAnswer
from agent.background.inbox.answering import WrittenAnswer, commit_record, say_unreadable
from agent.background.inbox.provenance import (
    asks_more,
    check_origin,
    drop_arrived,
    meant_requests,
    touched_by,
    why_nothing,
)
from agent.background.inbox.queue import PendingRequest, RequestQueue, request_queue
from agent.background.inbox.turns import held_turn, turn_name
from agent.background.inbox.worker import Worker, answer, is_open, is_over
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns, session_key
from agent.background.turns import TurnsToGiveBack
from agent.channel_names import IN_NOTES
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone, Retryable
from agent.events.types import FilesChanged, NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.llm.model_key import MissingModelKey
from agent.loop.outcome import Ended, RunOutcome
from agent.markdown.changes import NoteChange
from agent.markdown.requests import NoteRequest, is_answered, is_pending, may_ask
from agent.runs.left_requests import channel_of_left, channel_of_pulled, is_answered_by_daemon
from agent.runs.open_requests import asked_in, is_inbox, unanswered
from agent.texts import text
from agent.vault.folders import INBOX, SESSIONS
from agent.workspace.workspace import Workspace

LATER = 15.0
"""Seconds until a run that waits for the person is looked at again: what told that it is over may have been missed."""
AGAIN = 10.0
"""Seconds until what could not be done now is tried again."""
LOST = 60.0
"""Seconds for which a note that is not where it was is waited for: a program may be about to put it back."""
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Inbox:
    """The requests of one vault. `held` gives a note's bytes by path and hash where they are in memory; `missing_key`
    returns why no model can be asked, `wake` is told what begins; `trouble` says by path what does not work."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    turns: TurnsToGiveBack
    held: Callable[[str, str], bytes | None]
    missing_key: Callable[[], MissingModelKey | None]
    wake: Callable[[str], object] = lambda reason: None
    trouble: dict[str, str] = field(default_factory=dict)
    entries: dict[str, PendingRequest] = field(default_factory=dict)
    answers: AnswerLog = field(default_factory=AnswerLog)
    _file: RequestQueue = field(init=False)

    def __post_init__(self) -> None:
        self._file = request_queue(self.workspace.vault)

    @property
    def problem(self) -> str:
        """All trouble in one line; empty if there is none."""
        waits = {entry.path: entry.waits_for_turn for entry in list(self.entries.values()) if entry.waits_for_turn}
        return "; ".join(f"{path}: {what}" for path, what in {**self.trouble, **waits}.items())

    def _text(self, key: str, **values: object) -> str:
        return text(key, self.workspace.settings.vault.language, **values)

    def start(self, _: object) -> None:
        """Load the requests that the last daemon left, and decide how each goes on."""
        entries, self.answers.answers = self._file.load()
        for entry in entries:
            data = self.workspace.vault.read(entry.path)
            is_done = entry.phase in ("running", "unsure", "ended", "queued")
            if entry.request and is_done and not is_open(self.workspace, entry):
                continue  # it was answered, and only that could not be noted any more
            if entry.phase == "still" and (
                data is None or self.workspace.vault.content_id(data) != entry.blob or not self._listens(entry.path)
            ):
                continue  # changed while nobody watched
            entry.mixed = data is None or self.workspace.vault.content_id(data) != entry.blob
            if entry.phase in ("waits", "interrupted") and is_over(self.workspace.vault, entry.session):
                entry.phase, entry.refusal = "ended", ("done", self._text("inbox.elsewhere", session=entry.session))
            elif entry.phase in ("running", "unsure", "ended"):
                is_shared = held_turn(self.turns.claims, self.workspace.vault, entry.path) is not None
                entry.phase, entry.refusal = "unsure" if is_shared else "ended", ("failed", self._text("runs.stopped"))
            self.entries[entry.path] = entry
        for path, digest in unanswered(self.workspace):  # by programs, perhaps while no daemon was at work
            self._take_left(path, digest, self.workspace.clock.monotonic())

    def turns_going_on(self) -> set[str]:
        """The names of the turns for the requests that the last daemon has left, and this one goes on with."""
        left = {path for path, each in self.entries.items() if each.phase in ("interrupted", "unsure")}
        return {turn_name(self.workspace.vault, path) for path in left}

    def changed(self, batch: FilesChanged[NoteChange]) -> None:
        """Note the notes that the person has changed, here or on another machine: they may ask something."""
        for event in batch.events:
            match event:
                case NoteMoved(path=path, source=source):
                    self._move(source, path)
                case NoteDeleted(path=path, origin=Origin.HUMAN | Origin.PULLED):
                    self._drop(path)
                    self.answers.delete(path)
                    continue
                case NoteEdited(path=path, origin=Origin.OWN) if self.workspace.vault.home.holds(path, SESSIONS):
                    self._look_after(path, batch.now)
            match event:
                case NoteCreated() | NoteEdited() | NoteMoved() if event.origin in (Origin.HUMAN, Origin.PULLED):
                    path, digest = event.path, event.hash
                    self._touch(path, digest, touched_by(self.workspace.vault, event), batch.now)
                    if event.origin is Origin.PULLED and path in self.entries:
                        self.entries[path].channel = channel_of_pulled(self.workspace.vault, path, digest)
                case NoteCreated(path=path, hash=digest, origin=Origin.OWN):
                    self._take_left(path, digest, batch.now)

    def take_in(self, ended: Ended) -> None:
        """Take the result of a run that had waited for its person; called from the run's thread."""
        for entry in list(self.entries.values()):
            is_its = entry.phase == "waits" and entry.session == ended.session
            if is_its and ended.outcome is not RunOutcome.INTERRUPTED:
                entry.due, entry.ended, entry.phase = 0.0, ended, "ended"

    def turn(self, now: float) -> float:
        """Submit requests whose notes have lain still for long enough; write the answers that are there."""
        for entry in list(self.entries.values()):
            try:
                self._step(entry, now)
            except Retryable as error:
                entry.due = now + AGAIN
                logger.info("%s: not yet: %s", entry.path, error.message)
            except (AgentError, OSError) as error:
                self._give_up(entry, str(error))
        try:
            self._file.save(self.entries.values(), self.answers.answers)
            self.trouble.pop("inbox", None)
        except AgentError as error:
            self.trouble["inbox"] = f"what is asked cannot be kept for the next start: {error}"
        return 0.0 if self.entries or "inbox" in self.trouble else inf

    def close(self) -> None:
        """Once the pool has ended: write what was answered, and keep the rest for the next start."""
        for entry in list(self.entries.values()):
            if entry.phase == "ended":
                with suppress(AgentError, OSError):
                    self._write(entry, entry.due)
        self._file.save(self.entries.values(), self.answers.answers)

    def _touch(self, path: str, digest: str, keys: set[str], now: float) -> None:
        entry = self.entries.get(path)
        if entry is None:
            if not self._listens(path) or not (is_inbox(self.workspace, path) or self._may_ask(path, digest)):
                return
            entry = self.entries[path] = PendingRequest(path, now)
        if entry.phase == "told":
            entry.phase, entry.request = "still", None
        entry.channel = IN_NOTES
        entry.due, entry.blob, entry.again = now + self.workspace.settings.inbox.quiet_seconds, digest, True
        entry.keys = {**dict.fromkeys(keys, digest), **entry.keys}
        self.trouble.pop(path, None)

    def _take_left(self, path: str, digest: str, now: float) -> None:
        """Take in a request that a program has left: it is whole, so its note need not lie still."""
        if not self.workspace.vault.home.holds(path, INBOX) or path in self.entries:
            return
        channel = channel_of_left(self.workspace.vault, path, digest)
        if channel:
            self._touch(path, digest, set(), now)
        if channel and path in self.entries:
            self.entries[path].channel, self.entries[path].due = channel, now

    def _listens(self, path: str) -> bool:
        """True if the settings let notes in this place be answered by themselves."""
        return is_answered_by_daemon(self.workspace, path)

    def _look_after(self, session: str, now: float) -> None:
        """A session has grown: the run in it that waited may have been taken up by hand."""
        for entry in self.entries.values():
            if entry.phase == "waits" and entry.session == session:
                entry.due = now + AGAIN

    def _may_ask(self, path: str, digest: str) -> bool:
        try:
            data = self.held(path, digest) or self.workspace.vault.read(path)
        except (AgentError, OSError) as error:
            logger.info("%s cannot be read: %s", path, error)
            return False
        return data is not None and may_ask(data)

    def _move(self, source: str, path: str) -> None:
        entry = self.entries.pop(source, None)
        if entry is not None:
            entry.path = path
            self.entries[path] = entry
        if source in self.trouble:
            self.trouble[path] = self.trouble.pop(source)
        self.answers.move(source, path)

    def _drop(self, path: str) -> None:
        entry = self.entries.pop(path, None)
        if entry is not None:
            entry.cancelled.set()
            self._give_back(entry)
        self.trouble.pop(path, None)

    def _give_back(self, entry: PendingRequest) -> None:
        """Hand over the turn of a request that is answered, or that nobody asks any more."""
        turn, entry.turn = entry.turn, None
        if turn is not None and not entry.turn_lost:
            self.turns.add(turn)

    def _step(self, entry: PendingRequest, now: float) -> None:
        if now < entry.due and entry.phase in ("still", "told"):
            return
        match entry.phase:
            case "still":
                self._consider(entry, now)
            case "told":
                self._look_back(entry)
            case "interrupted":
                self._submit(entry)
            case "keyless" if now >= entry.due:
                self._look_for_key(entry, now)
            case "ended" | "unsure" if not entry.is_running:
                self._end(entry, now)
            case "waits" if now >= entry.due and not self.pool.has(session_key(entry.session)):
                entry.due = now + LATER
                if is_over(self.workspace.vault, entry.session):
                    entry.due = inf
                    entry.phase, entry.refusal = "ended", ("done", self._text("inbox.elsewhere", session=entry.session))
            case "queued" if not self.workspace.vault.queued:
                self._finish(entry, now)

    def _look_back(self, entry: PendingRequest) -> None:
        """Look for requests that were saved while the answer was written."""
        if asks_more(self.workspace, entry, self.answers.of(entry.path)):
            entry.phase, entry.request = "still", None
        else:
            del self.entries[entry.path]

    def _consider(self, entry: PendingRequest, now: float) -> None:
        """Start the first request of the note, if there is one that the person has made."""
        data = self.workspace.vault.read(entry.path)
        if data is None:
            self._wait_for_it(entry, now)
            return
        entry.missing = None
        if self.workspace.vault.waiting_reason():
            entry.due = now + AGAIN  # in the middle of a merge nobody knows yet whose words these are
            return
        if self.workspace.vault.provenance.arrived(entry.path, self.workspace.vault.content_id(data)):
            logger.info("%s came from elsewhere, and asks nothing until somebody changes it here", entry.path)
            del self.entries[entry.path]
            return
        drop_arrived(self.workspace.vault, entry)
        touched = entry.keys.keys() | self.answers.ticked(entry.path)
        meant = meant_requests(self.workspace.vault, entry.path, asked := asked_in(self.workspace, entry.path), touched)
        request = next((each for each in meant if not self._was_answered(entry.path, each, data)), None)
        wall = self.workspace.clock.now().timestamp()
        if request is None:
            del self.entries[entry.path]
            unreadable = say_unreadable(self.workspace, entry.path, data, touched)
            if reason := unreadable or why_nothing(self.workspace, entry.path, data, asked, meant):
                self.trouble[entry.path] = reason
        elif self.answers.is_stopped(entry.path, request.key, wall):
            del self.entries[entry.path]
            self.trouble[entry.path] = self._round
        elif self.answers.goes_round(entry.path, request.key, wall):
            entry.request, entry.phase, entry.refusal = request, "ended", ("stopped", self._round)
        else:
            entry.request = request
            self._submit(entry)

    @property
    def _round(self) -> str:
        return self._text("inbox.round", times=CYCLES, minutes=round(WINDOW / 60))

    def _was_answered(self, path: str, request: NoteRequest, data: bytes) -> bool:
        """True if these very words were answered before and the answer was removed from the note since."""
        last = self.answers.last(path, request.key)
        return last is not None and not is_answered(data, last.run) and (request.line > 0 or not is_pending(data))

    def _submit(self, entry: PendingRequest) -> None:
        """Have a request worked on."""
        if entry.phase == "still":
            entry.session, entry.mixed = "", False
        entry.phase, entry.again, entry.ended, entry.refusal, entry.notice = "submitted", False, None, None, ""
        work = partial(self._worker(entry).work, entry)
        entry.work = self.pool.submit(work, key=f"note {entry.path}", priority=Priority.NOTE)

    def _end(self, entry: PendingRequest, now: float) -> None:
        """Write the answer, once it is known that it is this machine's to give."""
        if entry.phase == "ended" and entry.turn_lost:
            logger.info("%s: another machine has taken it over", entry.path)
            commit_record(self.workspace.vault, entry.ended)
            del self.entries[entry.path]
        elif entry.phase == "ended":
            self._write(entry, now)
        elif now >= entry.due:
            work = partial(self._worker(entry).keep_turn, entry)
            entry.work = self.pool.submit(work, key=f"note {entry.path}", priority=Priority.NOTE)

    def _worker(self, entry: PendingRequest) -> Worker:
        return Worker(self.workspace, self.open_runs, self.turns.claims, partial(self._began, entry), self.missing_key)

    def _began(self, entry: PendingRequest) -> None:
        """The work on a request begins, in its thread: from now on, a crash is told in the note."""
        entry.phase = "running"
        self.wake(entry.path)
        self._file.save(list(self.entries.values()), self.answers.answers)

    def _write(self, entry: PendingRequest, now: float) -> None:
        """Put what the run came to into the note; what is asked in it besides is looked at then."""
        ended = entry.ended
        if ended is not None:
            entry.session = ended.session
            if ended.outcome is RunOutcome.INTERRUPTED and not entry.cancelled.is_set():
                entry.phase = "interrupted"
                return
        if now < entry.due and entry.missing is not None:
            return
        check_origin(self.workspace.vault, entry)
        try:
            placed = answer(self.workspace, entry)
        except NoteGone:
            self._wait_for_it(entry, now)
            return
        entry.missing = None
        if entry.notice:
            entry.phase, entry.due = "keyless", now + (0.0 if entry.again else AGAIN)
            return
        if entry.request is not None and (ended or entry.refusal):
            self._note(entry, entry.request, placed)
        if entry.refusal is not None and entry.refusal[0] != "done":
            self.trouble[entry.path] = f"{entry.refusal[0]}: {entry.refusal[1]}"
        if placed is not None and placed.queued:
            entry.phase = "queued"
        elif ended is not None and ended.outcome.waits:
            entry.due, entry.phase, entry.ended = now + LATER, "waits", None
            self._give_back(entry)
        else:
            self._finish(entry, now)

    def _look_for_key(self, entry: PendingRequest, now: float) -> None:
        """Begin anew with a request that waits for the model's key, once it is there or the note has changed."""
        if entry.again or self.missing_key() is None:
            entry.phase, entry.request, entry.notice = "still", None, ""
        else:
            entry.due = now + AGAIN

    def _note(self, entry: PendingRequest, request: NoteRequest, placed: WrittenAnswer | None) -> None:
        """Remember that this was answered."""
        entry.keys.pop(request.key, None)
        at = self.workspace.clock.now().timestamp()
        if placed is None:
            self.answers.add(LoggedAnswer(entry.path, request.key, at))
        else:
            task = bool(request.line)
            self.answers.add(LoggedAnswer(entry.path, request.key, at, placed.status, task, placed.run))

    def _finish(self, entry: PendingRequest, now: float) -> None:
        """Go on with what the person has asked meanwhile; else see later whether the answer has stayed."""
        self._give_back(entry)
        if entry.again or entry.keys:
            entry.phase, entry.request, entry.ended, entry.refusal = "still", None, None, None
            entry.due = 0.0 if entry.due == inf else entry.due
        else:
            entry.phase, entry.ended, entry.refusal = "told", None, None
            entry.due = now + self.workspace.settings.inbox.quiet_seconds

    def _wait_for_it(self, entry: PendingRequest, now: float) -> None:
        """The note is not there: it may turn up under another name, and counts as gone when it does not."""
        entry.missing = now if entry.missing is None else entry.missing
        entry.due = now + 1.0
        if now - entry.missing >= LOST:
            if entry.ended is not None:
                logger.warning("%s is gone; its answer is in %s", entry.path, entry.ended.session)
            self._drop(entry.path)

    def _give_up(self, entry: PendingRequest, what: str) -> None:
        where = f"; the answer is in {entry.ended.session}" if entry.ended else ""
        logger.warning("%s: %s%s", entry.path, what, where)
        self._drop(entry.path)
        self.trouble[entry.path] = f"{what}{where}"
