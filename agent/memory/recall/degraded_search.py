"""Search that falls back to keywords when the embedding model is missing, broken, empty or slow, and reports it.

The full search runs on a separate thread and is abandoned when it takes too long; until that thread ends, only keywords
are searched.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import field, replace
from queue import Empty, SimpleQueue
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.index.query import SearchResult
from agent.texts import Sentence

PATIENCE = 2.0
"""Seconds for a search with embeddings: several times the duration of one that has to load the model first."""
_MEANING = frozenset(("unit_cosine", "hood_cosine", "unit_match", "hood_match"))

logger = logging.getLogger(__name__)

Ask: TypeAlias = Callable[[], SearchResult]


@dataclass(slots=True)
class DegradedSearch:
    """Searches with a fallback; thread-safe, one search at a time."""

    patience: float = PATIENCE
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _hanging: threading.Event | None = None

    def search(self, whole: Ask, keywords: Ask) -> SearchResult:
        """The result of `whole`, or that of `keywords` with the reason in `degraded`; raises what `keywords` raises,
        and `UserError` for a question that cannot be asked."""
        with self._turn:
            if self._hanging is not None and not self._hanging.is_set():
                return _instead(keywords(), "the embedding model still hangs")
            self._hanging = None
            found = self._in_time(whole)
            if isinstance(found, UserError):
                raise found
            if isinstance(found, SearchResult):
                return _checked(found)
            return _instead(keywords(), found)

    def _in_time(self, whole: Ask) -> SearchResult | UserError | str:
        answers: SimpleQueue[SearchResult | UserError | str] = SimpleQueue()
        done = threading.Event()

        def work() -> None:
            try:
                answers.put(whole())
            except UserError as error:
                answers.put(error)
            except Exception as error:  # the model is third-party code: any error falls back to keywords
                logger.warning("search by meaning failed", exc_info=True)
                answers.put(
                    Sentence(
                        "the embedding model failed ({kind}: {error})",
                        kind=type(error).__name__,
                        error=next(iter(str(error).splitlines()), ""),
                    )
                )
            finally:
                done.set()

        threading.Thread(target=work, name="vault-agent-recall", daemon=True).start()
        try:
            return answers.get(timeout=self.patience)
        except Empty:
            self._hanging = done
            return Sentence("the embedding model took longer than {seconds:g} s", seconds=self.patience)


def _instead(answer: SearchResult, reason: str) -> SearchResult:
    return replace(answer, mode="keyword", degraded=Sentence("by keywords only: {reason}", reason=reason))


def _checked(answer: SearchResult) -> SearchResult:
    """The result, marked as degraded when the model scored none of its hits."""
    if answer.mode != "hybrid" or not answer.hits or not answer.hits[0].why:
        return answer
    if any(leg.score for hit in answer.hits for leg in hit.why if leg.name in _MEANING):
        return answer
    return _instead(answer, "the embedding model gave nothing for this question")
