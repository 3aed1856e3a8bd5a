"""Search that falls back to keywords when the embedding model is missing, broken, empty or slow, and says so.

The whole search runs on a thread of its own and is left behind when it takes too long; until it comes back, keywords
answer alone.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import TypeAlias

from agent.index.hit import SearchResult

PATIENCE = 2.0
"""Seconds for a search with meaning: several times what one takes that has to load the model first."""
_MEANING = frozenset(("unit_cosine", "hood_cosine", "unit_match", "hood_match"))

logger = logging.getLogger(__name__)

Ask: TypeAlias = Callable[[], SearchResult]


@dataclass(slots=True)
class DegradedSearch:
    """May be asked by several threads, whose searches take turns."""

    patience: float = PATIENCE
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _hanging: threading.Event | None = None

    def search(self, whole: Ask, keywords: Ask) -> SearchResult:
        """The answer of `whole`, or that of `keywords` with the reason in `degraded`; raises what `keywords` raises."""
        with self._turn:
            if self._hanging is not None and not self._hanging.is_set():
                return _instead(keywords(), "the embedding model still hangs")
            self._hanging = None
            found = self._in_time(whole)
            if isinstance(found, SearchResult):
                return _checked(found)
            return _instead(keywords(), found)

    def _in_time(self, whole: Ask) -> SearchResult | str:
        answers: SimpleQueue[SearchResult | str] = SimpleQueue()
        done = threading.Event()

        def work() -> None:
            try:
                answers.put(whole())
            except Exception as error:  # a model is somebody else's code: keywords must answer then
                logger.warning("search by meaning failed", exc_info=True)
                answers.put(f"the embedding model failed ({type(error).__name__}: {error})".splitlines()[0])
            finally:
                done.set()

        threading.Thread(target=work, name="vault-agent-recall", daemon=True).start()
        try:
            return answers.get(timeout=self.patience)
        except Empty:
            self._hanging = done
            return f"the embedding model took longer than {self.patience:g} s"


def _instead(answer: SearchResult, reason: str) -> SearchResult:
    return replace(answer, mode="keyword", degraded=f"by keywords only: {reason}")


def _checked(answer: SearchResult) -> SearchResult:
    """The answer, saying so when the model had nothing to say to any hit."""
    if answer.mode != "hybrid" or not answer.hits or not answer.hits[0].why:
        return answer
    if any(leg.score for hit in answer.hits for leg in hit.why if leg.name in _MEANING):
        return answer
    return _instead(answer, "the embedding model gave nothing for this question")
