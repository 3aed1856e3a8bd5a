"""Fits the gate of recall, and says how well it tells what helps from what does not.

For each question, the likeliest of the passages that have its evidence is an example of help; for each general task,
the likeliest of all passages found is one of none. The vaults are the facts of `tests/memory/conversations/` as
entries, LoCoMo's talks as notes, and the two help vaults of Obsidian; fitted on the first file of facts, three talks
and the help vaults, the others are only looked at.

    python -m tests.bench.gate [../shared/data/locomo/dev.json] [keywords]
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.query import Hit
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.likely import FEATURES, LEAST, features
from agent.memory.recall.where_and_when import clauses, sentences
from tests.bench import locomo, retrieval
from tests.bench.vault import MemoryVault

CONVERSATIONS = Path(__file__).parents[1] / "memory/conversations"
QUESTIONS = Path(__file__).parents[1] / "index"
FOUND, UNSEEN = 12, frozenset({"facts 2", "talk 4", "talk 5"})
WEIGHTS = {"facts": 2.0, "talk": 0.3, "help": 0.3}
"""How much the vaults of a kind count in the fit: questions in wholly other words are the hard ones."""
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples of one vault, a matrix for each question: a row of features for each of its passages, begun by 1.
    Of `helped`, the rows that have the evidence are marked."""

    name: str
    helped: tuple[tuple[Rows, NDArray[np.bool_]], ...]
    general: tuple[Rows, ...]


def examples(
    name: str,
    vault: MemoryVault,
    questions: Sequence[tuple[str, Callable[[Hit], bool]]],
    general: Sequence[str],
    chosen: EmbedderChoice,
) -> Examples:
    """The examples in a vault; with each question stands what tells whether a passage has its evidence."""
    with tempfile.TemporaryDirectory() as folder:
        searcher = vault.searcher(Path(folder), "whoosh", chosen)

        def look(task: str) -> Iterator[tuple[str, Hit]]:
            for part in (part for sentence in sentences(task) for part in clauses(sentence)):
                for hit in searcher.search(part, FOUND, passages=True, explain=True).hits:
                    yield part, hit

        helped = []
        for question, is_evidence in questions:
            found = list(look(question))
            marks = np.array([is_evidence(hit) for _, hit in found], np.bool_)
            if marks.any():
                helped.append((_rows(found), marks))
        others = [_rows(found) for task in general if (found := list(look(task)))]
        searcher.close()
    return Examples(name, tuple(helped), tuple(others))


def fit(train: Sequence[Examples], rounds: int = 6) -> Rows:
    """The weights of the logistic: a constant, and those of `FEATURES`. Each question counts with the passage that the
    last round found most likely to help; in a vault both kinds of question weigh the same."""
    weights = np.zeros(1 + len(FEATURES))
    for _ in range(rounds):
        rows: list[Rows] = []
        wanted: list[float] = []
        share: list[float] = []
        for each in train:
            weight = WEIGHTS[each.name.split()[0]]
            for found, marks in each.helped:
                right = found[marks]
                rows.append(right[(right @ weights).argmax()])
                wanted.append(1.0)
                share.append(weight / len(each.helped))
            for found in each.general:
                rows.append(found[(found @ weights).argmax()])
                wanted.append(0.0)
                share.append(weight / len(each.general))
        weights = _logistic(np.array(rows), np.array(wanted), np.array(share))
    return weights


def kept(found: Examples, weights: Rows, least: float) -> tuple[float, float]:
    """The share of questions that keep their evidence, and of general tasks that are given something."""
    odds = np.log(least / (1 - least)) if least else -np.inf
    keeps = [bool((rows[marks] @ weights >= odds).any()) for rows, marks in found.helped]
    given = [bool((rows @ weights >= odds).any()) for rows in found.general]
    return float(np.mean(keeps)), float(np.mean(given))


def general_tasks(number: int) -> list[str]:
    """The general tasks of a file."""
    found: list[str] = yaml.safe_load((CONVERSATIONS / f"general{number}.yaml").read_text("utf-8"))
    return found


