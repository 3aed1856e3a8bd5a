"""Very many notes: their first index, searches, commands and saves; a checkout that changes every file, and a daemon
with nothing to do.

Memory and processor time of the daemon are read from `/proc`, so those figures are for Linux alone.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent.benches.figures import Measure, middle_and_tail
from agent.benches.speed import (
    QUERIES,
    SAVED_MS,
    Site,
    cold_commands,
    daemon,
    first_index,
    saves,
    searches,
    site,
)
from agent.benches.vaults import build_prose, git, questions, record
from agent.index.keyword import Engine
from agent.vault.history.commits import resolve
from agent.vault.listing import contents_at
from agent.workspace.search_index import open_index
from tests.bench.passages import run_measured
from tests.bench.process import Process, needs_proc

INDEX_SECONDS, INDEX_MB = 240.0, 1_500.0
SEARCH_MS = 15.0
"""At 100,000 notes with tantivy; Whoosh is told and not judged."""
COLD_MS = {"search": 700.0, "status": 500.0, "remember": 400.0}
"""At 100,000 notes."""
CHECKOUT_SECONDS = 30.0
REST_MB, CHECKOUT_MB = 120.0, 150.0
IDLE_SHARE = 0.1
_GIVE_UP = 900.0
_LOOK = 0.2


def measure_search(folder: Path, notes: int, engine: Engine, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """The first index of `notes` notes, searches in them, commands without a daemon, and `rounds` saves beside one."""
    needs_proc()
    say(f"writing {notes} notes")
    paths = build_prose(folder / "vault", notes)
    place = site(folder / "vault", folder / "home", engine)
    say("first index")
    used = run_measured(place.command("reindex"), place.environ)
    say("searches")
    with closing(open_index(place.workspace)) as index:
        figure = searches(index, questions(place.root, paths, QUERIES))
    say("commands")
    cold = {each.name: each.median for each in cold_commands(place, paths, rounds)}
    say("saves, with a daemon at work")
    return [
        Measure(f"{notes} notes: first index, both legs", used.seconds, "s", INDEX_SECONDS),
        Measure("… most memory of its process", used.memory, "MB", INDEX_MB),
        *middle_and_tail(figure, SEARCH_MS if engine == "tantivy" else None),
        *(Measure(f"vault-agent {name}, from cold", cold[name], "ms", limit) for name, limit in COLD_MS.items()),
        *middle_and_tail(saves(place, paths, rounds), SAVED_MS),
    ]


def measure_daemon(folder: Path, files: int, idle: float, engine: Engine, say: Callable[[str], None]) -> list[Measure]:
    """A daemon on `files` notes: a checkout that changes them all, then `idle` seconds of nothing."""
    needs_proc()
    say(f"writing {files} notes, twice")
    paths = build_prose(folder / "vault", files)
    place = site(folder / "vault", folder / "home", engine)
    git(place.root, "checkout", "-q", "-b", "other")
    for path in paths:
        with (place.root / path).open("a", encoding="utf-8") as file:
            file.write("\nOne more line, on the other branch.\n")
    record(place.root, "every note changed")
    git(place.root, "checkout", "-q", "main")
    with closing(open_index(place.workspace)) as index:
        say("first index")
        first_index(index)
    with daemon(place) as pid:
        process = Process(pid)
        say("checkout")
        found = _checkout(place, process, files)
        say(f"idle for {idle:.0f} s")
        return found + _idle(place, process, idle)


@dataclass(slots=True)
class _Peak:
    """The most memory that was seen."""

    process: Process
    most: float = 0.0

    def look(self) -> float:
        now = self.process.memory()
        self.most = max(self.most, now)
        return now


def _checkout(place: Site, process: Process, files: int) -> list[Measure]:
    """Seconds from the checkout's beginning until every file's new content is indexed; memory at its peak and after."""
    peak = _Peak(process)
    before = peak.look()
    wanted = contents_at(place.workspace.vault, resolve(place.workspace.vault, "other"))
    index = open_index(place.workspace)

    def whole() -> bool:
        peak.look()
        return index.known() == wanted

    started = place.workspace.clock.monotonic()
    git(place.root, "checkout", "-q", "other")
    switched = place.workspace.clock.monotonic() - started
    place.wait_until(f"{files} files to be indexed", whole, _GIVE_UP, _LOOK)
    taken = place.workspace.clock.monotonic() - started
    return [
        Measure(f"git checkout of {files} files by itself", switched, "s"),
        Measure(f"git checkout of {files} files, until all are indexed", taken, "s", CHECKOUT_SECONDS),
        Measure("memory of the daemon before it", before, "MB", REST_MB),
        Measure("memory growth of the daemon at its peak", peak.most - before, "MB", CHECKOUT_MB),
        Measure("memory growth that stays", peak.look() - before, "MB"),
    ]


def _idle(place: Site, process: Process, seconds: float) -> list[Measure]:
    """Commits made and the share of one processor, from when the daemon has had its quiet time."""
    clock, quiet = place.workspace.clock, place.workspace.settings.git.quiet_seconds
    clock.sleep(2 * quiet + 1.0)
    commits, used, started = _commits(place), process.processor(), clock.monotonic()
    clock.sleep(seconds)
    share = (process.processor() - used) / (clock.monotonic() - started) * 100
    return [
        Measure(f"idle for {seconds:g} s: commits", _commits(place) - commits, "", 0),
        Measure(f"idle for {seconds:g} s: share of one processor", share, "%", IDLE_SHARE),
    ]


def _commits(place: Site) -> int:
    return int(place.workspace.vault.git.run("rev-list", "--count", "HEAD"))
