"""How well memory recalls what was said: LoCoMo with each pair of turns captured as an entry, and how long it takes.

Every session of a conversation is taken as a chat, each two turns of it as one entry, as capture writes them but not
shortened. A question counts each turn of evidence whose entry is among the eight that `memory_recall` gives. Entries do
not expire here: the conversations go over a year.

`plain BM25` is the keyword engine's own ranking of the same notes, whose names count as titles, `text only` the same of
what was said alone; `keyword mode` is the index's fusion without vectors, `index` the index's own order, before memory
looks at conversations.

    python -m tests.bench.recall [whoosh|tantivy] [../shared/data/locomo/dev.json]
    python -m tests.bench.recall speed [whoosh|tantivy]
"""

import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.config.memory_settings import MemorySettings
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.keyword import Engine, Weights
from agent.index.search import Searcher
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.authorship import Asker
from tests.bench.locomo import DATA
from tests.bench.plain import plain_notes
from tests.bench.vault import MemoryVault, recaller_over

LIMIT = 8
CATEGORIES = (1, 2, 3, 4)
ENTRIES = 10_000
_TURN = re.compile(r"D([0-9]+):([0-9]+)")
_APART = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Talk:
    """The entries of a conversation by path, and each question with the entries of its evidence, one for each turn."""

    notes: Mapping[str, bytes]
    questions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """The mean share of evidence that was recalled, and milliseconds."""

    questions: int
    recall: float
    mean: float
    p95: float


def lasting() -> MemorySettings:
    """The settings of memory, with nothing that expires."""
    return replace(load_settings(environ={}).settings.memory, chat_turn_user_days=100_000)


def read(path: Path = DATA) -> list[Talk]:
    """The conversations of a LoCoMo file."""
    return [_talk(each, number) for number, each in enumerate(json.loads(path.read_text("utf-8")))]


def measure(talks: Sequence[Talk], engine: Engine, chosen: EmbedderChoice) -> Figures:
    """Recall by the function behind `memory_recall`, each conversation in a vault of its own."""

    def of(talk: Talk, searcher: Searcher) -> Callable[[str], list[str]]:
        now = datetime(2024, 6, 1, tzinfo=UTC)
        found = recaller_over(
            lambda text, limit: searcher.search(text, limit, explain=True), talk.notes.get, lambda: now, lasting()
        )
        return lambda question: [each.path for each in found.recall(question, Asker(), LIMIT).found]

    return _measured(talks, engine, chosen, of)


def measure_index(talks: Sequence[Talk], engine: Engine, chosen: EmbedderChoice) -> Figures:
    """Recall by the index's own order of entries."""

    def of(talk: Talk, searcher: Searcher) -> Callable[[str], list[str]]:
        return lambda question: [hit.path for hit in searcher.search(question, LIMIT).hits]

    return _measured(talks, engine, chosen, of)


def measure_plain(talks: Sequence[Talk], engine: Engine) -> Figures:
    """Recall by plain BM25 of entries."""
    clock, rows = SystemClock(), []
    for talk in talks:
        with tempfile.TemporaryDirectory() as folder:
            searcher = MemoryVault(dict(talk.notes)).searcher(Path(folder), engine, EmbedderChoice(None))
            with plain_notes(searcher.files, engine) as plain:
                for question, evidence in talk.questions:
                    begin = clock.monotonic()
                    found = set(plain(question, LIMIT))
                    taken = (clock.monotonic() - begin) * 1000
                    rows.append((sum(path in found for path in evidence) / len(evidence), taken))
            searcher.close()
    return _figures(rows)


def text_only(talks: Sequence[Talk]) -> list[Talk]:
    """The same entries under names that say nothing."""
    found = []
    for talk in talks:
        names = {path: f"entries/{number}.md" for number, path in enumerate(sorted(talk.notes))}
        asked = tuple((text, tuple(names[path] for path in evidence)) for text, evidence in talk.questions)
        found.append(Talk({names[path]: data for path, data in talk.notes.items()}, asked))
    return found


def many(count: int = ENTRIES) -> dict[str, bytes]:
    """So many entries of different lengths and days, made of the same words; always the same ones."""
    pick = random.Random(11)
    words = [
        f"{a}{b}{c}" for a in "bdfgklmnprstv" for b in ("a", "e", "ino", "o", "u") for c in ("ra", "lin", "t", "mo")
    ]
    names = ["Anna", "Ben", "Mei", "李雷", "王芳", "Tom"]
    notes = {}
    for number in range(count):
        when = datetime(2026, 11, 21, tzinfo=UTC) - timedelta(minutes=number * 4)
        said = " ".join(pick.choices(words, k=pick.randint(8, 60)))
        text = f"User: {pick.choice(names)} {said}\nAssistant: {' '.join(pick.choices(words, k=pick.randint(8, 60)))}"
        entry = Entry(
            f"01HZZZZZZZ{number:016d}", when, text, EntryType.CHAT_TURN, session_id=f"sessions/{number // 8}.md"
        )
        notes[entry.path] = entry.note()
    return notes


