"""Fits the floor of recall, and says how well it tells questions that memory helps with from general tasks.

For each question, the best of the eight entries that memory would give is an example of help if it is asked of the
conversations, and of none if it is a general task. LoCoMo's speakers are named in almost every line, so their names are
taken out of it, and its questions count as personal. The other conversations are `tests/memory/conversations/`: the
first file is fitted on, the second only looked at.

    python -m tests.bench.floor
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from agent.index.embedder import choose_embedder
from agent.index.hit import Hit
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.floor import LEAST, is_personal
from agent.memory.recall.recaller import plain
from tests.bench import recall
from tests.bench.locomo import DATA
from tests.bench.vault import MemoryVault

CONVERSATIONS = Path(__file__).parents[1] / "memory/conversations"
SIGNALS = ("coverage", "missed", "unit_cosine")
GIVEN, POOL, HELD_OUT = 8, 80, 2
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of one vault, a matrix for each question: a row for each of its best entries, with 1, whether the
    question is personal, and the signals. `helped` are questions whose evidence is among these entries."""

    name: str
    helped: tuple[Rows, ...]
    general: tuple[Rows, ...]


def examples(
    name: str,
    notes: Mapping[str, bytes],
    questions: Sequence[tuple[str, Sequence[str]]],
    general: Sequence[str],
    *,
    personal: bool = False,
) -> Examples:
    """The examples in a vault. `personal`: its questions count as personal."""
    with tempfile.TemporaryDirectory() as folder:
        searcher = MemoryVault(dict(notes)).searcher(Path(folder), "whoosh", choose_embedder())

        def look(question: str) -> tuple[Hit, ...]:
            return searcher.search(f"{plain(question)} path:entries/", POOL, explain=True).hits[:GIVEN]

        found = [(question, evidence, look(question)) for question, evidence in questions]
        helped = [
            _rows(hits, personal=personal or is_personal(question, hits))
            for question, evidence, hits in found
            if {hit.path for hit in hits}.intersection(evidence)
        ]
        others = [_rows(hits, personal=is_personal(task, hits)) for task in general if (hits := look(task))]
        searcher.close()
    return Examples(name, tuple(helped), tuple(others))


def fit(train: Sequence[Examples], rounds: int = 6) -> Rows:
    """The weights of the logistic: a constant, `personal`, and those of `SIGNALS`. Each question counts with the entry
    that the last round found most likely to help; both kinds of question weigh the same."""
    helped = [rows for each in train for rows in each.helped]
    others = [rows for each in train for rows in each.general]
    weights = np.zeros(2 + len(SIGNALS))
    for _ in range(rounds):
        best = [rows[(rows @ weights).argmax()] for rows in (*helped, *others)]
        wanted = np.array([1.0] * len(helped) + [0.0] * len(others))
        share = np.array([1.0 / len(helped)] * len(helped) + [1.0 / len(others)] * len(others))
        weights = _logistic(np.array(best), wanted, share)
    return weights


def chances(questions: Sequence[Rows], weights: Rows) -> Rows:
    """The probability that something helps, for each question."""
    return np.array([1.0 / (1.0 + np.exp(-(rows @ weights).max())) for rows in questions])


def _logistic(rows: Rows, wanted: Rows, share: Rows) -> Rows:
    scale = np.maximum(rows.std(axis=0), 1e-9)
    scale[0] = 1.0
    scaled, weights = rows / scale, np.zeros(rows.shape[1])
    for _ in range(60):
        guess = 1.0 / (1.0 + np.exp(-scaled @ weights))
        slope = (scaled * (share * guess * (1 - guess))[:, None]).T @ scaled + 1e-3 * np.eye(len(weights))
        weights -= np.linalg.solve(slope, scaled.T @ (share * (guess - wanted)) + 1e-3 * weights)
    found: Rows = weights / scale
    return found


def _rows(hits: Sequence[Hit], *, personal: bool) -> Rows:
    signals = [{leg.name: leg.score for leg in hit.why} for hit in hits]
    return np.array([[1.0, float(personal), *(each.get(name, 0.0) for name in SIGNALS)] for each in signals])


def _locomo(general: Sequence[str]) -> Iterator[Examples]:
    speakers = [each["conversation"] for each in json.loads(DATA.read_text("utf-8"))]
    for number, (talk, said) in enumerate(zip(recall.read(), speakers, strict=True)):
        names = re.compile("|".join(rf"{said[key]}(?:'s)?" for key in ("speaker_a", "speaker_b")))
        notes = {path: names.sub("", data.decode()).encode() for path, data in talk.notes.items()}
        questions = [(names.sub("", question), evidence) for question, evidence in talk.questions]
        yield examples(f"LoCoMo {number + 1}", notes, questions, general, personal=True)


def _told(number: int) -> Examples:
    file = yaml.safe_load((CONVERSATIONS / f"fortnight{number}.yaml").read_text("utf-8"))
    when = datetime(2026, 11, 20, tzinfo=UTC)
    entries = [
        Entry(f"01HZZZZZZZ{at:016d}", when, each["says"], EntryType.FACT) for at, each in enumerate(file["facts"])
    ]
    questions = [(each["question"], [entry.path]) for each, entry in zip(file["facts"], entries, strict=True)]
    return examples(
        f"fortnight {number}", {each.path: each.note() for each in entries}, questions, general_tasks(number)
    )


def general_tasks(number: int) -> list[str]:
    """The general tasks of a file."""
    found: list[str] = yaml.safe_load((CONVERSATIONS / f"general{number}.yaml").read_text("utf-8"))
    return found


def main() -> None:
    """Fit on all but the last two LoCoMo conversations and the second fortnight; print weights and figures."""
    every = [*_locomo(general_tasks(1)[:100]), _told(1), _told(2)]
    unseen = {"LoCoMo 4", "LoCoMo 5", "fortnight 2"}
    weights = fit([each for each in every if each.name not in unseen])
    names = ("constant", "personal", *SIGNALS)
    rows = [", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights, strict=True))]
    for each in every:
        helped, general = chances(each.helped, weights), chances(each.general, weights)
        figures = (f"{name}: lost {(helped < least).mean():.3f}, general given {(general >= least).mean():.3f}"
                   for name, least in LEAST.items() if least)  # fmt: skip
        rows.append(f"{each.name}{' (unseen)' if each.name in unseen else ''}: {'; '.join(figures)}")
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
