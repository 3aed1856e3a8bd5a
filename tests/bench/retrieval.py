"""Hit, recall and rank of the right notes for a file of questions, beside keyword mode, plain BM25 and `grep`.

`keyword mode` is our search without vectors, all other signals kept; `plain BM25` is the keyword engine's own ranking.

A fixture has one `{"query": …, "relevant": [path, …]}` a line.

    python -m tests.bench.retrieval FOLDER FIXTURE.jsonl [whoosh|tantivy]
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.clock import SystemClock
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.keyword import Engine
from tests.bench.plain import plain_notes
from tests.bench.vault import MemoryVault

DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the notes that answer it."""

    query: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares from 0 to 1, at 1, 5 and 10; the reciprocal rank of the first right note; milliseconds a question."""

    hit: tuple[float, ...]
    recall: tuple[float, ...]
    mrr: float
    milliseconds: float
    missed: tuple[str, ...] = ()
    """Questions without a right note among the first five."""


def read(path: Path) -> list[Question]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return [Question(row["query"], frozenset(row["relevant"])) for row in rows]


def measure(questions: Sequence[Question], search: Callable[[str], Sequence[str]]) -> Figures:
    """The figures of any search that gives the paths of ten notes, the best first."""
    clock = SystemClock()
    rows = []
    missed = []
    for question in questions:
        begin = clock.monotonic()
        found = list(search(question.query))[:10]
        taken = (clock.monotonic() - begin) * 1000
        ranks = [at for at, path in enumerate(found, start=1) if path in question.relevant]
        hits = [float(any(rank <= k for rank in ranks)) for k in DEPTHS]
        recalls = [sum(rank <= k for rank in ranks) / len(question.relevant) for k in DEPTHS]
        rows.append((*hits, *recalls, 1 / ranks[0] if ranks else 0.0, taken))
        if not hits[1]:
            missed.append(question.query)
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return Figures(tuple(means[:3]), tuple(means[3:6]), means[6], means[7], tuple(missed))


def grep(vault: MemoryVault) -> Callable[[str], list[str]]:
    """What a person does with `grep -ric`: the notes with the most lines that have one of the question's words."""
    texts = {path: data.decode("utf-8", "replace").casefold().split("\n") for path, data in vault.notes.items()}

    def search(query: str) -> list[str]:
        words = [re.escape(word) for word in re.findall(r"\w{3,}|[^\W\x00-\x7f]{2}", query.casefold())]
        pattern = re.compile("|".join(words) or "(?!)")
        counts = {path: sum(1 for line in lines if pattern.search(line)) for path, lines in texts.items()}
        return [path for path in sorted(counts, key=lambda path: (-counts[path], path)) if counts[path]]

    return search


def compare(root: Path, fixture: Path, engine: Engine, chosen: EmbedderChoice) -> dict[str, Figures]:
    """Hybrid search, keyword mode, plain BM25, and `grep`, over the notes of a folder."""
    questions, vault = read(fixture), MemoryVault.of_folder(root)
    found = {}
    for name, model in (("hybrid", chosen), ("keyword mode", EmbedderChoice(None))):
        with tempfile.TemporaryDirectory() as folder:
            searcher = vault.searcher(Path(folder), engine, model)
            found[name] = measure(questions, lambda query, ask=searcher: [hit.path for hit in ask.search(query).hits])  # type: ignore[misc]
            if model.embedder is None:
                with plain_notes(searcher.files, engine) as plain:
                    found["plain BM25"] = measure(questions, lambda query, ask=plain: ask(query, 10))  # type: ignore[misc]
            searcher.close()
    return found | {"grep": measure(questions, grep(vault))}


if __name__ == "__main__":
    folder, fixture, *rest = sys.argv[1:]
    for name, shown in compare(
        Path(folder), Path(fixture), "tantivy" if "tantivy" in rest else "whoosh", choose_embedder()
    ).items():
        hits = "  ".join(f"@{k} {value:.3f}" for k, value in zip(DEPTHS, shown.hit, strict=True))
        sys.stdout.write(f"{name:14} hit {hits}  mrr {shown.mrr:.3f}  {shown.milliseconds:.1f} ms\n")
        for query in shown.missed if name == "hybrid" else ():
            sys.stdout.write(f"    missed: {query}\n")
