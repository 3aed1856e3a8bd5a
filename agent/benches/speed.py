"""The times of the first index, of searches, of a search in a fresh process, from a save to its first search hit, and
of commands, each in a fresh process without a daemon.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.benches.figures import Figure, Measure, as_installed, middle_and_tail, paired
from agent.benches.vaults import build_prose, questions
from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.index.keyword import Engine, engine_for
from agent.vault.store import open_vault
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace, load_daemon_state, options

_READY_SECONDS = 600.0
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Site:
    """A vault: opened in this process (`app`), and the environment for commands on it in other processes."""

    workspace: Workspace
    environ: dict[str, str]

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent", "--vault", str(self.root), *arguments]

    def run(self, *arguments: str) -> None:
        """Run one command in a fresh process."""
        subprocess.run(self.command(*arguments), check=True, capture_output=True, env=self.environ)

    def wait_until(self, what: str, reached: Callable[[], bool], seconds: float, look: float = _LOOK_SECONDS) -> float:
        """Check every `look` seconds; returns the seconds it took, raises `Permanent` after `seconds`."""
        clock = self.workspace.clock
        started = clock.monotonic()
        while not reached():
            if clock.monotonic() - started > seconds:
                raise Permanent("gave up after {seconds:.0f} s waiting for {what}", seconds=seconds, what=what)
            clock.sleep(look)
        return clock.monotonic() - started


def site(root: Path, home: Path, engine: Engine) -> Site:
    """The existing vault at `root`, with its settings, cache and state in `home`."""
    environ = {**as_installed(), "VAULT_AGENT_HOME": str(home), "VAULT_AGENT_INDEX__KEYWORD": engine}
    loaded, places, clock = load_settings(root, environ=environ), directories(environ), SystemClock()
    vault = open_vault(root, places.state, clock, options(loaded.settings))
    return Site(Workspace(vault, loaded.settings, loaded, clock, places), environ)


@contextmanager
def daemon(place: Site) -> Iterator[int]:
    """Run a real daemon that has indexed everything; yields its process id, and ends that process."""
    command = place.command("daemon")
    running = subprocess.Popen(command, env=place.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        place.wait_until("the daemon to be ready", lambda: _is_ready(place.workspace, running), _READY_SECONDS)
        yield running.pid
    finally:
        running.terminate()
        try:
            running.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _is_ready(workspace: Workspace, running: subprocess.Popen[bytes]) -> bool:
    if running.poll() is not None:
        raise Permanent("the daemon ended at its start, exit code {returncode}", returncode=running.returncode)
    state = load_daemon_state(workspace) or {}
    if state.get("problem"):
        raise Permanent("the daemon is in trouble: {problem}", problem=state["problem"])
    return "files" in state and not state.get("waiting")


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
    return [Measure(name, figure.median, "ms", COLD_MS), Measure(f"{figure.name}, p95", figure.p95, "ms")]


LIMITS_MS = {"--help": 150.0, "get": 110.0, "status": 180.0, "search": 350.0, "remember": 500.0}
"""The limit of each command's median, at 10,000 notes."""


def measure_starts(folder: Path, notes: int, rounds: int) -> list[Figure]:
    """Cold starts of the commands that people wait for, in a vault of `notes` notes; named by the command."""
    paths = build_prose(folder / "vault", notes)
    place = site(folder / "vault", folder / "home", engine_for("auto"))
    with closing(open_index(place.workspace)) as index:
        index.refresh()
    return cold_commands(place, paths, rounds)


def cold_commands(place: Site, paths: list[str], rounds: int) -> list[Figure]:
    """The times of each command of `LIMITS_MS`; those that only look in turn, and then the one that writes."""
    asked = questions(place.root, paths, rounds + 2)
    looks = paired(
        rounds,
        [
            ("--help", lambda _: place.run("--help")),
            ("get", lambda number: place.run("get", paths[number % len(paths)])),
            ("status", lambda _: place.run("status")),
            ("search", lambda number: place.run("search", asked[number])),
        ],
    )
    return [*looks, *paired(rounds, [("remember", lambda number: place.run("remember", f"bench {number}"))])]
