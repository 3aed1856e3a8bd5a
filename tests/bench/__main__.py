"""Measurements of the program itself, on vaults that they make; exit 1 when a figure does not keep its limit.

    python -m tests.bench agent [--notes 10000] [--rounds 5]
    python -m tests.bench scale [--notes 100000] [--files 10000] [--idle 60] [--saves 20]
    python -m tests.bench scale --passages 1000000
    python -m tests.bench vectors [--chunks 1000000]
    python -m tests.bench writes [--notes 1000 10000 100000] [--rounds 20]
    python -m tests.bench upkeep [--entries 10000]
    python -m tests.bench soak [--hours 8] [--rate 20] [--notes 1000] [--keep FOLDER]

`agent` times a run's beginning and its steps, without the model and the commits. `scale` indexes very many notes,
searches in them and times commands and saves there, and watches a daemon during a checkout of every file and while it
has nothing to do; both take `--engine auto|whoosh|tantivy`. With `--passages` it measures search in long notes of so
many passages instead, with a daemon beside it. `vectors` searches by meaning alone in very many passages. `writes`
makes small changes in vaults of several sizes, and `upkeep` plans the daily upkeep of many entries. `soak` is a
person's day beside a daemon whose clock runs fast: 8 hours at 20 are 24 minutes; all is kept in a folder that does not
exist yet, if it is named. All take `--json`, for one document.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.benches.figures import Measure, all_reached
from agent.index.keyword import engine_for
from tests.bench import passages, scale, steps, upkeep, vectors, writes
from tests.bench.soak import person

ENGINES = ("auto", "whoosh", "tantivy")


def main(arguments: Sequence[str]) -> int:
    """Run one measurement and print its figures; 0 when all keep their limits, else 1."""
    asked = _parser().parse_args(arguments)
    engine = engine_for(getattr(asked, "engine", "auto"))
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        place = Path(folder)
        if asked.what == "agent":
            about = {"notes": asked.notes, "engine": engine}
            measures = steps.measure(place, asked.notes, engine, asked.rounds, _note)
        elif asked.what == "writes":
            about = {"notes": asked.notes}
            measures = writes.measure(place, asked.notes, asked.rounds, _note)
        elif asked.what == "upkeep":
            about = {"entries": asked.entries}
            measures = upkeep.measure(place, asked.entries, _note)
        elif asked.what == "soak":
            about = {"hours": asked.hours, "rate": asked.rate, "notes": asked.notes}
            measures = person.measure(asked.keep or place, asked.hours, asked.rate, asked.notes, _note)
        elif asked.what == "vectors":
            about = {"chunks": asked.chunks}
            measures = vectors.measure(place, asked.chunks, _note)
        elif asked.passages:
            about = {"passages": asked.passages, "engine": engine}
            measures = passages.measure(place, asked.passages, engine, asked.saves, _note)
        else:
            about = {"notes": asked.notes, "files": asked.files, "engine": engine}
            measures = scale.measure_daemon(place / "daemon", asked.files, asked.idle, engine, _note)
            measures += scale.measure_search(place / "search", asked.notes, engine, asked.saves, _note)
    sys.stdout.write(_shown(about, measures, asked.json) + "\n")
    return 0 if all_reached(measures) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.bench")
    kinds = parser.add_subparsers(dest="what", required=True)
    agent, large, changes, daily = (kinds.add_parser(name) for name in ("agent", "scale", "writes", "upkeep"))
    agent.add_argument("--notes", type=_at_least(steps.FEWEST), default=10_000)
    agent.add_argument("--rounds", type=_at_least(1), default=5)
    large.add_argument("--notes", type=_at_least(1), default=100_000)
    large.add_argument(
        "--passages", type=_at_least(passages.PASSAGES_OF_A_NOTE), help="measure so many passages instead"
    )
    large.add_argument("--saves", type=_at_least(1), default=20, help="beside a daemon")
    large.add_argument("--files", type=_at_least(1), default=10_000)
    large.add_argument("--idle", type=float, default=60.0, help="seconds that the daemon has nothing to do")
    changes.add_argument("--notes", type=_at_least(1), nargs="+", default=[1_000, 10_000, 100_000])
    changes.add_argument("--rounds", type=_at_least(1), default=20)
    daily.add_argument("--entries", type=_at_least(1), default=10_000)
    meaning, long = kinds.add_parser("vectors"), kinds.add_parser("soak")
    meaning.add_argument("--chunks", type=_at_least(100), default=1_000_000)
    long.add_argument("--hours", type=float, default=8.0)
    long.add_argument("--rate", type=float, default=20.0)
    long.add_argument("--notes", type=_at_least(20), default=1_000)
    long.add_argument("--keep", type=Path, help="a new folder, where the vault and the log stay")
    for each in (agent, large, changes, daily, meaning, long):
        if each in (agent, large):
            each.add_argument("--engine", choices=ENGINES, default="auto")
        each.add_argument("--json", action="store_true")
    return parser


def _at_least(least: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is not in the range x>={least}")
        return int(text)

    return count


def _shown(about: dict[str, object], measures: Sequence[Measure], as_json: bool) -> str:
    if as_json:
        return json.dumps({**about, "figures": [each.document() for each in measures], "ok": all_reached(measures)})
    head = ", ".join(f"{name} {value}" for name, value in about.items())
    return "\n".join([head, *(each.line() for each in measures)])


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
