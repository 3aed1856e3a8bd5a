"""The floor of recall: a task that nothing in memory is likely to help with is given nothing.

The probability that something helps is a logistic of how the best memory fits the task, and of whether the task is
about its person: it speaks of "my", of family, or of a name that the memories know. Fitted with
`python -m tests.bench.floor` on LoCoMo (without the speakers' names) and conversations in English and Chinese, against
general tasks that use the same everyday words.
"""

import math
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.hit import Hit, Mode
from agent.memory.understanding.vocabulary import pattern

Floor: TypeAlias = Literal["off", "normal", "strict"]
LEAST = MappingProxyType({"off": 0.0, "normal": 0.25, "strict": 0.4})
"""The probability below which nothing is given."""
HOPELESS, SURE = 0.02, 0.5
"""The probability below which other words for the question are not asked for either, and the share of its rare words
from which a memory is taken for the answer. Of four simulated vaults 70 to 85 % of the general tasks are below the
first, and 0 to 4 % of the questions; of the best memories above the second 1 in 9 is a wrong one."""
_NAME = re.compile(r"(?<![\w'’-])[A-Z][^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Logistic:
    """The factors of the fit. `coverage` and `missed` are the query's rare terms that were found and not found,
    `unit_cosine` is the similarity of meaning."""

    constant: float
    personal: float
    coverage: float
    missed: float
    unit_cosine: float = 0.0


_HYBRID = _Logistic(-5.26, 4.18, 1.02, -0.54, 11.52)
_KEYWORD = _Logistic(-3.19, 3.57, 5.1, -0.08)


def probability(task: str, hits: Sequence[Hit], mode: Mode) -> float:
    """The probability, 0 to 1, that one of the hits helps with the task; 1 if the task names the day of one. The hits
    have their signals (`why`)."""
    if not hits:
        return 0.0
    fit = _HYBRID if mode in {"hybrid", "vector"} else _KEYWORD
    personal = fit.personal * is_personal(task, hits)
    return max(_of_hit(hit, fit, personal) for hit in hits)


def probability_by_itself(task: str, hit: Hit, mode: Mode) -> float:
    """The probability that a passage helps by what it says alone: neither that the task is about its person, nor that
    the passages beside it help, speaks for it. Text of strangers has to be likely by this measure."""
    return _of_hit(hit, _HYBRID if mode in {"hybrid", "vector"} else _KEYWORD, 0.0)


def fits_by_itself(question: str, hit: Hit, mode: Mode) -> bool:
    """True if a passage that a search has found for a question is likely to help by what it says alone, or has at least
    half of the question's rare words: a search for one name finds it in a long text about something else. True, too,
    where nothing is known of how it fits, as for a search by filters alone."""
    return not hit.why or coverage([hit]) >= SURE or probability_by_itself(question, hit, mode) >= LEAST["normal"]


def coverage(hits: Sequence[Hit]) -> float:
    """The share of the query's rare terms that the best hit has; 0 without hits."""
    return next((leg.score for hit in hits[:1] for leg in hit.why if leg.name == "coverage"), 0.0)


def is_personal(task: str, hits: Sequence[Hit]) -> bool:
    """True for a task about its person, somebody close, or a name that one of the hits has."""
    if pattern("own").search(task.replace("’", "'")):
        return True
    names = {name for name in _NAME.findall(task) if terms(name)}
    return any(not names.isdisjoint(_NAME.findall(hit.passage)) for hit in hits)


def _of_hit(hit: Hit, fit: _Logistic, personal: float) -> float:
    signals = {leg.name: leg.score for leg in hit.why}
    if signals.get("date", 0.0) > 0:
        return 1.0
    names = ("coverage", "missed", "unit_cosine")
    total = fit.constant + personal + sum(getattr(fit, name) * signals.get(name, 0.0) for name in names)
    return 1.0 / (1.0 + math.exp(-total))
