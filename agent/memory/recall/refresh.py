"""Memories added during a run: every few steps, about the latest findings of its tools.

Only in runs of more than three steps, with few tokens, above the same floor as at the beginning (`memory.floor`), and
without memories that the model already has. The subscription's timeout limits the duration; late results are dropped.
"""

import logging
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Protocol

from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.events.bus import Injection, InjectionType
from agent.events.receipt import MEMORIES, Receipt
from agent.events.runs import ContextRefreshed, IterationStarted
from agent.index.analysis import terms
from agent.markdown.title import clipped
from agent.memory.recall.authorship import Asker
from agent.memory.recall.likely import LEAST, HeldText, likelihood
from agent.memory.recall.recaller import Recaller, Remembered

_LONGEST = 120

logger = logging.getLogger(__name__)


class Searched(Protocol):
    """How a recall was searched: in which mode, with what missing (None: nothing), and among how many candidates."""

    @property
    def mode(self) -> str: ...

    @property
    def degraded(self) -> str | None: ...

    @property
    def looked_at(self) -> int: ...


def log_recall(
    question: str, memories: Sequence[Remembered], searched: Searched, seconds: float, mask: Callable[[str], str]
) -> None:
    """Log a recall by which `given` is given to the model."""
    if not logger.isEnabledFor(logging.DEBUG):
        return
    asked = " ".join(mask(question).split())  # masked before it is cut: half a key is not recognised
    logger.debug(
        "recall: %r: %d candidates, %d given (%s), %s, %.0f ms",
        clipped(asked, _LONGEST),
        searched.looked_at,
        len(memories),
        ", ".join(f"{each.path} {each.score:.2f}" for each in memories) or "none",
        searched.degraded or searched.mode,
        seconds * 1_000,
    )


LEAST_STEPS = 3
"""Memories are added only in runs with more steps than this."""
MOST = 3
"""The most memories of one refresh."""
_RUNS = 64
_WORDS = 12
_TAIL = 4_000
_WORD = re.compile(r"[^\W\d_][\w'-]{3,}|[\u3400-\u9fff]{2,8}")


@dataclass(slots=True)
class SessionMemories:
    """The asker of each run, and what each session's model was shown since; of the last 64. Thread-safe.

    In a group each person has a separate text, because a model is not shown what it received for others.
    """

    _askers: OrderedDict[str, Asker] = field(default_factory=OrderedDict)
    _texts: OrderedDict[tuple[str, str], HeldText] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, asker: Asker, held: HeldText) -> None:
        """Register a run of this person, in a conversation that has this text."""
        with self._lock:
            self._askers[asker.run] = asker
            self._texts[asker.session, asker.sender] = held
            for each in (self._askers, self._texts):
                while len(each) > _RUNS:
                    each.popitem(last=False)

    def asker(self, run: str) -> Asker | None:
        """The asker of a run; None for an unknown run."""
        with self._lock:
            return self._askers.get(run)

    def give(self, asker: Asker, found: Iterable[Remembered]) -> None:
        """Record that these memories were shown to the model in the asker's session."""
        with self._lock:
            key = (asker.session, asker.sender)
            self._texts[key] = self._texts.get(key, HeldText()).with_texts(each.text for each in found)

    def held(self, asker: Asker) -> HeldText:
        """The memories that the model has in the asker's session."""
        with self._lock:
            return self._texts.get((asker.session, asker.sender), HeldText())


def refresh_subscriber(
    recaller: Recaller,
    ledger: SessionMemories,
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
        found = recaller.recall(words, asker, MOST, unasked=True)
        held, least = ledger.held(asker), LEAST[settings.floor]
        likely = [each for each in found.found if likelihood(words, each.hit, found.mode) >= least]
        chosen = _fitting([each for each in likely if not held.has(each.text)], settings.refresh_tokens, count)
        seconds = (recaller.now() - began).total_seconds()
        log_recall(f"step {event.number} of run {event.run}", chosen, found, seconds, str)  # its words come from notes
        if not chosen:
            return ()
        ledger.give(asker, chosen)
        tell(ContextRefreshed(event.run, event.session, event.number, len(chosen)))
        text = "\n\n".join(each.model_text for each in chosen)
        receipts = tuple(Receipt(each.path, each.lines, None, each.score, each.why) for each in chosen)
        words = f"What else is remembered that may help:\n\n{text}"
        return (Injection(words, MEMORIES, receipts=receipts, type=InjectionType.MEMORY_RECALL),)

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


def _fitting(found: Iterable[Remembered], room: int, count: Callable[[str], int]) -> list[Remembered]:
    chosen = []
    for each in found:
        room -= count(each.model_text) + 4
        if room < 0:
            break
        chosen.append(each)
    return chosen
