"""Search for texts that say the same, without comparing all pairs."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from agent.memory.understanding.rules import RULES, is_same, same_words
from agent.memory.understanding.seam import Pair, TextRelation, Understanding
from agent.memory.understanding.wording import similarity, wording

K = TypeVar("K", bound=Hashable)

_NEAR = 40
"""The most pairs of differently worded texts per call of `compare`: a model costs money for each."""
_ALIKE = 0.3
"""The Jaccard similarity from which differently worded texts may say the same."""
_SHARING = 20
"""The most texts sharing a rare word that are paired with each other; of more, the first."""


def repeats(texts: Sequence[tuple[K, str]], understanding: Understanding) -> Iterator[tuple[K, list[K]]]:
    """Each text that later ones repeat, with these; the first text in the sequence represents its repetitions."""
    found = _by_words([text for _, text in texts])
    # By rule, only what has the same words says the same, and that is found already.
    pairs = [] if understanding is RULES else _near([text for _, text in texts], list(found))[:_NEAR]
    answers = understanding.compare([Pair(texts[other][1], texts[one][1]) for one, other in pairs])
    for (one, other), answer in zip(pairs, answers, strict=True):
        if answer is TextRelation.SAME and one in found and other in found:
            found[one] += [other, *found.pop(other)]
    for number, others in found.items():
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


def _near(texts: Sequence[str], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of texts that share a rare word and many others, with equal numbers and negation; most similar first."""
    said = {number: wording(texts[number]) for number in numbers}
    common = Counter(term for each in said.values() for term in each.words)
    rarest: dict[str, list[int]] = defaultdict(list)
    for number, each in said.items():
        for term in sorted((term for term in each.words if common[term] > 1), key=lambda term: (common[term], term))[
            :2
        ]:
            rarest[term].append(number)
    pairs = {(one, other) for some in rarest.values() for at, one in enumerate(some[:_SHARING])
             for other in some[at + 1 : _SHARING]}  # fmt: skip
    scored = {(one, other): similarity(said[one], said[other]) for one, other in pairs
              if (said[one].numbers, said[one].negated) == (said[other].numbers, said[other].negated)}  # fmt: skip
    return sorted((pair for pair in scored if scored[pair] >= _ALIKE), key=lambda pair: (-scored[pair], pair))
