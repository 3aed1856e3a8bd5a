"""Notes in 36 languages that are made of each language's own words, and questions of which one note is the answer.

A note has a dozen words of its own, from rank 1,500 to 20,000 of its language, between common ones; a question has
three of them, as the note puts them, and two common ones. Real notes differ; what is compared is programs.
"""

import json
import random
import sys
import unicodedata
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tests.bench.retrieval import Question

LANGUAGES = (
    "ar", "bn", "ca", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fil", "fr", "he", "hi", "hu", "id", "is",
    "it", "ja", "ko", "lt", "lv", "mk", "ms", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sv", "tr", "uk", "zh",
)  # fmt: skip
_UNSPACED = {"ja", "zh"}
_COMMON, _OWN = 1_500, 20_000
"""Ranks: below the first a word is common, up to the second it may be one note's own."""


def write_notes(folder: Path, count: int, questions: int, seed: int = 7) -> list[Question]:
    """Write so many notes, the same for the same seed, and return questions spread over all languages."""
    words = {language: _words(language) for language in LANGUAGES}
    chance = random.Random(seed)
    step = max(1, count // questions)
    asked: list[Question] = []
    for number in range(count):
        language = LANGUAGES[number % len(LANGUAGES)]
        path = f"{language}/{number // len(LANGUAGES) % 40:02}/{number:06}.md"
        own = chance.sample(words[language][_COMMON:], 12)
        text = "\n\n".join(_paragraphs(language, words[language][:_COMMON], own, chance))
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {_joined(language, own[:2])}\n\n{text}\n", "utf-8")
        if number % step == step // 2 and len(asked) < questions:
            query = _sentence(language, words[language][:_COMMON], own[3:6], chance, 2)
            asked.append(Question(query, frozenset({path})))
    return asked


def _words(language: str) -> list[str]:
    """The most frequent words of a language, the most frequent first."""
    found: list[str] = import_module("wordfreq").top_n_list(language, _OWN)
    return [word for word in found if all(unicodedata.category(each)[0] in "LM" for each in word)]


def _paragraphs(language: str, common: list[str], own: list[str], chance: random.Random) -> Iterator[str]:
    for number in range(chance.randint(2, 5)):
        if number == 2:
            yield f"## {_joined(language, own[2:4])}"
        yield " ".join(_sentence(language, common, chance.sample(own, 3), chance, 9) + "." for _ in range(4))


def _sentence(language: str, common: list[str], own: list[str], chance: random.Random, fillers: int) -> str:
    """Own words in their order, between common ones, the frequent ones oftener."""
    ranks = [int(len(common) ** chance.random()) - 1 for _ in range(fillers)]
    words = [common[rank] for rank in ranks]
    for word in reversed(own):
        words.insert(chance.randint(0, len(words)), word)
    return _joined(language, words)


def _joined(language: str, words: list[str]) -> str:
    return ("" if language in _UNSPACED else " ").join(words)


if __name__ == "__main__":  # a process of its own: the words take 800 MB
    made = write_notes(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    for each in made:
        sys.stdout.write(json.dumps({"query": each.query, "relevant": sorted(each.relevant)}) + "\n")
