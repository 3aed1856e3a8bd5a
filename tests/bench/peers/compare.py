"""The rows of the comparison, one program after the other, and the table that is made of them."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from agent.clock import SystemClock
from tests.bench.peers.ground import Ground, Usage, memory_mb, used
from tests.bench.peers.programs import PEERS, Peer, Served
from tests.bench.retrieval import DEPTHS, Figures, Question, measure

FOUND_SECONDS = 60.0
"""So long is waited for a saved word to be found."""
SAVES = 5
_FAILURES = (subprocess.SubprocessError, OSError, EOFError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a peer; `problem` instead when it could not be, or `unserved` for its server alone.

    `cold_ms`, `warm_ms`, `found_ms`: medians of a search by a new process, of one by its server, and of a save until
    the server finds the new word. `served_mb`: the memory of the server then.
    """

    name: str
    indexed: Usage | None = None
    found: Figures | None = None
    cold_ms: float = 0.0
    warm_ms: float | None = None
    found_ms: float | None = None
    served_mb: float | None = None
    disk_mb: float = 0.0
    problem: str = ""
    unserved: str = ""

    def line(self) -> str:
        """The row in Markdown."""
        if self.found is None or self.indexed is None:
            return f"| {self.name} | {self.problem} |" + " |" * 8
        hits = " / ".join(f"{share:.2f}" for share in self.found.hit)
        cells = [
            f"{self.indexed.wall:.1f} / {self.indexed.cpu:.1f} s",
            f"{self.cold_ms:.0f} ms",
            _shown(self.warm_ms, "ms"),
            _shown(self.found_ms, "ms"),
            f"{self.indexed.peak_mb:.0f} MB",
            _shown(self.served_mb, "MB"),
            f"{self.disk_mb:.0f} MB",
            hits,
            f"{self.found.mrr:.2f}",
        ]
        return f"| {self.name} | {' | '.join(cells)} |" + (f" {self.unserved}" if self.unserved else "")


def _shown(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def compare(
    root: Path,
    questions: Sequence[Question],
    peers: Sequence[Peer] = PEERS,
    environ: dict[str, str] | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> list[Row]:
    """A row for each peer, one after the other."""
    rows = []
    for peer in peers:
        say(peer.name)
        rows.append(_row(root, questions, peer, environ or {}))
    return rows


def _row(root: Path, questions: Sequence[Question], peer: Peer, environ: dict[str, str]) -> Row:
    if shutil.which(peer.program) is None:
        return Row(peer.name, problem="not installed here")
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        ground = Ground(Path(folder) / "notes", Path(folder) / "home", {**environ, **peer.environ})
        shutil.copytree(root, ground.notes, ignore=shutil.ignore_patterns(".git"))
        ground.home.mkdir()
        try:
            indexed = used(ground, lambda: peer.index(ground))
            peer.search(ground, questions[0].query)
            found, cold_ms = _measured(questions, lambda query: peer.search(ground, query))
        except _FAILURES as error:
            return Row(peer.name, problem=f"failed: {_reason(error)}")
        disk = ground.disk_mb()
        warm_ms = found_ms = served_mb = None
        unserved = ""
        try:
            if peer.serve is not None:
                with peer.serve(ground) as served:
                    served.search(questions[0].query)
                    warm_ms = _measured(questions, served.search)[1]
                    served_mb = memory_mb(served.process) if served.process else None
                    found_ms = _saved_and_found(ground, served, [min(each.relevant) for each in questions[:SAVES]])
        except _FAILURES as error:
            unserved = f"its server: {_reason(error)}"
    return Row(peer.name, indexed, found, cold_ms, warm_ms, found_ms, served_mb, disk, unserved=unserved)


def _measured(questions: Sequence[Question], search: Callable[[str], list[str]]) -> tuple[Figures, float]:
    """The quality of all answers, and the median of their milliseconds."""
    clock, times = SystemClock(), list[float]()

    def timed(query: str) -> list[str]:
        begin = clock.monotonic()
        found = search(query)
        times.append((clock.monotonic() - begin) * 1000)
        return found

    return measure(questions, timed), median(times)


def _saved_and_found(ground: Ground, served: Served, paths: Sequence[str]) -> float:
    """Milliseconds from a save to the first search that finds the new word, the median; raises `TimeoutError`."""
    clock, times = SystemClock(), list[float]()
    for number, path in enumerate(paths):
        word = f"zyzzyva{'abcdefghij'[number]}"
        begin = clock.monotonic()
        with (ground.notes / path).open("a", encoding="utf-8") as file:
            file.write(f"\nThe {word} is new here.\n")
        served.after_save(path)
        while path not in served.search(word):
            if clock.monotonic() - begin > FOUND_SECONDS:
                raise TimeoutError(f"a saved word was not found within {FOUND_SECONDS:.0f} s")
            clock.sleep(0.02)
        times.append((clock.monotonic() - begin) * 1000)
    return median(times)


def _reason(error: Exception) -> str:
    lines = str(getattr(error, "stderr", "") or error or type(error).__name__).strip().splitlines()
    return " ".join(lines[-1:])[:120].replace("|", "/")


def table(rows: Sequence[Row], questions: int) -> str:
    """Markdown."""
    depths = ", ".join(map(str, DEPTHS))
    names = ["first index: clock / processors", "search, new process", "search, its server", "saved to found",
             "memory, indexing", "memory, serving", "disk", f"right note at {depths}", "MRR"]  # fmt: skip
    head = f"| {questions} questions | {' | '.join(names)} |"
    return "\n".join([head, "|---" * (len(names) + 1) + "|", *(row.line() for row in rows)])
