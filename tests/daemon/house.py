"""A vault with its daemon in this process, taking its turns when it is told to: real files, real git, real hints."""

import hashlib
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from agent.app.background import DaemonParts
from agent.app.open import open_workspace
from agent.background.maintenance import KEY as MAINTENANCE
from agent.background.part import Part
from agent.background.routine import RoutineRunner
from agent.clock import Clock, SystemClock
from agent.daemon import Daemon, Live
from agent.index.embedder import EmbedderChoice
from agent.index.files import IndexFiles
from agent.index.update import IndexReport
from agent.vault.listing import contents
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace
from tests.index.fakes import FAKE
from tests.vaults import git, object_format

PATIENCE = 120.0
HASTE = 5.0
"""How many seconds pass for the daemon while one passes: nobody has to wait for a quiet time."""
STEP = 0.1
"""Seconds that a turn waits at most."""
BRISK = {
    "VAULT_AGENT_GIT__DURABLE": "false",
    "VAULT_AGENT_GIT__QUIET_SECONDS": "0.2",
    "VAULT_AGENT_WATCH__QUIET_SECONDS": "0.05",
}
"""Settings for which nobody has to wait."""

_ALL = """amber anchor barley basket beacon bishop canyon carpet cellar cinder copper cradle dagger desert donkey
    ember engine fabric falcon ferry flute forest garden ginger glacier granite hammer harbor hazel honey island ivory
    jacket jungle kettle ladder lantern lemon linen marble meadow mirror needle nickel oasis olive orchid oyster paddle
    parrot pepper pillow planet quarry quiver rabbit raven ribbon river saddle salmon shadow silver spider temple
    thunder timber tunnel valley velvet violin walnut willow window winter yellow zephyr"""
WORDS = tuple(_ALL.split())


def furnish(home: Path, put: Callable[[str, str], None], settings: Mapping[str, str] = BRISK) -> None:
    """Give the daemon a machine of its own: `put` sets an environment variable."""
    for key, value in {"VAULT_AGENT_HOME": str(home), **settings}.items():
        put(key, value)


class HastyClock(SystemClock):
    """The machine's clock, with shorter seconds; the time of day is the machine's."""

    def monotonic(self) -> float:
        return HASTE * SystemClock.monotonic(self)

    def sleep(self, seconds: float) -> None:
        SystemClock.sleep(self, seconds / HASTE)


@dataclass
class House:
    """One vault and its daemon."""

    live: Live

    @property
    def workspace(self) -> Workspace:
        return self.live.workspace

    @property
    def index(self) -> SearchIndex:
        return self.live.index

    @property
    def parts(self) -> DaemonParts:
        return self.live.parts

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    @property
    def working(self) -> tuple[str, ...]:
        """The keys of the work that goes on in the pool, without maintenance, which is due at any time."""
        return tuple(key for key in self.live.pool.state.running if key != MAINTENANCE)

    def step(self) -> None:
        self.live.turn(STEP)

    def until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Let the daemon take its turns until something is so."""
        clock = SystemClock()
        deadline = clock.monotonic() + seconds
        while not holds():
            assert clock.monotonic() < deadline, f"after {seconds:g} s it is not so that {what}"
            self.step()
        assert clock.monotonic() < deadline, f"only after {seconds:g} s it is so that {what}"

    def for_a_while(self, seconds: float) -> None:
        """Let the daemon take its turns for half so long, which is longer by its own clock."""
        clock = SystemClock()
        deadline = clock.monotonic() + seconds / 2
        while clock.monotonic() < deadline:
            self.step()

    def catches_up(self) -> None:
        """Turns until the index has what is on disk."""
        self.until(lambda: self.index.known() == on_disk(self.root), "the index has what is on disk")

    def commits_all(self) -> None:
        """Turns until a person's edits are committed."""
        self.until(lambda: not git(self.root, "status", "--porcelain"), "all edits are committed")

    def finds(self, text: str) -> list[str]:
        """The paths that a search for this word gives, best first."""
        return [hit.path for hit in self.index.search(text, 50).hits if text in hit.passage]


@contextmanager
def living(root: Path, chosen: EmbedderChoice | None = FAKE, clock: Clock | None = None) -> Iterator[House]:
    """A daemon that has started as `vault-agent daemon` starts it, until the end of the block; in haste by default."""
    workspace = open_workspace(root, clock=clock or HastyClock())
    with Daemon(workspace).live(chosen) as live:
        problem = live.lookout.state().problem
        if "limit reached" in problem:
            pytest.skip(problem)
        yield House(live)


def hasten(monkeypatch: pytest.MonkeyPatch, name: str, **times: float) -> None:
    """Have daemons from now on do one routine with other times than its own."""
    part = RoutineRunner.part

    def hastened(self: RoutineRunner) -> Part:
        self.routine = replace(self.routine, **times) if self.routine.name == name else self.routine  # type: ignore[arg-type]
        return part(self)

    monkeypatch.setattr(RoutineRunner, "part", hastened)


class _Broken(SearchIndex):
    """An index whose updates fail."""

    error: Exception

    def touch(self, changed: dict[str, str | None]) -> IndexReport:
        raise self.error


def broken(index: SearchIndex, error: Exception) -> SearchIndex:
    """The same index, of which every update raises this error."""
    made = _Broken(*(getattr(index, each.name) for each in fields(index)))
    made.error = error
    return made


def prose(seed: str) -> str:
    """A few sentences that are the same for the same seed, and unlike any others."""
    chance = random.Random(seed)
    return "\n".join(" ".join(chance.sample(WORDS, 6)) + "." for _ in range(3)) + "\n"


def blob(data: bytes) -> str:
    """git's name for a file's bytes, computed here."""
    return hashlib.new(object_format(), b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def on_disk(root: Path) -> dict[str, str]:
    """Every note there is, by hash; folders that begin with a dot are nobody's notes."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(".md") and not name.startswith("."):
                path = Path(folder, name)
                found[path.relative_to(root).as_posix()] = blob(path.read_bytes())
    return found


def answers(index: SearchIndex, questions: Sequence[str]) -> list[list[tuple[str, tuple[int, int], float]]]:
    """What an index says to each question."""
    told = [index.search(question, 5) for question in questions]
    assert [each.degraded for each in told] == [None] * len(told)
    return [[(hit.path, hit.lines, round(hit.score, 4)) for hit in each.hits] for each in told]


def check_equals_a_rebuild(index: SearchIndex, folder: Path, questions: Sequence[str]) -> None:
    """The index knows the same notes and gives the same answers as one that is built now, at `folder`."""
    vault = index.workspace.vault
    files = IndexFiles(folder)
    with closing(
        SearchIndex(files, index.engine, index.workspace, lambda: contents(vault), vault.read, index.chosen)
    ) as fresh:
        fresh.refresh()
        assert index.known() == fresh.known(), "the index and a rebuild know different notes"
        assert answers(index, questions) == answers(fresh, questions)
