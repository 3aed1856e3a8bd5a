"""The quality of search in any vault, for a file of questions with their relevant notes, beside simpler searches.

`keyword mode` is the search without vectors, with all other signals; `grep` counts words.

A fixture has one `{"query": "...", "relevant": ["path", ...]}` per line. The vault is only read: the index for the
measurement is built in a separate folder.
"""

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from agent.benches.figures import Figure
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.index.embedder import EmbedderChoice
from agent.index.files import IndexFiles
from agent.index.keyword import Weights
from agent.index.search import Searcher
from agent.texts import joined
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

Search = Callable[[str], Sequence[str]]
"""The notes for a question, by path, the best first."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{3,}")


@dataclass(frozen=True, slots=True)
class RetrievalCase:
    """A question and its relevant notes."""

    query: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares from 0 to 1, by depth; `mrr` is the mean reciprocal rank of the first relevant note; `missed` are the
    questions without a hit at the largest depth.

    `times` are milliseconds per question, in one warm process.
    """

    name: str
    hit: dict[int, float]
    recall: dict[int, float]
    mrr: float
    times: Figure
    missed: tuple[str, ...]

    def document(self) -> dict[str, object]:
        mean = fmean(self.times.runs)
        took = {"mean_ms": mean, "p95_ms": self.times.p95}
        return {"name": self.name, "hit": self.hit, "recall": self.recall, "mrr": self.mrr, **took}

    def line(self) -> str:
        hits = "  ".join(f"@{k} {share:.3f}" for k, share in self.hit.items())
        recalls = "  ".join(f"@{k} {share:.3f}" for k, share in self.recall.items())
        took = f"mean {fmean(self.times.runs):.1f} ms  p95 {self.times.p95:.1f} ms"
        return f"{self.name:13} hit {hits}   recall {recalls}   mrr {self.mrr:.3f}   {took}"


def load_cases(path: Path) -> list[RetrievalCase]:
    """The questions of a fixture; raises `UserError` that names the line."""
    rows = [(at, line) for at, line in enumerate(path.read_text("utf-8").splitlines(), 1) if line.strip()]
    if not rows:
        raise UserError(
            "{path} has no questions", hint='one a line: {{"query": "...", "relevant": ["path.md"]}}', path=path
        )
    return [_question(line, f"{path}:{at}") for at, line in rows]


def _question(line: str, where: str) -> RetrievalCase:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UserError("{where}: not JSON: {error}", where=where, error=error) from error
    query, relevant = (row.get("query"), row.get("relevant")) if isinstance(row, dict) else (None, None)
    if not isinstance(query, str) or not isinstance(relevant, list) or not relevant:
        raise UserError("{where}: a question needs a query and the relevant paths, at least one", where=where)
    return RetrievalCase(query, frozenset(str(each) for each in relevant))


def measure(
    workspace: Workspace, folder: Path, questions: Sequence[RetrievalCase], depths: Sequence[int]
) -> list[Quality]:
    """The quality of each kind of search; raises `UserError` when a question's note is not in the vault."""
    index = replace(open_index(workspace), files=IndexFiles(folder / "index"))
    with closing(index):
        listed = sorted(index.listed())
        _check(questions, frozenset(listed))
        index.refresh()
        words = Searcher(index.files, index.engine, EmbedderChoice(None, "keyword mode was asked for"), Weights())
        most = max(depths)
        with closing(words):
            searches: list[tuple[str, Search]] = [
                ("hybrid", lambda query: [hit.path for hit in index.search(query, most).hits]),
                ("keyword mode", lambda query: [hit.path for hit in words.search(query, most).hits]),
                ("grep", lambda query: grep(workspace.vault.place.root, listed, query)),
            ]
            if index.chosen.embedder is None:
                searches = searches[1:]
            return [assess(name, search, questions, depths) for name, search in searches]


def assess(name: str, search: Search, questions: Sequence[RetrievalCase], depths: Sequence[int]) -> Quality:
    """The quality and times of any search."""
    search(questions[0].query)
    ranks: list[list[int]] = []
    times = []
    for question in questions:
        started = time.perf_counter()
        found = search(question.query)[: max(depths)]
        times.append((time.perf_counter() - started) * 1000)
        ranks.append([at for at, path in enumerate(found, 1) if path in question.relevant])
    answered = list(zip(ranks, questions, strict=True))
    hit = {k: fmean(any(rank <= k for rank in each) for each in ranks) for k in depths}
    recall = {k: fmean(sum(rank <= k for rank in each) / len(case.relevant) for each, case in answered) for k in depths}
    mrr = fmean(1 / each[0] if each else 0.0 for each in ranks)
    missed = tuple(case.query for each, case in answered if not each)
    return Quality(name, hit, recall, mrr, Figure(name, tuple(times)), missed)


def grep(root: Path, paths: Sequence[str], query: str) -> list[str]:
    """The notes with the most words of the question, then with the most occurrences, from one pass through all files.

    Equal to `grep -ri` with the words of the question: words of two letters or less are left out, and Chinese, Japanese
    and Korean runs are cut into pairs.
    """
    words = sorted({word for run in _WORD.findall(query.casefold()) for word in _pairs(run)})
    found = []
    for path in paths:
        try:
            text = (root / path).read_bytes().decode("utf-8", "replace").casefold()
        except OSError:
            continue
        counts = [text.count(word) for word in words if word in text]
        if counts:
            found.append((-len(counts), -sum(counts), path))
    return [path for *_, path in sorted(found)]


def _pairs(run: str) -> list[str]:
    if run[0] < "\u3040" or len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _check(questions: Sequence[RetrievalCase], listed: frozenset[str]) -> None:
    absent = sorted({path for question in questions for path in question.relevant} - listed)
    if absent:
        more = f" and {len(absent) - 3} more" if absent[3:] else ""
        raise UserError(
            "the vault has no {absent}{more}",
            hint="the fixture's paths count from the vault's root",
            absent=joined(absent[:3], ", "),
            more=more,
        )
