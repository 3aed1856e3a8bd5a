"""Made-up notes that search cannot tell from real ones: 30,000 words, the few common and the most rare (Zipf's law).

The vaults of `vaults` repeat 32 words, which is enough for git and nothing for a search: there every note would answer
every question. Those vaults' making of a repository is used here as it is.
"""

import random
from itertools import accumulate
from pathlib import Path

from agent.interfaces.cli.benches.vaults import WORDS_PER_NOTE, build, git

VOCABULARY = 30_000
_PARAGRAPH = 26
_ONSETS = ("b", "ch", "d", "f", "gr", "k", "l", "m", "n", "pr", "r", "s", "st", "t", "v")
_SYLLABLES = tuple(onset + vowel for onset in _ONSETS for vowel in "aeiou")


def build_prose(root: Path, notes: int, seed: int = 1) -> list[str]:
    """A committed vault of `notes` notes of 130 words in five paragraphs; returns their paths. The same for all."""
    build(root, 0)
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(VOCABULARY)]
    heights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    paths = []
    for number in range(notes):
        body = chance.choices(words, cum_weights=heights, k=WORDS_PER_NOTE)
        lines = [" ".join(body[at : at + _PARAGRAPH]) for at in range(0, WORDS_PER_NOTE, _PARAGRAPH)]
        header = f"---\nid: {number}\ntype: note\ndate: 2026-{number % 12 + 1:02}-{number % 28 + 1:02}\n---\n"
        path = f"notes/{number % 100:02}/note-{number:06}.md"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = f"{header}# {body[0]} {body[1]}\n\n" + "\n\n".join(lines) + "\n"
        (root / path).write_text(text, "utf-8")
        paths.append(path)
    record(root, "notes")
    return paths


def record(root: Path, subject: str) -> None:
    """Commit everything and pack it, as in a vault that has been in use for a while."""
    git(root, "add", "-A")
    git(root, "-c", "gc.auto=0", "commit", "-q", "-m", subject)
    git(root, "gc", "-q")


def questions(root: Path, paths: list[str], count: int, seed: int = 2) -> list[str]:
    """Seven words each, as they stand somewhere in one note."""
    chance = random.Random(seed)
    bodies = [(root / path).read_text("utf-8").partition("\n\n")[2].split() for path in chance.choices(paths, k=count)]
    return [" ".join(chance.sample(body, 7)) for body in bodies]