def facts(number: int) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """The facts of a file of conversations as entries, and the question for each with the path of its entry."""
    file = yaml.safe_load((CONVERSATIONS / f"fortnight{number}.yaml").read_text("utf-8"))
    when = datetime(2026, 11, 20, tzinfo=UTC)
    entries = [
        Entry(f"01HZZZZZZZ{at:016d}", when, each["says"], EntryType.FACT) for at, each in enumerate(file["facts"])
    ]
    questions = [(each["question"], entry.path) for each, entry in zip(file["facts"], entries, strict=True)]
    return {each.path: each.note() for each in entries}, questions


def _logistic(rows: Rows, wanted: Rows, share: Rows) -> Rows:
    scale = np.maximum(rows.std(axis=0), 1e-9)
    scale[0] = 1.0
    scaled, weights = rows / scale, np.zeros(rows.shape[1])
    for _ in range(80):
        guess = 1.0 / (1.0 + np.exp(-scaled @ weights))
        slope = (scaled * (share * guess * (1 - guess))[:, None]).T @ scaled + 1e-3 * np.eye(len(weights))
        weights -= np.linalg.solve(slope, scaled.T @ (share * (guess - wanted)) + 1e-3 * weights)
    found: Rows = weights / scale
    return found


def _rows(found: Sequence[tuple[str, Hit]]) -> Rows:
    values = [features(part, hit) for part, hit in found]
    return np.array([[1.0, *(each.get(name, 0.0) for name in FEATURES)] for each in values])


def _on(paths: Mapping[str, object] | frozenset[str]) -> Callable[[Hit], bool]:
    return lambda hit: hit.path in paths


def _at(evidence: frozenset[tuple[str, int]]) -> Callable[[Hit], bool]:
    return lambda hit: any(path == hit.path and hit.lines[0] <= line <= hit.lines[1] for path, line in evidence)


def _every(talks: Path, chosen: EmbedderChoice) -> Iterator[Examples]:
    for number in (1, 2):
        notes, questions = facts(number)
        asked = [(question, _on(frozenset({path}))) for question, path in questions]
        yield examples(f"facts {number}", MemoryVault(notes), asked, general_tasks(number), chosen)
    for number, talk in enumerate(locomo.read(talks), 1):
        asked = [(each.text, _at(each.evidence)) for each in talk.questions if each.category != 5]
        tasks = general_tasks(1 if number <= 3 else 2)[:100]
        yield examples(f"talk {number}", MemoryVault(dict(talk.notes)), asked, tasks, chosen)
    for language in ("en", "zh"):
        vault = MemoryVault.of_folder(talks.parents[1] / "vaults/obsidian-help" / language)
        rows = retrieval.read(QUESTIONS / f"questions_{language}.jsonl")
        asked = [(each.query, _on(each.relevant)) for each in rows]
        yield examples(f"help {language}", vault, asked, general_tasks(1)[::2], chosen)


def main(talks: Path, chosen: EmbedderChoice) -> None:
    """Print the weights and figures."""
    every = list(_every(talks, chosen))
    weights = fit([each for each in every if each.name not in UNSEEN])
    names = ("constant", *FEATURES)
    sys.stdout.write(", ".join(f"{name}={weight:.2f}" for name, weight in zip(names, weights, strict=True)) + "\n")
    for each in every:
        shares = {name: kept(each, weights, least) for name, least in LEAST.items() if least}
        figures = "; ".join(f"{name}: kept {keep:.3f}, general {given:.3f}" for name, (keep, given) in shares.items())
        sys.stdout.write(f"{each.name}{' (unseen)' if each.name in UNSEEN else ''}: {figures}\n")


if __name__ == "__main__":
    words = sys.argv[1:]
    file = next((Path(each) for each in words if each.endswith(".json")), locomo.DATA)
    main(file, EmbedderChoice(None) if "keywords" in words else choose_embedder())
