"""Search for texts that say the same, without comparing all pairs."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from agent.memory.understanding.rules import is_same, same_words

K = TypeVar("K", bound=Hashable)


def repeats(texts: Sequence[tuple[K, str]]) -> Iterator[tuple[K, list[K]]]:
    """Each text that later ones repeat, with these; the first text in the sequence represents its repetitions."""
    for number, others in _by_words([text for _, text in texts]).items():
        if others:
            yield texts[number][0], [texts[other][0] for other in others]


def _by_words(texts: Sequence[str]) -> dict[int, list[int]]:
    """The numbers of texts that repeat no earlier one by rule, each with the numbers of its repetitions."""
    firsts: dict[frozenset[tuple[str, int]], list[int]] = defaultdict(list)
    found: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        alike = firsts[same_words(text)]
        first = next((at for at in alike if is_same(texts[at], text)), None)
        if first is None:
            alike.append(number)
            found[number] = []
        else:
            found[first].append(number)
    return found
