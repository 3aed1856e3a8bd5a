"""The tests can fail: with a bug planted, what is told no longer adds up to what is there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.watch import scan as scanning
from agent.watch.classify import ContentChange
from agent.watch.compare import Comparison
from agent.watch.hints import Hints
from agent.watch.snapshot import FileStat, KnownFile, Snapshot
from tests.vaults import write
from tests.watch.desk import apply, desk, on_disk

Put = Callable[[object, str, object], None]


def ignore_an_overflow(put: Put) -> None:
    def nothing(self: Hints, reason: str) -> None:
        self._paths, self._folders = set(), set()

    put(Hints, "_overflow", nothing)


def skip_a_deletion(put: Put) -> None:
    def nothing(self: Comparison, now: float) -> list[ContentChange]:
        self.missing.clear()
        return []

    put(Comparison, "_gone", nothing)


def trust_every_look(put: Put) -> None:
    def record(self: Snapshot, path: str, hash: str, stat: FileStat, now_ns: int) -> None:
        self.put(path, KnownFile(hash, FileStat(stat.size, 0, 0, 0)))

    def look(status: object) -> FileStat:
        return FileStat(getattr(status, "st_size", 0), 0, 0, 0)

    put(Snapshot, "record", record)
    put(scanning, "_look", look)


def check(folder: Path) -> None:
    """An overflow, an edit, a deletion and a second edit of the same length, found without waiting for a scan."""
    on = desk(folder, {"a.md": "one", "b.md": "two", "c.md": "six"})
    known = on_disk(on.root)
    write(on.root / "a.md", "three")
    (on.root / "b.md").unlink()
    write(on.root / "c.md", "ten")
    on.watcher.hints.overflow("too many")
    apply(known, on.settle())
    assert known == on_disk(on.root)


def test_without_a_bug_it_adds_up(tmp_path: Path) -> None:
    check(tmp_path)
    assert (tmp_path / "a.md").exists()


@pytest.mark.parametrize("bug", [ignore_an_overflow, skip_a_deletion, trust_every_look])
def test_a_planted_bug_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: Callable[[Put], None]) -> None:
    bug(monkeypatch.setattr)
    with pytest.raises(AssertionError):
        check(tmp_path)
