"""Entries into the vault: the captures of one run as one commit, made behind the run's back.

A run does not wait for its captures: they are made one after the other on a thread of their own, and `close` waits for
what is still to be done. Whatever goes wrong there is said in `MemoryCaptured` and in the log, and stops nobody.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from agent.errors import AgentError
from agent.events.runs import MemoryCaptured, TaskCompleted
from agent.memory.capture import Ways, capture, is_kept
from agent.memory.dedupe import Fate, Thresholds, Verdict, amended, judge
from agent.memory.entry import Entry, EntryType
from agent.memory.kept import kept
from agent.memory.workflow import Trace
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

BEHIND = frozenset(("capture", "daily"))
"""What the commits are called that memory makes of a run by itself; nobody has asked the run for them."""
PATIENCE = 10.0
"""Seconds that `close` waits for captures that are under way."""
_RECENT = 20
"""Entries written last that are compared beside those that the index finds: it may not have them yet."""

Near = Callable[[Entry], Sequence[str]]
"""The paths of entries that may say the same, as far as the index knows."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Keeper:
    """Tells new entries from known ones and writes them; one commit for those that belong together."""

    vault: Vault
    near: Near
    thresholds: Thresholds = Thresholds()
    _recent: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def judged(self, entry: Entry) -> Verdict:
        """What becomes of an entry beside what is kept already; reads few notes."""
        if entry.type is EntryType.WORKFLOW_TRACE:
            return judge(entry, (), self.thresholds)
        paths = dict.fromkeys((*reversed(self._recent), *self.near(entry)))
        return judge(entry, kept(self.vault, paths), self.thresholds)

    def keep(self, entries: Sequence[Entry], subject: str, stamp: Stamp) -> tuple[Verdict, ...]:
        """Write entries as one commit; raises what a transaction raises, and nothing was written then."""
        verdicts = tuple(self.judged(entry) for entry in entries)
        touched: set[str] = set()
        with self.vault.transaction(subject, stamp) as transaction:
            for verdict in verdicts:
                other = verdict.other
                if other is not None and verdict.fate in {Fate.AGAIN, Fate.MERGED}:
                    if other.path not in touched:
                        transaction.edit(other.path, other.data, amended(verdict))
                        touched.add(other.path)
                else:
                    transaction.create(verdict.entry.path, verdict.entry.note())
        for verdict in verdicts:
            self.wrote(verdict.other.path if verdict.other and verdict.other.path in touched else verdict.entry.path)
        return verdicts

    def wrote(self, path: str) -> None:
        """Remember that an entry was written, until the index has it."""
        if path not in self._recent:
            self._recent.append(path)


class Capturing:
    """Hears of runs that are over and keeps what is worth it. `trace` tells what a run did, by session and run."""

    def __init__(
        self, keeper: Keeper, ways: Ways, trace: Callable[[str, str], Trace], tell: Callable[[object], object]
    ) -> None:
        self._keeper = keeper
        self._ways = ways
        self._trace = trace
        self._tell = tell
        self._waiting: SimpleQueue[TaskCompleted | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def hear(self, event: TaskCompleted) -> None:
        """Have a run captured soon."""
        settings = self._ways.settings
        if not is_kept(event) or not (settings.capture_messages or settings.auto_capture):
            return
        self._waiting.put(event)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="vault-agent-capture", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Finish what is still to be captured, within `PATIENCE`."""
        self.settle()

    def settle(self, patience: float = PATIENCE) -> bool:
        """Wait for what is still to be captured; False when that takes longer than `patience` seconds."""
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
        while (event := self._waiting.get()) is not None:
            try:
                told = self.capture(event)
            except Exception as error:  # noqa: BLE001 - a capture that fails must stop neither the run nor the captures after it
                logger.warning("nothing is remembered of run %s: %s", event.run, error)
                told = MemoryCaptured(event.run, event.session, 0, problem=f"{type(error).__name__}: {error}")
            self._tell(told)

    def capture(self, event: TaskCompleted) -> MemoryCaptured:
        """Keep what is worth it of one run; raises what writing raises."""
        trace = self._trace(event.session, event.run)
        ways = replace(self._ways, summarise=self._gently(self._ways.summarise))
        entries = capture(event, trace, ways)
        told = MemoryCaptured(event.run, event.session, 0)
        if not entries:
            return told
        subject = f"memory(capture): {_said(entries)}"
        stamp = Stamp("agent", run=event.run, tool="capture", session=event.session)
        fates = [verdict.fate for verdict in self._keeper.keep(entries, subject, stamp)]
        merged, known = fates.count(Fate.MERGED), fates.count(Fate.AGAIN)
        return replace(
            told,
            saved=len(fates) - merged - known,
            merged=merged,
            known=known,
            contradicting=fates.count(Fate.CONTRADICTS),
        )

    def _gently(self, summarise: Callable[[str], str] | None) -> Callable[[str], str] | None:
        """A summary that is empty where the model fails: the turn is shortened then."""
        if summarise is None:
            return None

        def gently(text: str) -> str:
            try:
                return summarise(text)
            except (AgentError, OSError) as error:
                logger.warning("a turn is shortened and not summarised: %s", error)
                return ""

        return gently


def _said(entries: Sequence[Entry]) -> str:
    kinds = dict.fromkeys(str(entry.type).replace("_", " ") for entry in entries)
    return ", ".join(kinds)
