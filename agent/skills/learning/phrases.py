"""Proposes triggers for a learned skill: words that its tasks share and other tasks lack, and patterns of them.

English is compared by words, Chinese by runs of two to six characters. The person approves the triggers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from agent.index.words import CJK_STOP, CJK_STOP_CHARACTERS, STOP_WORDS

SHARE = 0.5
"""The least share of the tasks that have the word."""
STRANGE = 0.2
"""The largest share of other tasks that have it."""
MOST_WORDS = 8
MOST_PATTERNS = 4
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


def propose_patterns(words: Sequence[str], tasks: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """A few patterns of these words that match most of the tasks and none of the others.

    Pairs of words come first, and of pairs that match as many tasks, the one whose words stand closest together: `trip
    budget` for `work out the trip budget`.
    """
    single = [(word,) for word in words]
    pairs: list[tuple[str, ...]] = list(combinations(words, 2))
    found: list[str] = []
    left = [task.lower() for task in tasks]
    strange = [task.lower() for task in others]
    for group in (pairs, single):
        usable = [each for each in group if not any(_has(task, each) for task in strange)]
        while usable and left and len(found) < MOST_PATTERNS:
            best = max(usable, key=lambda each: (sum(_has(task, each) for task in left), -_apart(each, left)))
            hit = [task for task in left if _has(task, best)]
            if len(hit) < min(2, len(left)):
                break
            found.append(_pattern(best))
            left = [task for task in left if task not in hit]
    return tuple(found)


def propose_name(words: Sequence[str], tools: Sequence[str]) -> str:
    """A name for the skill from the words of its tasks, or else from its tools: lower case, digits, hyphens."""
    parts = [part for word in words[:3] if (part := re.sub(r"[^\w]+", "-", word.lower()).strip("-_"))]
    parts = parts or [tool.replace("_", "-") for tool in dict.fromkeys((tools[0], tools[-1]))]
    return re.sub(r"[-_]+", "-", "-".join(parts))[:48].strip("-")


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


def _has(task: str, words: Sequence[str]) -> bool:
    """True if the pattern of these words matches; overlapping Chinese words do not both count."""
    return re.search(_pattern(words), task) is not None


def _apart(words: Sequence[str], tasks: Iterable[str]) -> int:
    """The number of characters between the words, over all tasks that have all of them."""
    found = 0
    for task in (task for task in tasks if len(words) > 1 and _has(task, words)):
        places = sorted((task.find(word), task.find(word) + len(word)) for word in words)
        found += sum(max(begin - end, 0) for (_, end), (begin, _) in pairwise(places))
    return found


def _pattern(words: Sequence[str]) -> str:
    """The pattern of the words in either order."""
    ordered = (words, tuple(reversed(words))) if len(words) > 1 else (words,)
    return "|".join(".*".join(rf"\b{word}\b" if word.isascii() else word for word in each) for each in ordered)
