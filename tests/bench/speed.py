"""How long indexing and searching take, on made-up notes: about 130 words, frequencies as in real text (Zipf).

python -m tests.bench.speed [whoosh|tantivy] [NOTES]
"""

import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from agent.clock import SystemClock
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.keyword import Engine
from tests.bench.vault import MemoryVault

WORDS = 30_000
WORDS_PER_NOTE = 130
_SYLLABLES = [
    a + b for a in ("b", "ch", "d", "f", "gr", "k", "l", "m", "n", "pr", "r", "s", "st", "t", "v") for b in "aeiou"
]


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds for the first index and for one changed note (95th percentile), milliseconds for a search."""

    first: float
    update: float
    search_50: float
    search_95: float


def notes(count: int, seed: int = 1) -> dict[str, bytes]:
    """Made-up notes with a date, a heading and five paragraphs; the same for everybody."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS)]
    heights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    made = {}
    for number in range(count):
        body = chance.choices(words, cum_weights=heights, k=WORDS_PER_NOTE)
        lines = [" ".join(body[at : at + 26]) for at in range(0, WORDS_PER_NOTE, 26)]
        header = f"---\nid: {number}\ntype: note\ndate: 2026-{number % 12 + 1:02}-{number % 28 + 1:02}\n---\n"
        text = header + f"# {body[0]} {body[1]}\n\n" + "\n\n".join(lines) + "\n"
        made[f"notes/{number % 100:02}/note-{number:06}.md"] = text.encode()
    return made


def questions(made: dict[str, bytes], count: int = 200, seed: int = 2) -> list[str]:
    """Seven words each, as they stand in some note."""
    chance = random.Random(seed)
    texts = [made[path].decode().partition("\n\n")[2].split() for path in chance.choices(sorted(made), k=count)]
    return [" ".join(chance.sample(words, 7)) for words in texts]


def measure(count: int, engine: Engine, chosen: EmbedderChoice, updates: int = 20) -> Speed:
    """Index `count` made-up notes, search them, change some."""
    clock = SystemClock()
    vault = MemoryVault(notes(count))
    asked = questions(vault.notes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = clock.monotonic()
        searcher = vault.searcher(folder, engine, chosen)
        first = clock.monotonic() - begin
        for text in asked[:20]:
            searcher.search(text)
        times = []
        for text in asked:
            begin = clock.monotonic()
            assert searcher.search(text).hits
            times.append((clock.monotonic() - begin) * 1000)
        updater = vault.updater(folder, engine, chosen)
        vault.update(updater)
        changed = []
        for path in sorted(vault.notes)[:updates]:
            vault.notes[path] += b"\none more line about quibblewick\n"
            digest = vault.listed()[path]
            begin = clock.monotonic()
            updater.touch({path: digest}, vault.notes.get)
            hits = searcher.search("quibblewick", 50).hits
            changed.append(clock.monotonic() - begin)
            assert path in {hit.path for hit in hits}
        searcher.close()
        updater.close()
    return Speed(first, percentile(changed, 95), statistics.median(times), percentile(times, 95))


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which so many percent lie."""
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


if __name__ == "__main__":
    given = sys.argv[1:]
    number = next((int(each) for each in given if each.isdigit()), 10_000)
    found = measure(number, "tantivy" if "tantivy" in given else "whoosh", choose_embedder())
    sys.stdout.write(
        f"{number} notes: first index {found.first:.1f} s, one note changed and found p95"
        f" {found.update * 1000:.0f} ms, search p50 {found.search_50:.1f} ms, p95 {found.search_95:.1f} ms\n"
    )
