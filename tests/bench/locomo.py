"""The LoCoMo conversations as vaults, and how well search finds their evidence.

Each session of a conversation is one note: a header with its `date` (from "1:56 pm on 8 May, 2023" to `2023-05-08`),
`# Session N`, the date as it was written, then one line a turn, `Speaker: text`. A question counts as answered at note
level when a session with evidence is among the first k notes; at turn level each turn of evidence counts that one
of the first k passages covers. The data is read where it lies and never copied.

`keyword mode` is our search without vectors, all other signals kept. `plain BM25` is the keyword engine's own ranking:
of the notes, of single lines, and of passages as long as ours.

The engine `postgres` is the database of `VAULT_AGENT_DATABASE__URL`.

    python -m tests.bench.locomo [../shared/data/locomo/dev.json] [whoosh|tantivy|postgres]
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

from agent.clock import SystemClock
from agent.index import keyword
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.keyword import Engine, Weights
from agent.index.search import Searcher
from tests.bench.plain import Span, plain_notes, plain_passages
from tests.bench.vault import MemoryVault

DATA = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "dev.json"
DEPTHS = (1, 5, 10)
_TURN = re.compile(r"D([0-9]+):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a category from 1 to 5, and where its evidence stands: paths with lines."""

    text: str
    category: int
    evidence: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The notes of a conversation by path, and the questions about it that have evidence."""

    notes: Mapping[str, bytes]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """What was measured: shares from 0 to 1, the mean time of a question in milliseconds."""

    questions: int
    at_1: float
    at_5: float
    at_10: float
    milliseconds: float


def read(path: Path = DATA) -> list[Conversation]:
    """The conversations of a LoCoMo file, each with paths of its own."""
    return [
        _conversation(each, f"c{number}") for number, each in enumerate(json.loads(path.read_text("utf-8")), start=1)
    ]


def together(conversations: Sequence[Conversation]) -> Conversation:
    """All conversations in one vault."""
    notes = {path: data for each in conversations for path, data in each.notes.items()}
    return Conversation(notes, tuple(question for each in conversations for question in each.questions))


def measure(
    conversations: Sequence[Conversation], engine: Engine, chosen: EmbedderChoice, weights: Weights
) -> tuple[Level, Level]:
    """Hits of notes (all categories), recall of turns (categories 1 to 4); each conversation in a vault of its own."""
    clock = SystemClock()
    note_rows: list[tuple[float, ...]] = []
    turn_rows: list[tuple[float, ...]] = []
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            vault = MemoryVault(dict(conversation.notes))
            searcher = vault.searcher(Path(folder), engine, chosen, weights)
            searcher.search("warm up")
            for question in conversation.questions:
                begin = clock.monotonic()
                found = [hit.path for hit in searcher.search(question.text, 10).hits]
                taken = (clock.monotonic() - begin) * 1000
                note_rows.append((*_hits(found, question), taken))
                if question.category != 5:
                    turn_rows.append(_turns(searcher, question))
            searcher.close()
    return _level(note_rows), _level(turn_rows)


def measure_plain(
    conversations: Sequence[Conversation], engine: Engine, weights: Weights, lines: int
) -> tuple[Level, Level]:
    """As `measure`, by plain BM25; its passages have so many lines."""
    clock = SystemClock()
    note_rows: list[tuple[float, ...]] = []
    turn_rows: list[tuple[float, ...]] = []
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as name:
            vault, folder = MemoryVault(dict(conversation.notes)), Path(name)
            files = vault.searcher(folder / "notes", engine, EmbedderChoice(None), weights).files
            with (
                plain_notes(files, engine) as notes,
                plain_passages(conversation.notes, lines, engine, folder / "passages", weights) as passages,
            ):
                for question in conversation.questions:
                    begin = clock.monotonic()
                    paths = notes(question.text, 10)
                    note_rows.append((*_hits(paths, question), (clock.monotonic() - begin) * 1000))
                    if question.category != 5:
                        begin = clock.monotonic()
                        spans = passages(question.text, 10)
                        turn_rows.append((*_covered(spans, question), (clock.monotonic() - begin) * 1000))
    return _level(note_rows), _level(turn_rows)


def _turns(searcher: Searcher, question: Question) -> tuple[float, ...]:
    clock = SystemClock()
    begin = clock.monotonic()
    hits = searcher.search(question.text, 10, passages=True).hits
    taken = (clock.monotonic() - begin) * 1000
    return (*_covered([(hit.path, *hit.lines) for hit in hits], question), taken)


def _hits(paths: Sequence[str], question: Question) -> list[float]:
    wanted = {path for path, _ in question.evidence}
    return [float(bool(wanted & set(paths[:k]))) for k in DEPTHS]


def _covered(spans: Sequence[Span], question: Question) -> list[float]:
    lines = [{(path, line) for line in range(first, last + 1)} for path, first, last in spans]
    return [len(question.evidence & set().union(*lines[:k])) / len(question.evidence) for k in DEPTHS]


def _level(rows: Sequence[tuple[float, ...]]) -> Level:
    at_1, at_5, at_10, taken = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return Level(len(rows), at_1, at_5, at_10, taken)


def _conversation(raw: Mapping[str, object], name: str) -> Conversation:
    spoken = raw["conversation"]
    assert isinstance(spoken, dict)
    notes: dict[str, bytes] = {}
    places: dict[str, tuple[str, int]] = {}
    number = 1
    while f"session_{number}" in spoken:
        when = str(spoken[f"session_{number}_date_time"])
        day = datetime.strptime(when.partition(" on ")[2], "%d %B, %Y").date()
        path = f"{name}/session-{number:02}.md"
        lines = ["---", f"date: {day.isoformat()}", "---", f"# Session {number}", when, ""]
        for turn in spoken[f"session_{number}"]:
            places[turn["dia_id"]] = (path, len(lines) + 1)
            lines.append(f"{turn['speaker']}: {' '.join(turn['text'].split())}")
        notes[path] = ("\n".join(lines) + "\n").encode()
        number += 1
    asked = raw["qa"]
    assert isinstance(asked, list)
    questions = []
    for each in asked:
        turns = {f"D{int(a)}:{int(b)}" for text in each.get("evidence") or () for a, b in _TURN.findall(str(text))}
        evidence = frozenset(places[turn] for turn in turns if turn in places)
        if evidence:
            questions.append(Question(each["question"], each["category"], evidence))
    return Conversation(notes, tuple(questions))


def main(path: Path, engine: Engine) -> None:
    """Print the table of the README's LoCoMo figures, and what the turns found are to each simpler search."""
    weights, chosen = keyword.Weights(), choose_embedder()
    conversations = read(path)
    runs: dict[str, Callable[[], tuple[Level, Level]]] = {
        "hybrid": lambda: measure(conversations, engine, chosen, weights),
        "keyword mode": lambda: measure(conversations, engine, EmbedderChoice(None), weights),
        f"plain BM25, passages of {weights.window_lines} lines": lambda: measure_plain(
            conversations, engine, weights, weights.window_lines
        ),
        "plain BM25, passages of 1 line": lambda: measure_plain(conversations, engine, weights, 1),
        "hybrid, all in one vault": lambda: measure([together(conversations)], engine, chosen, weights),
    }
    turns: dict[str, Level] = {}
    for name, run in runs.items():
        notes, turns[name] = run()
        for level, shown in (("notes hit", notes), ("turns recall", turns[name])):
            figures = f"@1 {shown.at_1:.4f}  @5 {shown.at_5:.4f}  @10 {shown.at_10:.4f}  {shown.milliseconds:.1f} ms"
            sys.stdout.write(f"{engine:8} {name:32} {level:13} {shown.questions:5}  {figures}\n")
    best = turns["hybrid"]
    for name, simpler in turns.items():
        if name.startswith(("keyword", "plain")):
            ratios = f"@5 {best.at_5 / simpler.at_5:.2f} x  @10 {best.at_10 / simpler.at_10:.2f} x"
            sys.stdout.write(f"turns recall, hybrid to {name}: {ratios}\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    file = next((Path(each) for each in given if each.endswith(".json")), DATA)
    main(file, next((each for each in get_args(Engine) if each in given), "whoosh"))
