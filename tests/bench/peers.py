"""Other programs on the same notes and questions, in one run: how fast they index and search, and what they find.

Each works from its command line, as a person meets it, on its own copy of the notes with a home folder of its own, so
none can change or warm anything for another. What is not installed is left out, and the table says so.

    python -m tests.bench.peers FOLDER FIXTURE.jsonl [QUESTIONS]

qmd (keywords: `qmd search`) and basic-memory are found on PATH.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from agent.clock import SystemClock
from tests.bench.retrieval import DEPTHS, Figures, Question, measure, read

PATIENCE = 300.0
"""Seconds that one command of a peer may take."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A peer's own copy of the notes, and a home in which nothing else has been."""

    notes: Path
    home: Path

    def run(self, *command: str, ok: tuple[int, ...] = (0,), given: str = "") -> str:
        """Standard output; raises `CalledProcessError` with what the program said."""
        environ = {**os.environ, "HOME": str(self.home), "VAULT_AGENT_HOME": str(self.home)}
        done = subprocess.run(
            command, cwd=self.notes, env=environ, input=given, capture_output=True, text=True, timeout=PATIENCE
        )
        if done.returncode not in ok:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done.stdout


@dataclass(frozen=True, slots=True)
class Peer:
    """A program: what it is called, how it indexes, and the paths that one cold search gives, the best first."""

    name: str
    program: str
    index: Callable[[Ground], object]
    search: Callable[[Ground, str], list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a peer; `problem` instead when it could not be."""

    name: str
    seconds_to_index: float = 0.0
    found: Figures | None = None
    median_ms: float = 0.0
    problem: str = ""

    def line(self) -> str:
        if self.found is None:
            return f"| {self.name} | {self.problem} | | | |"
        hits = " / ".join(f"{share:.2f}" for share in self.found.hit)
        return (
            f"| {self.name} | {self.seconds_to_index:.1f} s | {self.median_ms:.0f} ms | {hits} | {self.found.mrr:.2f} |"
        )


def _vault_agent(ground: Ground, *arguments: str) -> str:
    return ground.run(sys.executable, "-m", "agent", *arguments)


def _index_ours(ground: Ground) -> None:
    if not (ground.notes / "vault-agent.yaml").exists():
        (ground.notes / "vault-agent.yaml").write_text("", "utf-8")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "notes"]):
        ground.run("git", "-c", "user.name=Bench", "-c", "user.email=bench@localhost", *command)
    _vault_agent(ground, "reindex")


def _search_ours(ground: Ground, query: str) -> list[str]:
    return [hit["path"] for hit in json.loads(_vault_agent(ground, "search", "--json", "--", query))["hits"]]


def _grep(ground: Ground, query: str) -> list[str]:
    """`grep -ric` with the words of the question; the note with the most lines first."""
    words = [word for word in re.findall(r"\w+", query) if len(word) > 2 or not word.isascii()]
    options = [option for word in words for option in ("-e", word)]
    lines = ground.run("grep", "-ricF", "--include=*.md", *options, ".", ok=(0, 1)).splitlines() if words else []
    counts = {path.removeprefix("./"): int(count) for path, _, count in (line.rpartition(":") for line in lines)}
    return [path for path in sorted(counts, key=lambda path: (-counts[path], path)) if counts[path]]


def _index_qmd(ground: Ground) -> None:
    ground.run("qmd", "collection", "add", str(ground.notes), "--name", "bench")


def _search_qmd(ground: Ground, query: str) -> list[str]:
    out = ground.run("qmd", "search", query, "-n", "10", "--json")
    found = json.loads(out) if out.lstrip().startswith("[") else []
    return [hit["file"].removeprefix("qmd://bench/") for hit in found]


def _index_basic_memory(ground: Ground) -> None:
    ground.run("basic-memory", "project", "add", "bench", str(ground.notes), "--default")
    ground.run("basic-memory", "reset", "--reindex", given="y\n")


def _search_basic_memory(ground: Ground, query: str) -> list[str]:
    out = ground.run("basic-memory", "tool", "search-notes", query)
    found = json.loads(out[out.index("{") :])["results"] if "{" in out else []
    return list(dict.fromkeys(hit["file_path"] for hit in found))


PEERS = (
    Peer("vault-agent", sys.executable, _index_ours, _search_ours),
    Peer("grep -ri", "grep", lambda _: None, _grep),
    Peer("qmd, keywords", "qmd", _index_qmd, _search_qmd),
    Peer("Basic Memory", "basic-memory", _index_basic_memory, _search_basic_memory),
)


def compare(root: Path, questions: Sequence[Question], peers: Sequence[Peer] = PEERS) -> list[Row]:
    """A row for each peer, one after the other."""
    return [_row(root, questions, peer) for peer in peers]


def _row(root: Path, questions: Sequence[Question], peer: Peer) -> Row:
    if shutil.which(peer.program) is None:
        return Row(peer.name, problem="not installed here")
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        ground = Ground(Path(folder) / "notes", Path(folder) / "home")
        shutil.copytree(root, ground.notes, ignore=shutil.ignore_patterns(".git"))
        ground.home.mkdir()
        times: list[float] = []

        def timed(query: str) -> list[str]:
            begin = clock.monotonic()
            found = peer.search(ground, query)
            times.append((clock.monotonic() - begin) * 1000)
            return found

        try:
            begin = clock.monotonic()
            peer.index(ground)
            indexed = clock.monotonic() - begin
            peer.search(ground, questions[0].query)
            figures = measure(questions, timed)
        except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            said = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1:]
            return Row(peer.name, problem=f"failed: {' '.join(said)[:120]}")
    return Row(peer.name, indexed, figures, median(times))


def table(rows: Sequence[Row], questions: int) -> str:
    """Markdown."""
    depths = ", ".join(str(depth) for depth in DEPTHS)
    head = [f"| {questions} questions | first index | search from cold, median | hit at {depths} | MRR |"]
    return "\n".join([*head, "|---|---|---|---|---|", *(row.line() for row in rows)])


if __name__ == "__main__":
    folder, fixture, *rest = sys.argv[1:]
    asked = read(Path(fixture))
    step = max(1, len(asked) // int(rest[0])) if rest else 1
    chosen = asked[::step]
    sys.stdout.write(table(compare(Path(folder), chosen), len(chosen)) + "\n")
