"""Works on what people ask in their notes, for the daemon: each finished request once, and only what a hand has asked.

A note is looked at when a person has changed it here and it has lain still for a while. What came with a pull or a
checkout, and what we wrote ourselves, starts nothing, and an answer that an editor has replaced by an older version is
put back, not worked out again. Runs go on in threads of their own; notes are written by the daemon's. A request that
comes back the same again and again is stopped, as some other program must be at it.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

from agent.app.answers import CYCLES, WINDOW, Answers, Given
from agent.app.build import App
from agent.app.pending import ALL, Entry, PendingFile, pending_file
from agent.app.requests import Placed, asked_in
from agent.app.restoring import restore
from agent.app.whose import asks_more, drop_foreign, is_meant, keys_of, look_whose
from agent.app.working import answer, is_open, is_over, work
from agent.errors import AgentError, NoteGone, Retryable
from agent.events.types import NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.loop.outcome import Ended, Outcome
from agent.markdown.requests import Request, may_ask, unreadable
from agent.texts import text
from agent.vault.folders import INBOX, SESSIONS
from agent.vault.plumbing.objects import has_id
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
_SAID = {
    "en": {
        "elsewhere": "gone on with elsewhere, see {}",
        "round": f"asked and answered {CYCLES} times in {WINDOW / 60:.0f} minutes; it rests for as long",
        "taken out": "its answer was taken out again, and is in history; change the note once more to ask anew",
    },
    "zh": {
        "elsewhere": "已在别处继续，见 {}",
        "round": f"{WINDOW / 60:.0f} 分钟内问答了 {CYCLES} 次，先停同样长的时间",
        "taken out": "答复又被删掉了，历史记录里还有；再改一次这篇笔记就会重新回答",
    },
}
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
    answers: Answers = field(default_factory=Answers)
    _file: PendingFile = field(init=False)
    _stopping: threading.Event = field(default_factory=threading.Event)

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

    @property
    def _language(self) -> str:
        return self.app.settings.vault.language

    def _said(self, what: str) -> str:
        return _SAID[self._language][what]

    def begin(self) -> None:
        """Take up what the last daemon has left."""
        entries, self.answers.given = self._file.load()
        for entry in entries:
            data = self.app.vault.read(entry.path)
            if entry.request and entry.phase in ("running", "ended", "queued") and not is_open(self.app, entry):
                continue  # it was answered, and only that could not be noted any more
            if entry.phase == "still" and (
                data is None or not has_id(data, entry.blob) or not self._listens(entry.path)
            ):
                continue  # changed while nobody watched
            entry.mixed = data is None or not has_id(data, entry.blob)
            if entry.phase in ("waits", "interrupted") and is_over(self.app.vault, entry.session):
                entry.phase, entry.refusal = "ended", ("done", self._said("elsewhere").format(entry.session))
            elif entry.phase in ("running", "ended"):
                entry.phase, entry.refusal = "ended", ("failed", text("runs.stopped", self.app.settings.vault.language))
            self.entries[entry.path] = entry

    def notice(self, events: Iterable[VaultEvent], now: float) -> None:
        """Something has happened to these notes."""
        for event in events:
            match event:
                case NoteMoved(path=path, source=source):
                    self._move(source, path)
                case NoteDeleted(path=path, origin=Origin.HUMAN):
                    self._drop(path)
                    self.answers.let_go(path)
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
                    self._touch(path, digest, keys_of(changes) if told else {ALL}, now)

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
            self._file.save(self.entries.values(), self.answers.given)
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
        self._file.save(self.entries.values(), self.answers.given)

    def _touch(self, path: str, digest: str, keys: set[str], now: float) -> None:
        entry = self.entries.get(path)
        if entry is None:
            if not self._listens(path) or not (path.startswith(INBOX) or self._may_ask(path, digest)):
                return
            entry = self.entries[path] = Entry(path, now)
        if entry.phase == "told":
            entry.phase, entry.request = "still", None
        entry.due, entry.blob, entry.again = now + self.app.settings.inbox.quiet_seconds, digest, True
        entry.keys = {**dict.fromkeys(keys, digest), **entry.keys}
        self.trouble.pop(path, None)

    def _listens(self, path: str) -> bool:
        """Whether notes in this place are answered unasked."""
        where = self.app.settings.inbox.answers
        return where == "vault" or (where == "inbox" and path.startswith(INBOX))

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
        if source in self.trouble:
            self.trouble[path] = self.trouble.pop(source)
        self.answers.move(source, path)

    def _drop(self, path: str) -> None:
        entry = self.entries.pop(path, None)
        if entry is not None:
            entry.cancelled.set()
        self.trouble.pop(path, None)

    def _step(self, entry: Entry, now: float) -> None:
        if now < entry.due and entry.phase in ("still", "told"):
            return
        match entry.phase:
            case "still":
                self._consider(entry, now)
            case "told":
                self._look_back(entry, now)
            case "interrupted" if not entry.is_running:
                self._start(entry, now)
            case "ended" if not entry.is_running:
                self._write(entry, now)
            case "waits" if now >= entry.due and not self.others():
                entry.due = now + LATER
                if entry.again:
                    self._restore(entry, now)
                if is_over(self.app.vault, entry.session):
                    entry.due = inf
                    entry.phase, entry.refusal = "ended", ("done", self._said("elsewhere").format(entry.session))
            case "queued" if not self.app.vault.writer.queue.count():
                self._finish(entry, now)

    def _look_back(self, entry: Entry, now: float) -> None:
        """See whether the answer has stayed, and whether more was asked in the moment in which it was written."""
        if self._restore(entry, now):
            return
        if asks_more(self.app, entry, self.answers.of(entry.path)):
            entry.phase, entry.request = "still", None
        else:
            del self.entries[entry.path]

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
        if self.app.vault.provenance.arrived(entry.path, self.app.vault.git.blob_id(data)):
            logger.info("%s came from elsewhere, and asks nothing until somebody changes it here", entry.path)
            del self.entries[entry.path]
            return
        if self._restore(entry, now):
            return
        drop_foreign(self.app.vault, entry)
        touched = entry.keys.keys() | self.answers.ticked(entry.path)
        request = next((each for each in asked_in(self.app, entry.path) if is_meant(each, touched)), None)
        wall = self.app.clock.now().timestamp()
        if request is None:
            del self.entries[entry.path]
            if entry.path.startswith(INBOX) and (cannot := unreadable(data)):
                self.trouble[entry.path] = cannot
        elif self.answers.is_stopped(entry.path, request.key, wall):
            del self.entries[entry.path]
            self.trouble[entry.path] = self._said("round")
        elif self.answers.goes_round(entry.path, request.key, wall):
            entry.request, entry.phase, entry.refusal = request, "ended", ("stopped", self._said("round"))
        else:
            entry.request = request
            self._start(entry, now)

    def _restore(self, entry: Entry, now: float) -> bool:
        """Whether the note has lost answers to an older version: they are put back and it is looked at again later, or
        it is left alone until it is changed once more."""
        if not any(each.commits for each in self.answers.of(entry.path)) or not asked_in(self.app, entry.path):
            return False
        found = restore(self.app, entry.path, self.answers)
        if found is None:
            return False
        entry.due = now + self.app.settings.inbox.quiet_seconds
        if not found:
            self.trouble[entry.path] = self._said("taken out")
            if entry.phase != "waits":
                self.entries.pop(entry.path, None)
        return True

    def _start(self, entry: Entry, now: float) -> None:
        if self.busy + self.others() >= TOGETHER:
            return
        if entry.phase == "still":
            entry.session, entry.mixed = "", False
        entry.phase, entry.again, entry.ended, entry.refusal = "running", False, None, None
        self._file.save(self.entries.values(), self.answers.given)
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
        look_whose(self.app.vault, entry)
        try:
            placed = answer(self.app, entry)
        except NoteGone:
            self._wait_for_it(entry, now)
            return
        entry.missing = None
        if entry.request is not None and (ended or entry.refusal):
            self._note(entry, entry.request, placed)
        if entry.refusal is not None and entry.refusal[0] != "done":
            self.trouble[entry.path] = f"{entry.refusal[0]}: {entry.refusal[1]}"
        if placed is not None and placed.queued:
            entry.phase = "queued"
        elif ended is not None and ended.outcome.waits:
            entry.due, entry.phase, entry.ended = now + LATER, "waits", None
        else:
            self._finish(entry, now)

    def _note(self, entry: Entry, request: Request, placed: Placed | None) -> None:
        """Remember that this was answered."""
        entry.keys.pop(request.key, None)
        at = self.app.clock.now().timestamp()
        if placed is None:
            self.answers.add(Given(entry.path, request.key, at))
            return
        commits = (placed.commit,) if placed.commit else ()
        task = bool(request.line)
        self.answers.add(Given(entry.path, request.key, at, placed.status, task, placed.run, commits, placed.path))

    def _finish(self, entry: Entry, now: float) -> None:
        """Go on with what the person has asked meanwhile; else see later whether the answer has stayed."""
        if entry.again or entry.keys:
            entry.phase, entry.request, entry.ended, entry.refusal = "still", None, None, None
            entry.due = 0.0 if entry.due == inf else entry.due
        else:
            entry.phase, entry.ended, entry.refusal = "told", None, None
            entry.due = now + self.app.settings.inbox.quiet_seconds

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
