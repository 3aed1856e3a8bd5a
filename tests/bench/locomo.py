"""The LoCoMo conversations as vaults, and how well search finds their evidence.

Each session of a conversation is one note: a header with its `date` (from "1:56 pm on 8 May, 2023" to `2023-05-08`),
`# Session N`, the date as it was written, then one line a turn, `Speaker: text`. A question counts as answered at note
level when a session with evidence is among the first k notes; at turn level each turn of evidence counts that one
of the first k passages covers. The data is read where it lies and never copied.

    python -m tests.bench.locomo ../shared/data/locomo/dev.json [whoosh|tantivy]
"""

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agent.clock import SystemClock
from agent.index import weights as weights_module
from agent.index.embedder import Chosen, choose
from agent.index.keyword import Engine
from agent.index.search import Searcher
from agent.index.weights import Weights
from tests.bench.vault import MemoryVault

DATA = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "dev.json"
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
    conversations: Sequence[Conversation], engine: Engine, chosen: Chosen, weights: Weights
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
                wanted = {path for path, _ in question.evidence}
                note_rows.append((*(float(bool(wanted & set(found[:k]))) for k in (1, 5, 10)), taken))
                if question.category != 5:
                    turn_rows.append(_turns(searcher, question))
            searcher.close()
    return _level(note_rows), _level(turn_rows)


def _turns(searcher: Searcher, question: Question) -> tuple[float, ...]:
    clock = SystemClock()
    begin = clock.monotonic()
    hits = searcher.search(question.text, 10, passages=True).hits
    taken = (clock.monotonic() - begin) * 1000
    lines = [{(hit.path, line) for line in range(hit.lines[0], hit.lines[1] + 1)} for hit in hits]
    found = [question.evidence & set().union(*lines[:k]) for k in (1, 5, 10)]
    return (*(len(each) / len(question.evidence) for each in found), taken)


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
    """Print the table of the README's LoCoMo figures."""
    weights, chosen = weights_module.default(), choose()
    conversations = read(path)
    runs = {
        "one vault each": (conversations, chosen, weights),
        "one vault each, keywords only": (conversations, Chosen(None), weights),
        "one vault each, ranks instead of scores": (conversations, chosen, replace(weights, strategy="rrf")),
        "all in one vault": ([together(conversations)], chosen, weights),
    }
    for name, (some, with_model, used) in runs.items():
        notes, turns = measure(some, engine, with_model, used)
        for level, shown in (("notes hit", notes), ("turns recall", turns)):
            figures = f"@1 {shown.at_1:.4f}  @5 {shown.at_5:.4f}  @10 {shown.at_10:.4f}  {shown.milliseconds:.1f} ms"
            sys.stdout.write(f"{engine:8} {name:40} {level:13} {shown.questions:5}  {figures}\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0]) if given else DATA, "tantivy" if "tantivy" in given else "whoosh")
