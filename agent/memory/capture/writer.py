"""Writes the entries of a finished run, and its additions to notes, in one commit after the run has returned.

Runs are captured one after another on a separate thread, so that no run waits; `close` waits for the queue. Errors are
reported in `MemoryCaptured` and in the log, and stop nothing.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from queue import SimpleQueue
from types import MappingProxyType
from typing import TypeVar

from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable
from agent.events.runs import MemoryCaptured, TaskCompleted, session_subject
from agent.memory.blame import DAILY
from agent.memory.capture.dedupe import Judgement, Resolution, captured, changes_of, judge, log_capture
from agent.memory.capture.facts import CaptureConfig, RunTrace, entries_of_run, is_captured
from agent.memory.capture.keywords import plain_keywords
from agent.memory.entry import SAVED, Entry, EntryType, parse_entry
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.memory_note import memory_change
from agent.memory.store import StoredEntry, load_entries
from agent.texts import Language, Sentence
from agent.vault.change import CAPTURE, Stamp, actor_of
from agent.vault.folders import AgentFolder
from agent.vault.history.commits import Commit
from agent.vault.store import Vault

_AFTER_RUN_TOOLS = frozenset((CAPTURE, DAILY))
"""The `Vault-Tool` trailers of commits made automatically after a run."""
PATIENCE = 30.0
"""Seconds that `close` waits: a model may still be writing the text of a skill."""
_TRIES = 4
"""Attempts at a capture while another process holds the vault lock."""
_RECENT = 20
"""Number of last written entries that are also compared: the index may not contain them yet."""

Near = Callable[[Entry], Sequence[str]]
"""Function from an entry to the paths of entries that may say the same, from the index."""


def is_work(commit: Commit) -> bool:
    """True for a commit of a run with what its tools have done, and not only with what was written after it."""
    return bool(commit.work) or commit.tool not in _AFTER_RUN_TOOLS


@dataclass(frozen=True, slots=True)
class Addition:
    """Text to append to a note that many runs write to, or to one `section` of it (a heading); `head` starts the note
    when it does not exist."""

    path: str
    head: bytes
    text: bytes
    section: bytes = b""


AdditionsOfRun = Callable[[TaskCompleted], Sequence[Addition]]
"""Function from a finished run to further text to write."""
AfterCapture = Callable[[TaskCompleted], object]
"""Work to do after the entries of a run are written; may be slow."""

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(slots=True)
class EntryWriter:
    """Compares entries with the existing ones and writes them; one commit per call of `keep`."""

    vault: Vault
    near: Near
    language: Language
    """That of new sections of MEMORY.md."""
    _recent: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def judged(self, entry: Entry, beside: Sequence[StoredEntry] = ()) -> Judgement:
        """The result of comparing an entry with the existing ones, and with those `beside` it; reads few notes."""
        if entry.keywords and entry.type is not EntryType.AUTO_FLUSH:  # those of a flush say what it is
            entry = replace(entry, keywords=plain_keywords(entry.keywords, entry.text, self._is_refused))
        others = [*beside, *load_entries(self.vault, self.close_to(entry))]
        near = tuple({each.path: each for each in reversed(others)}.values())[::-1]
        return judge(entry, near)

    def _is_refused(self, words: str) -> bool:
        """True for words that nobody asked to keep and that are secret or forgotten."""
        return self.vault.masked(words) != words or load_tombstones(self.vault).is_forgotten(words)

    def close_to(self, entry: Entry) -> tuple[str, ...]:
        """The paths of the entries that may say the same, and of those written last."""
        return tuple(dict.fromkeys((*reversed(self._recent), *self.near(entry))))

    def is_known(self, entry: Entry) -> bool:
        """True if keeping the entry would write no note for it: it is saved, or to be forgotten."""
        return not any(before is None for _, before, _ in changes_of(self._judged_unasked(entry, ()), self.vault.home))

    def _judged_unasked(self, entry: Entry, beside: Sequence[StoredEntry]) -> Judgement:
        """The result for an entry that nobody asked to remember: it may have been forgotten."""
        if load_tombstones(self.vault).is_forgotten(entry.text):
            return Judgement(Resolution.NONE, entry, why="forgotten")
        return self.judged(entry, beside)

    def keep(
        self,
        entries: Sequence[Entry],
        subject: str,
        stamp: Stamp,
        additions: Sequence[Addition] = (),
        known: Sequence[StoredEntry] = (),
        *,
        edits: Mapping[str, tuple[bytes, bytes]] = MappingProxyType({}),
        hold: bool = False,
    ) -> tuple[Judgement, ...]:
        """Write entries, additions and edits (bytes before and after, by path) in one commit, with what is held of the
        stamp's session; `known` are compared too. With `hold` all of it is written, and committed later. Raises what a
        transaction raises, and then writes nothing.
        """
        notes = _Notes(dict[str, tuple[bytes | None, bytes]](edits))
        home = self.vault.home
        verdicts = tuple(notes.add(self._judged_unasked(entry, (*notes.new, *known)), home) for entry in entries)
        made = ((path, *versions) for path, versions in notes.changes.items())
        changed = memory_change(self.vault, tuple(made), self.language)
        with self.vault.transaction(subject, stamp, hold=hold) as transaction:
            if not hold:
                transaction.release(*self.vault.held_of(stamp.session))
            for each in additions:
                transaction.append(each.path, each.text, each.head, each.section)
            for path, (before, after) in notes.changes.items():
                if before != after:
                    transaction.write(path, before, after)
            for path, before_note, after in changed:
                transaction.write(path, before_note, after)
        for path in notes.changes:
            self.wrote(path)
        return verdicts

    def wrote(self, path: str) -> None:
        """Remember a written path until the index contains it."""
        if path not in self._recent:
            self._recent.append(path)


@dataclass(slots=True)
class _Notes:
    """The notes that one call of `keep` changes: path, bytes before (None for a new note) and after."""

    changes: dict[str, tuple[bytes | None, bytes]] = field(default_factory=dict)
    _new: dict[str, StoredEntry] = field(default_factory=dict)

    @property
    def new(self) -> tuple[StoredEntry, ...]:
        """The new entries, newest first."""
        return tuple(reversed(self._new.values()))

    def add(self, verdict: Judgement, home: AgentFolder) -> Judgement:
        """Note what a verdict changes."""
        for path, before, after in changes_of(verdict, home):
            first = self.changes.get(path, (before, after))[0]
            self.changes[path] = (first, after)
            if first is None and (entry := parse_entry(after)) is not None:
                self._new[path] = StoredEntry(path, after, entry)
        return verdict


class CaptureWorker:
    """Captures finished runs on a separate thread.

    `trace` gives the steps of a run, by session and run. `also` gives further text for the same commit; `after` is
    called after the commit, in order. That commit has what tools have done in the run, too. While `hold` is set, all of
    it is held (`Vault.held_of`): who sets it puts that into a commit. Interrupted runs are committed in any case,
    sub-runs with the run that they belong to.
    """

    hold = False

    def __init__(
        self,
        writer: EntryWriter,
        config: CaptureConfig,
        trace: Callable[[str, str], RunTrace],
        tell: Callable[[object], object],
        also: Sequence[AdditionsOfRun] = (),
        after: Sequence[AfterCapture] = (),
    ) -> None:
        self._writer = writer
        self._config = config
        self._trace = trace
        self._tell = tell
        self._also = also
        self._after = after
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._unwritten = set[str]()
        self._written = threading.Condition()

    def hear(self, event: TaskCompleted) -> None:
        """Queue a run that has ended or waits: for capture if it is over, and in any case to commit what it wrote."""
        if "." in event.run:
            return
        self._unwritten.add(event.run)
        talk = self._writer.vault.held(event.session)
        self.then(lambda: self._work_on(event, talk))

    def wait_for(self, run: str) -> None:
        """Wait until what a run has done is committed, at most `PATIENCE` seconds."""
        with self._written:
            self._written.wait_for(lambda: run not in self._unwritten, PATIENCE)

    def _holds(self, event: TaskCompleted) -> bool:
        return self.hold and event.outcome != "interrupted"

    def then(self, work: Callable[[], object]) -> None:
        """Queue work after the waiting work; its errors are logged."""
        self._waiting.put(lambda: _guarded(work))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="vault-agent-capture", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Finish the waiting work, within `PATIENCE` seconds; what comes later is committed at once."""
        self.hold = self.settle() and self.hold

    def settle(self, patience: float = PATIENCE) -> bool:
        """Wait for the waiting work; False when it takes longer than `patience` seconds."""
        thread = self._thread
        if thread is None:
            return True
        self._waiting.put(None)
        thread.join(patience)
        if not thread.is_alive():
            self._thread = None
        else:
            logger.warning("what is still to be remembered takes longer than %g s and is left undone", patience)
        return not thread.is_alive()

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()

    def _work_on(self, event: TaskCompleted, talk: object) -> None:
        captured = None
        try:
            captured = _insist(lambda: self.capture(event), event.run) if is_captured(event) else None
        except Exception as error:  # noqa: BLE001 - a failed capture must not stop the run or later captures
            logger.warning("nothing is remembered of run %s: %s", event.run, error)
            captured = MemoryCaptured(event.run, event.session, 0, problem=f"{type(error).__name__}: {error}")
        if not self._holds(event) and self._writer.vault.held(event.session) == talk:  # no other run has begun in it
            _guarded(lambda: _insist(lambda: self._writer.keep((), _subject(event), _stamp(event)), event.run))
        with self._written:
            self._unwritten.discard(event.run)
            self._written.notify_all()
        if captured is not None:
            self._tell(captured)
        for work in self._after if is_captured(event) else ():
            _guarded(partial(work, event))

    def capture(self, event: TaskCompleted) -> MemoryCaptured | None:
        """Write the entries and additions of one run; raises what writing raises.

        None if no entry is written now, because the conversation waits for a model that reads it, or because the run
        belongs to a job: then nothing in it are a person's words, and only its record is committed.
        """
        if event.job:
            return None
        trace = self._trace(event.session, event.run)
        entries = entries_of_run(event, trace, self._config)
        is_later = self._config.waits(event, trace)
        if is_later:
            is_saved = SAVED in event.tools
            entries = tuple(each for each in entries if each.type is not EntryType.FACT and not is_saved)
        additions = [each for also in self._also for each in _asked(also, event)]
        if not (entries or additions):
            return None if is_later else captured(event.run, event.session, ())
        clock = self._writer.vault.clock
        began = clock.monotonic()
        verdicts = self._writer.keep(entries, _subject(event), _stamp(event), additions, hold=self._holds(event))
        if entries:
            log_capture(f"run {event.run}", verdicts, clock.monotonic() - began)
        return None if is_later and not entries else captured(event.run, event.session, verdicts, self._config.count)


def _subject(event: TaskCompleted) -> Sentence:
    return session_subject(event.outcome, event.task)


def _stamp(event: TaskCompleted) -> Stamp:
    return Stamp(actor_of(event.job, event.speaker.channel), run=event.run, tool=CAPTURE, session=event.session)


def _insist(work: Callable[[], T], run: str) -> T:
    """The result of writing about a run, with further attempts while another process holds the vault lock."""
    for _ in range(_TRIES - 1):
        try:
            return work()
        except Retryable as error:
            logger.info("run %s is written down a little later: %s", run, error)
    return work()


def _guarded(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:  # the work queued behind it must still run
        logger.warning("something could not be done after a run", exc_info=True)


def _asked(also: AdditionsOfRun, event: TaskCompleted) -> Sequence[Addition]:
    try:
        return also(event)
    except (AgentError, OSError) as error:
        logger.warning("run %s: %s; the rest is kept", event.run, error)
        return ()
