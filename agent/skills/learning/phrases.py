"""Words that tasks of one kind share and other tasks lack: they tell what recurs from chance, and name nothing.

English is compared by words, Chinese by runs of two to six characters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent.index.analysis import CJK_STOP, CJK_STOP_CHARACTERS, STOP_WORDS

SHARE = 0.5
"""The least share of the tasks that have the word."""
STRANGE = 0.2
"""The largest share of other tasks that have it."""
MOST_WORDS = 8
_WORD = re.compile(r"[a-z][a-z'-]{2,}", re.ASCII)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SHORTEST, _LONGEST = 2, 6
_PLAIN = frozenset(
    ("please", "can", "you", "could", "would", "help", "want", "need", "make", "get", "let", "give", "tell", "show")
)
_POLITE = re.compile("请?帮我|请帮|一下|给我|我的|麻烦|一个|可以|能不能?")
"""Polite phrases and fillers between the words of a Chinese task."""


def common_words(tasks: Sequence[str], others: Sequence[str] = ()) -> tuple[str, ...]:
    """The words in at least half of the tasks and in few others, most frequent first."""
    counts = Counter(word for task in tasks for word in _words(task))
    strange = Counter(word for task in others for word in _words(task))
    kept = [
        word
        for word, count in counts.items()
        if count >= max(2, SHARE * len(tasks)) and strange[word] <= STRANGE * len(others)
    ]
    whole = [word for word in kept if not _is_part(word, kept, counts)]
    first = {word: min(task.lower().find(word) for task in tasks if word in task.lower()) for word in whole}
    return tuple(sorted(whole, key=lambda word: (-counts[word], first[word], word))[:MOST_WORDS])


def is_one_kind(tasks: Sequence[str], words: Sequence[str], least: int) -> bool:
    """True if one of the words is in at least `least` of the tasks."""
    return any(sum(word in _words(task) for task in tasks) >= least for word in words)


def _words(task: str) -> frozenset[str]:
    plain = task.lower()
    english = {word.strip("'-") for word in _WORD.findall(plain)} - STOP_WORDS - _PLAIN
    return frozenset(word for word in english if len(word) > 2) | frozenset(_pieces(plain))


def _pieces(text: str) -> Iterable[str]:
    for run in (part for han in _HAN.findall(text) for part in _POLITE.split(han)):
        for size in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if CJK_STOP_CHARACTERS.isdisjoint((piece[0], piece[-1])) and piece not in CJK_STOP:
                    yield piece


def _is_part(word: str, others: Iterable[str], counts: Counter[str]) -> bool:
    """True if a Chinese word occurs only as part of a longer one."""
    return not word.isascii() and any(
        word != other and word in other and counts[other] >= counts[word] for other in others
    )
