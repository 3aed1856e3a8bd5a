"""The measurements that give the rows: each returns its values by key, at full size or at a small one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from agent.benches import history, speed, sync, vaults
from agent.benches.figures import Measure
from agent.index.embedder import choose_embedder
from agent.index.keyword import Engine, Weights, engine_for
from tests.bench import locomo, passages, retrieval, scale, steps, upkeep, vectors, writes

Say = Callable[[str], None]
Values = Mapping[str, float]
ROOT = Path(__file__).parents[3]
HELP = ROOT.parent / "shared" / "data" / "vaults" / "obsidian-help"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `chunks` divides the number of passages."""

    notes: int = 10_000
    many: int = 100_000
    writes: tuple[int, ...] = (1_000, 100_000)
    entries: int = 10_000
    files: int = 10_000
    idle: float = 60.0
    rounds: int = 15
    chunks: int = 1
    commits: int = 100_000
    passages: int = 1_000_000


QUICK = Sizes(30, 40, (5, 60), 20, 20, 0.5, 2, 30, 120, 300)
"""For seeing that all works; the values say nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """One measurement in a new folder; `command` gives its values again, and `lacks` says what it needs and has not."""

    command: str
    run: Callable[[Path, Sizes, Say], Values]
    lacks: Callable[[], str] = lambda: ""


def _commit(folder: Path, sizes: Sizes, say: Say) -> Values:
    ours, theirs = vaults.measure_commits(folder, sizes.notes, 3 * sizes.rounds)
    return {"ratio": ours.median / theirs.median, "ours": ours.median}


def _start(folder: Path, sizes: Sizes, say: Say) -> Values:
    figures = speed.measure_starts(folder, sizes.notes, sizes.rounds)
    return {each.name.strip("-"): each.median for each in figures}


def _writes(folder: Path, sizes: Sizes, say: Say) -> Values:
    *found, ratio = (each.value for each in writes.measure(folder, sizes.writes, sizes.rounds, say))
    _, written, processes, _ = found[-4:]
    return {"ratio": ratio, "written": written, "processes": processes}


def _upkeep(folder: Path, sizes: Sizes, say: Say) -> Values:
    return _named(("first", "next"), upkeep.measure(folder, sizes.entries, say))


def _agent(folder: Path, sizes: Sizes, say: Say) -> Values:
    return _named(("median", "p95"), steps.measure(folder, sizes.notes, engine_for("auto"), min(sizes.rounds, 5), say))


def _speed(engine: Engine, folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("first", "", "search", "cold", "", "", "saved")
    return _named(names, speed.measure(folder, sizes.notes, engine, sizes.rounds, say))


def _scale(folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("first", "first-memory", "", "warm", "search", "status", "remember", "", "saved")
    return _named(names, scale.measure_search(folder, sizes.many, engine_for("auto"), sizes.rounds, say))


def _checkout(folder: Path, sizes: Sizes, say: Say) -> Values:
    found = scale.measure_daemon(folder, sizes.files, sizes.idle, engine_for("auto"), say)
    return _named(("", "indexed", "rest", "growth", "", "commits", "share"), found)


def _vectors(chunks: int, folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("", "opened", "disk", "", "median", "p95", "saved", "", "recall")
    return _named(names, vectors.measure(folder, chunks // sizes.chunks, say))


def _passages(folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("first", "first-processor", "first-memory", "", "search", "rest", "after", "asked", "", "saved")
    return _named(names, passages.measure(folder, sizes.passages, engine_for("auto"), sizes.rounds, say))


def _sync(folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("nothing", "nothing-git", "sent", "sent-git", "received", "received-git", "many", "many-git", "merge",
             "both", "both-git")  # fmt: skip
    return _named(names, sync.measure(folder, sizes.notes, min(sizes.rounds, 5), say))


def _history(folder: Path, sizes: Sizes, say: Say) -> Values:
    names = ("", "first-log", "status", "log", "log-note", "log-recent", "log-old", "undo-recent", "undo-old")
    return _named(names, history.measure(sizes.commits, sizes.notes, min(sizes.rounds, 5), say))


def _locomo(folder: Path, sizes: Sizes, say: Say) -> Values:
    talks = locomo.read()[: 1 if sizes == QUICK else None]
    if sizes == QUICK:
        talks = [locomo.Conversation(each.notes, each.questions[:5]) for each in talks]
    chosen, weights = choose_embedder(), Weights()
    notes, turns = locomo.measure(talks, "whoosh", chosen, weights)
    whole, _ = locomo.measure([locomo.together(talks)], "whoosh", chosen, weights)
    return {
        "at-5": notes.at_5,
        "at-10": notes.at_10,
        "together-5": whole.at_5,
        "together-10": whole.at_10,
        "turns-5": turns.at_5,
        "turns-10": turns.at_10,
    }


def _help(folder: Path, sizes: Sizes, say: Say) -> Values:
    found = dict[str, float]()
    for language in ("en", "zh"):
        questions = ROOT / "tests" / "index" / f"questions_{language}.jsonl"
        shares = retrieval.compare(HELP / language, questions, "whoosh", choose_embedder())
        found[language] = shares["hybrid"].hit[1]
    return found


def _named(names: Sequence[str], measures: Sequence[Measure]) -> Values:
    """The values by key, in the order in which they were measured; without those that have no key."""
    return {name: each.value for name, each in zip(names, measures, strict=False) if name}


def _needs(path: Path) -> Callable[[], str]:
    return lambda: "" if path.exists() else f"{path.name} is not beside the project"


def _needs_tantivy() -> str:
    return "" if find_spec("tantivy") else "tantivy is not installed"


PARTS: Mapping[str, Part] = {
    "start": Part("vault-agent bench start", _start),
    "commit": Part("vault-agent bench commit", _commit),
    "writes": Part("python -m tests.bench writes", _writes),
    "upkeep": Part("python -m tests.bench upkeep", _upkeep),
    "agent": Part("python -m tests.bench agent", _agent),
    "speed-tantivy": Part("vault-agent bench speed", partial(_speed, "tantivy"), _needs_tantivy),
    "speed-whoosh": Part("vault-agent bench speed --engine whoosh", partial(_speed, "whoosh")),
    "sync": Part("vault-agent bench sync", _sync),
    "help": Part("python -m tests.bench.retrieval FOLDER FIXTURE.jsonl", _help, _needs(HELP)),
    "locomo": Part("python -m tests.bench.locomo dev.json", _locomo, _needs(locomo.DATA)),
    "vectors-100000": Part("python -m tests.bench vectors --chunks 100000", partial(_vectors, 100_000)),
    "checkout": Part("python -m tests.bench scale", _checkout),
    "history": Part("vault-agent bench history", _history),
    "scale": Part("python -m tests.bench scale", _scale),
    "vectors-1000000": Part("python -m tests.bench vectors", partial(_vectors, 1_000_000)),
    "passages": Part("python -m tests.bench scale --passages 1000000", _passages),
}
"""In the order in which they are measured: the quick ones first."""
