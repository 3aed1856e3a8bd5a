"""A writer that has nothing to do, and a closed reader, have no thread at work; they go on as before afterwards."""

import os
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.index.keyword import Engine
from tests.bench.process import Process
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault

SECONDS = 10.0
"""tantivy's thread ends the next time it looks, half a second later at most on a machine that has time for it."""


def threads() -> int:
    """The threads of tantivy in this process."""
    return sum(count for name, count in Process(os.getpid()).threads().items() if "tantivy" in name)


def ends_with(wanted: int) -> bool:
    clock = SystemClock()
    until = clock.monotonic() + SECONDS
    while threads() > wanted and clock.monotonic() < until:
        clock.sleep(0.05)
    return threads() <= wanted


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are read from /proc")
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_writer_rests_between_two_calls_and_a_reader_that_is_closed(tmp_path: Path, engine: Engine) -> None:
    pytest.importorskip(engine)
    before = threads()
    vault = MemoryVault({"one.md": b"a kettle", "two.md": b"a violin"})
    updater, searcher = vault.updater(tmp_path, engine), vault.searcher(tmp_path, engine, KEYWORDS_ONLY)
    assert [hit.path for hit in searcher.search("violin").hits] == ["two.md"]
    searcher.close()
    assert ends_with(before)
    vault.notes["three.md"] = b"a second violin"
    assert vault.update(updater).indexed == 1
    assert ends_with(before)
    assert {hit.path for hit in searcher.search("violin").hits} == {"two.md", "three.md"}
    del vault.notes["two.md"]
    vault.update(updater)
    assert [hit.path for hit in searcher.search("violin").hits] == ["three.md"]
    updater.close()
    searcher.close()
