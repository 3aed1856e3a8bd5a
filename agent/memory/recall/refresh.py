"""Memories added during a run: every few steps, about the latest findings of its tools.

Only in runs of more than three steps, with few tokens, above the same floor as at the beginning (`memory.floor`), and
without memories that the model already has. The subscription's timeout limits the duration; late results are dropped.
"""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.events.receipt import MEMORIES, Receipt
from agent.events.runs import ContextRefreshed, IterationStarted
from agent.events.subscriber import Injection, InjectionType
from agent.index.analysis import terms
from agent.memory.recall.asker import Asker
from agent.memory.recall.recall_log import log_recall
from agent.memory.recall.recaller import Recaller, Recollection

LEAST_STEPS = 3
"""Memories are added only in runs with more steps than this."""
MOST = 3
"""The most memories of one refresh."""
_RUNS = 64
_WORDS = 12
_TAIL = 4_000
_WORD = re.compile(r"[^\W\d_][\w'-]{3,}|[\u3400-\u9fff]{2,8}")


@dataclass(slots=True)
class ShownMemories:
    """The asker of each run, and the notes that each session's model was shown; of the last 64. Thread-safe.

    In a group each person has a separate list, because a model is not shown what it received for others.
    """

    _askers: OrderedDict[str, Asker] = field(default_factory=OrderedDict)
    _given: OrderedDict[tuple[str, str], tuple[datetime | None, set[str]]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, asker: Asker) -> None:
        """Register a run of this person; clears the list of shown notes if a summary has replaced them in the
        context."""
        key = (asker.session, asker.sender)
        with self._lock:
            self._askers[asker.run] = asker
            since, _ = self._given.get(key, (None, None))
            if key not in self._given or since != asker.since:
                self._given[key] = (asker.since, set())
            while len(self._askers) > _RUNS:
                self._askers.popitem(last=False)
            while len(self._given) > _RUNS:
                self._given.popitem(last=False)

    def asker(self, run: str) -> Asker | None:
        """The asker of a run; None for an unknown run."""
        with self._lock:
            return self._askers.get(run)

    def give(self, asker: Asker, found: Recollection) -> None:
        """Record that these memories were shown to the model in the asker's session."""
        with self._lock:
            if (known := self._given.get((asker.session, asker.sender))) is not None:
                known[1].update(each.path for each in found.found)

    def replace(self, asker: Asker, notes: Iterable[str]) -> None:
        """Record that the model in the asker's session has parts of these notes, and of no others."""
        with self._lock:
            if (known := self._given.get((asker.session, asker.sender))) is not None:
                known[1].clear()
                known[1].update(notes)

    def given(self, asker: Asker) -> frozenset[str]:
        """The notes of which the model already has a part in the asker's session."""
        with self._lock:
            known = self._given.get((asker.session, asker.sender))
            return frozenset(known[1]) if known is not None else frozenset()


def refresh_subscriber(
    recaller: Recaller,
    ledger: ShownMemories,
    settings: MemorySettings,
    latest: Callable[[IterationStarted, int], str],
    count: Callable[[str], int],
    tell: Callable[[object], object],
) -> Callable[[IterationStarted], Sequence[Injection]]:
    """A handler for `IterationStarted`. `latest` returns what the run has found last, at most so many characters, and
    `count` the tokens of a text."""

    def refresh(event: IterationStarted) -> Sequence[Injection]:
        if not settings.refresh or not is_due(event.number, settings.refresh_every):
            return ()
        asker = ledger.asker(event.run)
        words = topics(latest(event, _TAIL), event.task) if asker is not None else ""
        if asker is None or not words:
            return ()
        began = recaller.now()
        found = recaller.recall(words, asker, MOST, without=ledger.given(asker), unasked=True)
        kept = _fitting(found.above(settings.floor), settings.refresh_tokens, count)
        seconds = (recaller.now() - began).total_seconds()
        log_recall(f"step {event.number} of run {event.run}", found, kept, seconds, str)  # its words come from notes
        if not kept.found:
            return ()
        ledger.give(asker, kept)
        tell(ContextRefreshed(event.run, event.session, event.number, len(kept.found)))
        text = "\n\n".join(each.shown for each in kept.found)
        receipts = tuple(Receipt(each.path, each.lines, None, each.score, each.why) for each in kept.found)
        shown = f"What else is remembered that may help:\n\n{text}"
        return (Injection(shown, MEMORIES, receipts=receipts, type=InjectionType.MEMORY_RECALL),)

    return refresh


def is_due(step: int, every: int) -> bool:
    """True for the steps (counted from 1) before which memories are looked up."""
    return step > LEAST_STEPS and (step - 1) % every == 0


def topics(text: str, task: str) -> str:
    """The most frequent words of what a run has found that are not in its task; empty if there are none."""
    known = set(terms(task))
    counts = Counter(word for word in _WORD.findall(text))
    fresh = [word for word in counts if (own := terms(word)) and not known.issuperset(own)]
    fresh.sort(key=lambda word: (-min(counts[word], 3), not word[0].isupper(), -len(word)))
    return " ".join(dict.fromkeys(fresh[:_WORDS]))


def _fitting(found: Recollection, room: int, count: Callable[[str], int]) -> Recollection:
    kept = []
    for each in found.found:
        room -= count(each.shown) + 4
        if room < 0:
            break
        kept.append(each)
    return replace(found, found=tuple(kept))
