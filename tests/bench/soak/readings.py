"""What is read of a daemon once a quarter hour, and how it changes over the hours."""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.benches.vaults import git
from tests.bench.process import Process


@dataclass(frozen=True, slots=True)
class Reading:
    """A daemon at an hour of the person's day; memory and `.git` in MB (10^6 bytes)."""

    hour: float
    private: float
    whole: float
    handles: Mapping[str, int]
    threads: Mapping[str, int]
    children: tuple[str, ...]
    git: float
    deeds: int

    @property
    def open(self) -> int:
        return sum(self.handles.values())

    def line(self) -> str:
        """A row of the table."""
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.handles.items()))
        threads = ", ".join(f"{name} {n}" if n > 1 else name for name, n in sorted(self.threads.items()))
        row = f"{self.hour:6.2f} {self.deeds:6} {self.private:8.1f} {self.whole:8.1f} {self.open:8} {self.git:7.2f}"
        return f"{row} {len(self.children):3}  {kinds} | {threads}"


HEAD = "  hour  deeds  private    whole  handles    .git  children, handles by kind | threads by name"


def take_reading(process: Process, root: Path, hour: float, deeds: int) -> Reading:
    """What the system says of the daemon now."""
    private, whole = process.private_memory(), process.memory()
    handles, threads, children = process.handles(), process.threads(), process.children()
    return Reading(hour, private, whole, handles, threads, children, size_of(root / ".git"), deeds)


def slope(readings: Sequence[Reading], value: Callable[[Reading], float]) -> float:
    """How much a value grows in an hour, by least squares; 0 for fewer than two readings."""
    hours = [each.hour for each in readings]
    middle = sum(hours) / max(len(hours), 1)
    spread = sum((hour - middle) ** 2 for hour in hours)
    return sum((each.hour - middle) * value(each) for each in readings) / spread if spread else 0.0


def left_over(before: Reading, after: Reading) -> dict[str, int]:
    """The threads of `after` that were not there in `before`, by name."""
    return dict(Counter(after.threads) - Counter(before.threads))


def size_of(folder: Path) -> float:
    """The bytes of all files below a folder in MB (10^6 bytes)."""
    found = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found += path.lstat().st_size if not path.is_dir() else 0
    return found / 1e6


def fresh_size(root: Path) -> float:
    """The size of a new bare clone of a repository, packed anew, in MB."""
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        clone = Path(folder) / "fresh.git"
        git(root, "clone", "-q", "--bare", "--no-local", str(root), str(clone))
        git(clone, "repack", "-adfq")
        return size_of(clone)
