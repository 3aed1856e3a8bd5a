"""Fit the weights of `note` in `agent/index/keyword.py`, and say what they are worth on conversations not fitted on.

Listwise: the weights, none below zero, that give notes with evidence the largest softmax share. Each conversation in
turn is left out, the rest is fitted, and the hits are counted on the one left out; the two help vaults are checked, and
never fitted on. The weights printed last are fitted on all; round them by hand. `missed` lists what the weights that
ship do not find among the first five, with the rank that each signal alone gives the best right note: a signal to try
has to find more of these than it loses of the others, on conversations that its weight was not fitted on.

    python -m tests.bench.tune
    python -m tests.bench.tune missed
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.index import keyword
from agent.index.embedder import choose_embedder
from agent.index.fusion import PER_NOTE, SURE, best_of
from agent.index.keyword import SIGNALS, SignalWeights
from agent.index.query import parse_query
from tests.bench import locomo, retrieval
from tests.bench.vault import MemoryVault

VAULTS = Path(__file__).parents[3] / "shared" / "data" / "vaults" / "obsidian-help"
STEPS, RATE, RIDGE = 300, 3.0, 1e-3


@dataclass(frozen=True, slots=True)
class Sample:
    """One question: a row of signals for each candidate, and which candidates answer it."""

    group: str
    text: str
    rows: NDArray[np.float64]
    right: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Missed:
    """A question whose best right note comes late: its rank from 0, and the rank by each signal alone."""

    text: str
    rank: int
    alone: Mapping[str, int]


def samples(group: str, vault: MemoryVault, asked: Sequence[tuple[str, frozenset[str]]]) -> list[Sample]:
    """The candidates that a search scores for each question, with every signal on the scale of `fusion`."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        searcher = vault.searcher(Path(folder), "whoosh", choose_embedder())
        for text, relevant in asked:
            searcher.search(text)
            store, query = searcher._store, parse_query(text)
            assert store is not None
            candidates = searcher._candidates(query, store, [])
            assert candidates is not None
            raw = searcher._signals(query, candidates, store)
            columns = []
            for name in SIGNALS:
                values = raw[name] if name in PER_NOTE else best_of([raw[name]], candidates.batch)[0]
                best = max(float(values.max(initial=0.0)), SURE.get(name, 0.0))
                columns.append(np.maximum(values, 0) / best if best else values)
            right = np.array([path in relevant for path in candidates.paths])
            found.append(Sample(group, text, np.stack(columns, axis=1), right))
        searcher.close()
    return found


def fit(chosen: Sequence[Sample]) -> NDArray[np.float64]:
    """Weights for `SIGNALS`, `note` being 1."""
    usable = [each for each in chosen if each.right.any()]
    weights = np.full(len(SIGNALS), 2.0)
    for _ in range(STEPS):
        slope = -RIDGE * weights
        for each in usable:
            scores = each.rows @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            wanted = share * each.right
            slope += ((wanted / max(wanted.sum(), 1e-12) - share) @ each.rows) / len(usable)
        weights = np.maximum(weights + RATE * slope, 0.0)
    scaled: NDArray[np.float64] = weights / max(weights[0], 1e-9)
    return scaled


def ranks(chosen: Sequence[Sample], weights: NDArray[np.float64]) -> list[int]:
    """The rank of each question's best right note, from 0; one that no search would show if there is none."""
    found = []
    for each in chosen:
        scores = np.round(each.rows @ weights, 6)
        best = scores[each.right].max(initial=0.0)
        found.append(int((scores > best).sum()) if best > 0 else len(scores) + 10)
    return found


def hits(chosen: Sequence[Sample], weights: NDArray[np.float64]) -> list[float]:
    """The share of questions with a right note among the first 1, 5 and 10."""
    found = ranks(chosen, weights)
    return [round(float(np.mean([rank < k for rank in found])), 4) for k in (1, 5, 10)]


def missed(chosen: Sequence[Sample], weights: NDArray[np.float64], most: int = 5) -> list[Missed]:
    """The questions without a right note among the first `most`."""
    late = [(each, rank) for each, rank in zip(chosen, ranks(chosen, weights), strict=True) if rank >= most]
    alone = np.eye(len(SIGNALS))[weights > 0]
    names = [name for name, weight in zip(SIGNALS, weights, strict=True) if weight > 0]
    return [
        Missed(each.text, rank, {name: ranks([each], one)[0] for name, one in zip(names, alone, strict=True)})
        for each, rank in late
    ]


def _alone() -> list[list[Sample]]:
    """The conversations, each in a vault of its own."""
    return [
        samples(f"c{number}", MemoryVault(dict(each.notes)), _asked(each)) for number, each in enumerate(locomo.read())
    ]


def _asked(conversation: locomo.Conversation) -> list[tuple[str, frozenset[str]]]:
    return [(one.text, frozenset(path for path, _ in one.evidence)) for one in conversation.questions]


def _read() -> dict[str, list[Sample]]:
    found = {f"c{number}": each for number, each in enumerate(_alone())}
    whole = locomo.together(locomo.read())
    found["together"] = samples("together", MemoryVault(dict(whole.notes)), _asked(whole))
    for language in ("en", "zh"):
        questions = retrieval.read(Path(__file__).parents[1] / "index" / f"questions_{language}.jsonl")
        asked = [(one.query, one.relevant) for one in questions]
        found[language] = samples(language, MemoryVault.of_folder(VAULTS / language), asked)
    return found


def main() -> None:
    """Print the table: now, left out, and the fitted weights."""
    found = _read()
    alone = [group for group in found if group.startswith("c")]
    current = _shipped()
    everything = fit([each for group in alone for each in found[group]])
    left_out = {group: fit([each for other in alone if other != group for each in found[other]]) for group in alone}
    sizes = np.array([len(found[group]) for group in alone])
    honest = np.array([hits(found[group], left_out[group]) for group in alone])
    sys.stdout.write(f"left out, one vault each: {(honest * sizes[:, None]).sum(0) / sizes.sum()}\n")
    sys.stdout.write(f"    from {honest.min(axis=0)} to {honest.max(axis=0)}\n")
    for name, weights in (("now", current), ("fitted on all", everything)):
        rounded = {signal: round(float(value), 2) for signal, value in zip(SIGNALS, weights, strict=True)}
        sys.stdout.write(f"{name}: {rounded}\n")
        each_alone = [each for group in alone for each in found[group]]
        for group, chosen in (("one vault each", each_alone), *((g, found[g]) for g in ("together", "en", "zh"))):
            sys.stdout.write(f"    {group:16} {hits(chosen, weights)}\n")


def list_missed() -> None:
    """Print what is missed, with the rank by each signal alone, and how much of it no signal finds."""
    found = [each for group in _alone() for each in group]
    late = missed(found, _shipped())
    for each in late:
        signals = " ".join(f"{name} {rank}" for name, rank in each.alone.items())
        sys.stdout.write(f"{each.rank:3} {each.text}\n      {signals}\n")
    by_none = sum(min(each.alone.values()) >= 5 for each in late)
    after_ten = sum(each.rank >= 10 for each in late)
    sys.stdout.write(f"{len(found)} questions: {len(late)} not among 5, {after_ten} not among 10, ")
    sys.stdout.write(f"{by_none} not among 5 by any signal alone\n")


def _shipped() -> NDArray[np.float64]:
    now = keyword.Weights().note
    return np.array([getattr(now, each.name) for each in fields(SignalWeights)])


if __name__ == "__main__":
    list_missed() if "missed" in sys.argv[1:] else main()
