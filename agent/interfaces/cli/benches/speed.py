"""The times of the first index, of searches, of a search in a fresh process, and from a save to its first search
hit."""

import random
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.index.keyword import Engine
from agent.interfaces.cli.benches.figures import Figure, Measure, middle_and_tail, paired
from agent.interfaces.cli.benches.site import Site, daemon, site
from agent.interfaces.cli.benches.vaults import build_prose, questions
from agent.workspace.search_index import SearchIndex, open_index

QUERIES = 100
_FOUND_SECONDS = 30.0
_LOOK = 0.01


@dataclass(frozen=True, slots=True)
class SpeedLimits:
    """Limits of one engine at 10,000 notes: seconds for the first index, milliseconds for a search (p95)."""

    first: float
    search: float


LIMITS: dict[Engine, SpeedLimits] = {"whoosh": SpeedLimits(30.0, 40.0), "tantivy": SpeedLimits(8.0, 8.0)}
COLD_MS = 700.0
SAVED_MS = 1000.0


def measure(folder: Path, notes: int, engine: Engine, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """All figures of one engine; `rounds` is the number of saves measured."""
    say(f"writing {notes} notes")
    paths = build_prose(folder / "vault", notes)
    place = site(folder / "vault", folder / "home", engine)
    asked = questions(place.root, paths, QUERIES)
    limits = LIMITS[engine]
    with closing(open_index(place.workspace)) as index:
        say("first index")
        found = [Measure("first index, both legs", first_index(index), "s", limits.first)]
        say("searches")
        found += middle_and_tail(searches(index, asked), limits.search)
    say("searches from cold")
    found += _cold(place, asked, max(2, rounds // 2))
    say("saves, with a daemon at work")
    found += middle_and_tail(saves(place, paths, rounds), SAVED_MS)
    return found


def first_index(index: SearchIndex) -> float:
    """The seconds to build the index and load the model; raises `Permanent` if keywords or vectors are incomplete."""
    started = time.perf_counter()
    report = index.refresh()
    taken = time.perf_counter() - started
    if index.chosen.embedder is None or report.failed:
        reason = index.chosen.reason or f"{len(report.failed)} notes could not be indexed"
        raise Permanent("the index is not whole, so no figure is worth anything: {reason}", reason=reason)
    return taken


def searches(index: SearchIndex, asked: list[str]) -> Figure:
    """The milliseconds of each question, asked once, after ten that do not count."""
    for text in asked[:10]:
        index.search(text, 10)
    times = []
    for text in asked:
        started = time.perf_counter()
        answer = index.search(text, 10)
        times.append((time.perf_counter() - started) * 1000)
        if not answer.hits or answer.mode != "hybrid":
            raise Permanent("a search was not answered in full: {reason}", reason=answer.degraded or text)
    return Figure("search, warm", tuple(times))


def saves(place: Site, paths: list[str], rounds: int) -> Figure:
    """The milliseconds from a save to the first search that finds the new text; a daemon indexes it."""
    with daemon(place):
        return saves_beside(place, paths, rounds)


def saves_beside(place: Site, paths: list[str], rounds: int) -> Figure:
    """The same beside a daemon that is at work."""
    chance = random.Random(3)
    times = []
    with closing(open_index(place.workspace)) as index:
        index.search("warm up", 1)
        for number, path in enumerate(chance.choices(paths, k=rounds)):
            place.workspace.clock.sleep(chance.random())
            word = f"zyzzyva{number:04}"
            file = place.root / path
            data = file.read_text("utf-8") + f"\nA word that is nowhere else: {word}.\n"
            file.write_text(data, "utf-8")
            taken = place.wait_until(f"{word} to be found", _finds(index, word, path), _FOUND_SECONDS, _LOOK)
            times.append(taken * 1000)
    return Figure("save to found by search, daemon at work", tuple(times))


def _finds(index: SearchIndex, word: str, path: str) -> Callable[[], bool]:
    def found() -> bool:
        hits = index.search(word, 3).hits
        return any(hit.path == path and word in hit.passage for hit in hits)

    return found


def _cold(place: Site, asked: list[str], rounds: int) -> list[Measure]:
    """The search command in fresh processes, without a daemon; the median is judged, since a busy machine makes
    outliers."""

    def search(number: int) -> None:
        place.run("search", asked[number % len(asked)])

    (figure,) = paired(rounds, [("vault-agent search from cold", search)], warm=1)
    name = f"{figure.name}, median of {len(figure.runs)}"
    return [
        Measure(name, figure.median, "ms", COLD_MS),
        Measure(f"{figure.name}, p95", figure.p95, "ms"),
    ]
