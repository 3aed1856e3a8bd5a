"""One durable change in vaults of growing size: its processor time, the bytes written, and the git processes.

Processor time and counts say more than seconds on a machine that does other work. They are read from `/proc` and
`getrusage`, which count the git processes too.
"""

import resource
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from agent.benches.figures import Measure
from agent.benches.vaults import git
from agent.clock import SystemClock
from agent.git.runner import Git
from agent.git.running import Running
from agent.vault.change import Stamp
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from tests.bench.process import needs_proc

RATIO = 4.5
"""The most that a change in the largest vault may take, as a multiple of one in the smallest."""
_WARM = 3
_BODY = b"---\nid: b\n---\nA small note.\n"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one change took: milliseconds of processor time, kilobytes written, git processes, milliseconds."""

    processor: float
    written: float
    processes: float
    wall: float


def measure(folder: Path, sizes: Sequence[int], rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """The medians for each size, measured by turns, and the ratios of the largest to the smallest."""
    needs_proc()
    vaults = dict[int, Vault]()
    for size in sizes:
        say(f"writing {size} notes")
        build(folder / str(size), size)
        vaults[size] = open_vault(folder / str(size), folder / f"state-{size}", SystemClock(), Options(durable=True))
    say("changes")
    costs: dict[int, list[Cost]] = {size: [] for size in sizes}
    with counted() as processes:
        for number in range(rounds + _WARM):
            for size, vault in vaults.items():
                cost = _cost(vault, number, processes)
                if number >= _WARM:
                    costs[size].append(cost)
    found = list[Measure]()
    middles = {size: _middle(each) for size, each in costs.items()}
    for size, cost in middles.items():
        found += [
            Measure(f"{size} notes, one durable change: processor time", cost.processor, "ms"),
            Measure(f"{size} notes, one durable change: written", cost.written, "KB"),
            Measure(f"{size} notes, one durable change: git processes", cost.processes, ""),
            Measure(f"{size} notes, one durable change: time", cost.wall, "ms"),
        ]
    small, large = middles[min(sizes)], middles[max(sizes)]
    ratio = large.processor / small.processor
    return [*found, Measure(f"{max(sizes)} to {min(sizes)} notes: processor time", ratio, "×", RATIO)]


def build(root: Path, notes: int) -> None:
    """A committed vault of small notes, in folders of a hundred, written by one git process."""
    root.mkdir(parents=True)
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@localhost"],
    ):
        git(root, *command)
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None
        for piece in _stream(notes):
            importing.stdin.write(piece)
    git(root, "reset", "-q", "--hard")


def _stream(notes: int) -> Iterator[bytes]:
    yield b"commit refs/heads/main\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 5\nnotes\n"
    yield _file("vault-agent.yaml", b"vault:\n  language: en\n")
    for number in range(notes):
        path = f"notes/{number // 100 % 100:02}/{number // 10_000:02}/note-{number:06}.md"
        yield _file(path, b"---\nid: %d\ntype: note\n---\nA note of a few words.\n" % number)


def _file(path: str, data: bytes) -> bytes:
    return f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


@contextmanager
def counted() -> Iterator[list[str]]:
    """The git commands that are started in the block."""
    found, start = list[str](), Git.start

    def counting(self: Git, *args: str, **options: object) -> Running:
        found.append(args[0])
        return start(self, *args, **options)  # type: ignore[arg-type]

    Git.start = counting  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Git.start = start  # type: ignore[method-assign]


def _cost(vault: Vault, number: int, processes: list[str]) -> Cost:
    before, written, started, at = processor(), _written(), len(processes), time.perf_counter()
    with vault.transaction("bench(scale): one small note", Stamp("agent", tool="bench")) as change:
        change.create(f"notes/00/00/new-{number}.md", _BODY)
    wall = (time.perf_counter() - at) * 1000
    return Cost(processor() - before, _written() - written, len(processes) - started, wall)


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(
        median(each.processor for each in costs),
        median(each.written for each in costs),
        median(each.processes for each in costs),
        median(each.wall for each in costs),
    )


def processor() -> float:
    """Milliseconds of processor time, with those of the children that have ended."""
    used = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used) * 1000


def _written() -> float:
    """Kilobytes written so far, with those of the children that have ended."""
    rows = (row.split(": ") for row in Path("/proc/self/io").read_text("ascii").splitlines())
    return int(dict(rows)["wchar"]) / 1000
