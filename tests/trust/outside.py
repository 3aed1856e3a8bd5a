"""What happens to the files from outside while the daemon watches, and whether its index knows in the end."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.clock import SystemClock
from agent.index.embedder import EmbedderChoice
from tests.daemon.house import House, blob, living, on_disk
from tests.index.fakes import FAKE
from tests.vaults import git, git_beside, make_vault, write


def check_overflow(folder: Path, seconds: float = 30) -> None:
    """An edit, a new note and a deletion of which the system tells nothing but that it has dropped events."""
    root = make_vault(folder, {"a.md": "numbat\n", "b.md": "quokka\n"}).place.root
    with living(root) as house:
        house.for_a_while(0.3)
        house.live.lookout.watcher.close()
        write(root / "a.md", "wombat\n")
        write(root / "c.md", "bilby\n")
        (root / "b.md").unlink()
        house.live.lookout.watcher.hints.overflow("the system dropped events")
        _check_seen(house, seconds)
        assert house.finds("wombat") == ["a.md"] and house.finds("bilby") == ["c.md"]
        assert house.finds("numbat") == house.finds("quokka") == []


def check_checkout(folder: Path, count: int, seconds: float, chosen: EmbedderChoice | None = FAKE) -> int:
    """A checkout of `count` files is in the index in `seconds`, while two threads starve the daemon from beginning to
    end; returns the bytes that it grew by."""
    notes = {f"notes/{n % 50}/{n}.md": f"# {n}\n\nold{n} words\n" for n in range(count)}
    root = make_vault(folder, notes).place.root
    git(root, "checkout", "-q", "-b", "other")
    wanted = {}
    for n, path in enumerate(notes):
        text = f"# {n}\n\nnew{n} words\n"
        write(root / path, text)
        wanted[path] = blob(text.encode())
    git(root, "commit", "-q", "-a", "-m", "new")
    git(root, "checkout", "-q", "main")
    with living(root, chosen, SystemClock()) as house:  # the machine's own seconds are what is measured
        house.for_a_while(0.3)
        before = resident()
        with busy():
            git_beside(root, "checkout", "-q", "other")
            house.until(
                lambda: not house.live.lookout.watcher.state().waiting and house.index.known() == wanted,
                "all are indexed",
                seconds,
            )
        grown = resident() - before
        for n in (0, count // 2, count - 1):
            assert house.finds(f"new{n}") == [f"notes/{n % 50}/{n}.md"]
            assert house.finds(f"old{n}") == []
    return grown


def check_silence(folder: Path) -> None:
    """All events are dropped, and nobody says so."""
    root = make_vault(folder, {"a.md": "numbat\n", "b.md": "quokka\n"}).place.root
    with living(root) as house:
        house.for_a_while(0.3)
        house.live.lookout.watcher.close()
        house.live.lookout.watcher.hints.take()
        write(root / "a.md", "wombat\n")
        (root / "b.md").unlink()
        _check_seen(house, 30)
        assert house.finds("wombat") == ["a.md"]


def _check_seen(house: House, seconds: float) -> None:
    house.until(lambda: house.index.known() == on_disk(house.root), "the index has what is on disk", seconds)


@contextmanager
def busy() -> Iterator[None]:
    """Two threads that compute all the time."""
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=spin) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def resident() -> int:
    """The bytes of memory that this process holds; 0 where that cannot be told."""
    statistics = Path("/proc/self/statm")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statistics.exists() else 0
