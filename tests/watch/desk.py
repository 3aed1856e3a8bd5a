"""A folder that is watched, with a clock that only moves when told and real files."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest

from agent.clock import Clock
from agent.events.types import NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.watch.classify import VaultEvent
from agent.watch.compare import Facts
from agent.watch.watcher import Pace, Watcher
from tests.fakes import FakeClock
from tests.vaults import blob_id, write

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""To this clock every file has changed a moment ago, so that no look is trusted."""
FAR_OFF = datetime(2100, 1, 1, tzinfo=UTC)
"""To this clock every file is old."""
MARKER = "marker"
PATIENCE = 120.0


@dataclass
class Desk:
    """The folder `root`, its watcher, and every version that was ever there, by hash."""

    root: Path
    clock: FakeClock
    watcher: Watcher
    versions: dict[str, bytes]
    own: set[tuple[str, str | None]]
    moved: list[str] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)
    marks: int = 0

    def listen(self) -> None:
        """Ask the system for hints; skips the test where all that it has for this user are taken."""
        self.watcher.listen()
        problem = self.watcher.state().problem
        if "limit reached" in problem:
            pytest.skip(problem)
        assert not problem, problem

    def poll(self) -> list[VaultEvent]:
        return self.watcher.poll(self.clock.monotonic())

    def settle(self) -> list[VaultEvent]:
        """Everything that comes, with time passing until nothing waits."""
        events = self.poll()
        while self.watcher.state().waiting or len(self.watcher.folders):
            due = self.watcher.next_due()
            self.clock.advance(0 if due is None else max(0.0, due - self.clock.monotonic()))
            events += self.poll()
        return events

    def scan(self) -> list[VaultEvent]:
        """Everything that comes with the next scan."""
        self.clock.advance(self.watcher.pace.scan)
        return self.settle()

    def hear(self) -> None:
        """Wait until the system has told what happened up to now, or that it cannot; the clock stands still."""
        self.marks += 1
        marker = f"{MARKER}-{self.marks}.txt"
        write(self.root / marker, "")
        until = monotonic() + PATIENCE
        while marker not in self.watcher.paths.waiting and "" not in self.watcher.folders.waiting:
            assert monotonic() < until, "the system gave no hint"
            self.watcher.hints.wait(0.05)
            self.poll()

    def save(self, path: str, text: str) -> None:
        write(self.root / path, text)
        self.keep()

    def keep(self) -> None:
        """Remember every version that is there now, as git would."""
        for file in self.root.rglob("*.md"):
            data = file.read_bytes()
            self.versions[blob_id(data)] = data


def desk(
    root: Path,
    notes: Mapping[str, str] | None = None,
    *,
    start: datetime = LONG_AGO,
    clock: Clock | None = None,
    pace: Pace | None = None,
    hash: Callable[[bytes], str] = blob_id,
) -> Desk:
    """A desk whose notes are known already; no hints come until `listen` is called on its watcher."""
    root.mkdir(parents=True, exist_ok=True)
    write(root / "vault-agent.yaml", "")
    for path, text in (notes or {}).items():
        write(root / path, text)
    versions: dict[str, bytes] = {}
    own: set[tuple[str, str | None]] = set()
    moved: list[str] = []

    def earlier(asked: Sequence[tuple[str, str]]) -> list[bytes | None]:
        return [versions.get(each) for _, each in asked]

    def origins(asked: Sequence[tuple[str, str | None]]) -> list[Origin]:
        return [Origin.OWN if each in own else Origin.HUMAN for each in asked]

    def head_moved() -> list[str]:
        paths = moved[:]
        moved.clear()
        return paths

    ignored: set[str] = set()
    facts = Facts(hash, origins, earlier, head_moved, ignored.__contains__)
    known = {path: blob_id(text.encode()) for path, text in (notes or {}).items()}
    time = FakeClock(start)
    watcher = Watcher.watch(root, facts, clock or time, known, pace)
    made = Desk(root, time, watcher, versions, own, moved, ignored)
    made.keep()
    assert made.settle() == []
    return made


def without_markers(events: Sequence[VaultEvent]) -> list[VaultEvent]:
    """The events that are not about `hear`'s own files."""
    return [event for event in events if not event.path.startswith(MARKER)]


def apply(known: dict[str, str], events: Sequence[VaultEvent]) -> None:
    """Do to a list of notes what the events say; raises `AssertionError` where they contradict it."""
    for event in events:
        match event:
            case NoteCreated(path=path, hash=hash):
                assert path not in known, event
                known[path] = hash
            case NoteEdited(path=path, before=before, hash=hash):
                assert known[path] == before != hash, event
                known[path] = hash
            case NoteMoved(path=path, source=source, before=before, hash=hash):
                assert known.pop(source) == before and path not in known, event
                known[path] = hash
            case NoteDeleted(path=path, before=before):
                assert known.pop(path) == before, event


def on_disk(root: Path) -> dict[str, str]:
    """The notes that are there, by content hash."""
    found = (path for path in root.rglob("*.md") if path.is_file() and not path.name.startswith("."))
    return {os.fspath(path.relative_to(root)): blob_id(path.read_bytes()) for path in found}