def speed(engine: Engine, chosen: EmbedderChoice, count: int = ENTRIES, asked: int = 200) -> Figures:
    """How long a warm recall takes among so many entries."""
    notes, clock, pick = many(count), SystemClock(), random.Random(3)
    texts = [data.decode().partition("User: ")[2] for data in list(notes.values())[:: max(count // asked, 1)]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        searcher = MemoryVault(notes).searcher(Path(folder), engine, chosen)
        now = datetime(2026, 11, 21, 1, tzinfo=UTC)
        found = recaller_over(
            lambda text, limit: searcher.search(text, limit, explain=True), notes.get, lambda: now, lasting()
        )
        for at, text in enumerate(texts[: asked + 20]):
            question = " ".join(pick.sample(text.split(), 8))
            begin = clock.monotonic()
            found.recall(question, Asker(), LIMIT)
            if at >= 20:
                rows.append((1.0, (clock.monotonic() - begin) * 1000))
        searcher.close()
    return _figures(rows)


def _measured(
    talks: Sequence[Talk],
    engine: Engine,
    chosen: EmbedderChoice,
    of: Callable[[Talk, Searcher], Callable[[str], list[str]]],
) -> Figures:
    clock, rows = SystemClock(), []
    for talk in talks:
        with tempfile.TemporaryDirectory() as folder:
            searcher = MemoryVault(dict(talk.notes)).searcher(Path(folder), engine, chosen, Weights())
            ask = of(talk, searcher)
            for question, evidence in talk.questions:
                begin = clock.monotonic()
                found = set(ask(question))
                taken = (clock.monotonic() - begin) * 1000
                rows.append((sum(path in found for path in evidence) / len(evidence), taken))
            searcher.close()
    return _figures(rows)


def _figures(rows: Sequence[tuple[float, float]]) -> Figures:
    times = sorted(taken for _, taken in rows)
    mean = sum(share for share, _ in rows) / len(rows)
    return Figures(len(rows), mean, sum(times) / len(times), times[int(len(times) * 0.95)])


def _talk(raw: Mapping[str, object], conversation: int) -> Talk:
    spoken, asked = raw["conversation"], raw["qa"]
    assert isinstance(spoken, dict)
    assert isinstance(asked, list)
    notes: dict[str, bytes] = {}
    places: dict[str, str] = {}
    number = 1
    while f"session_{number}" in spoken:
        when = datetime.strptime(str(spoken[f"session_{number}_date_time"]), "%I:%M %p on %d %B, %Y").replace(
            tzinfo=UTC
        )
        turns = spoken[f"session_{number}"]
        for at in range(0, len(turns), 2):
            pair = turns[at : at + 2]
            text = "\n".join(f"{turn['speaker']}: {' '.join(turn['text'].split())}" for turn in pair)
            identity = f"01HZZZZZZZ{conversation:04d}{number:06d}{at:06d}"
            entry = Entry(identity, when + at * _APART, text, EntryType.CHAT_TURN, session_id=f"sessions/{number}.md")
            notes[entry.path] = entry.note()
            places |= {turn["dia_id"]: entry.path for turn in pair}
        number += 1
    questions = []
    for each in asked:
        turns = {f"D{int(a)}:{int(b)}" for text in each.get("evidence") or () for a, b in _TURN.findall(str(text))}
        evidence = tuple(places[turn] for turn in sorted(turns) if turn in places)
        if evidence and each["category"] in CATEGORIES:
            questions.append((each["question"], evidence))
    return Talk(notes, tuple(questions))


def main(engine: Engine, path: Path) -> None:
    """Print recall of each way, and what ours is to the simpler ones."""
    talks, chosen = read(path), choose_embedder()
    plain = measure_plain(talks, engine)
    found = {
        "plain BM25": plain,
        "plain BM25, text only": measure_plain(text_only(talks), engine),
        "keyword mode": measure_index(talks, engine, EmbedderChoice(None)),
        "index": measure_index(talks, engine, chosen),
        "memory_recall, no vectors": measure(talks, engine, EmbedderChoice(None)),
        "memory_recall": measure(talks, engine, chosen),
    }
    for name, each in found.items():
        sys.stdout.write(
            f"{engine:8} {name:26} {each.questions:5}  recall@{LIMIT} {each.recall:.4f}"
            f"  {each.recall / plain.recall:.2f} x  mean {each.mean:.1f} ms  p95 {each.p95:.1f} ms\n"
        )


if __name__ == "__main__":
    given = sys.argv[1:]
    wanted: Engine = "tantivy" if "tantivy" in given else "whoosh"
    if "speed" in given:
        shown = speed(wanted, choose_embedder())
        sys.stdout.write(f"{wanted} {ENTRIES} entries: mean {shown.mean:.1f} ms, p95 {shown.p95:.1f} ms\n")
    else:
        main(wanted, next((Path(each) for each in given if each.endswith(".json")), DATA))
