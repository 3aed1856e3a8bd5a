"""Many notes are prepared in several processes: the same index comes of it, also if one of them is killed."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.index import processes
from agent.index.embedder import EmbedderChoice
from agent.index.files import IndexFiles
from agent.index.keyword import Engine, Weights
from agent.index.passage_store import open_store
from agent.index.prepare import MOST_NOTES, NoteBytes, in_groups, prepare
from agent.index.processes import PrepareProcesses
from agent.index.vectors import chunks_of, parse_state
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE, FakeEmbedder

FIELDS = Weights().fields
NOTES = 40


def fake_embedder() -> FakeEmbedder:
    """The fake, for a process of its own."""
    return FakeEmbedder()


def other_embedder() -> FakeEmbedder:
    return FakeEmbedder(name="other")


def broken_embedder() -> FakeEmbedder:
    raise OSError("the model's disk is gone")


def fatal_embedder() -> FakeEmbedder:
    os.kill(os.getpid(), signal.SIGKILL)
    return FakeEmbedder()


def notes(count: int = NOTES) -> list[NoteBytes]:
    return [
        NoteBytes(at, f"n{at:03}.md", f"{at:040x}", f"# Note {at}\n\nthe cat {at} sat\n猫 {at}\n".encode())
        for at in range(1, count + 1)
    ]


def groups(count: int = NOTES) -> list[Sequence[NoteBytes]]:
    every = notes(count)
    return [every[at : at + 5] for at in range(0, count, 5)]


@pytest.fixture(autouse=True)
def tests_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of this file have names that another process can import."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]))


@pytest.fixture
def at_work() -> Iterator[PrepareProcesses]:
    started = PrepareProcesses(fake_embedder, FakeEmbedder(), FIELDS)
    started.start(2)
    yield started
    started.close()


def dump(folder: Path) -> list[tuple[object, ...]]:
    """Every row of an index's store, and the vectors; but not the names of their files, which no two indexes share."""
    files = IndexFiles(folder)
    store = open_store(files.store, write=False)
    state = parse_state(store.meta("vectors"), FakeEmbedder().dimensions)
    rows = [*store.connection.execute("select * from note order by path")]
    written = store.meta("vectors")
    found = store.connection.execute("select id, data from bucket").fetchall()
    rows += [(place, data.replace(json.dumps(written), "")) for place, data in found]
    store.close()
    chunks: list[tuple[object, ...]] = []
    for each in (state.base, state.recent):
        if each is not None:
            keys, vectors = chunks_of(each.open(files, state.dimensions, mapped=False))
            chunks += [(int(key), row.tobytes()) for key, row in zip(keys, vectors, strict=True)]
    return [*rows, *sorted(chunks)]


def test_the_notes_come_in_order_and_as_one_process_makes_them(at_work: PrepareProcesses) -> None:
    found = [*at_work.prepare(groups())]
    expected = [prepare(group, FakeEmbedder(), FIELDS) for group in groups()]
    assert [each.record for group in found for each in group.notes] == [
        each.record for group in expected for each in group.notes
    ]
    assert [each.fields for group in found for each in group.notes] == [
        each.fields for group in expected for each in group.notes
    ]
    for one, other in zip(found, expected, strict=True):
        assert one.counts.totals == other.counts.totals
        assert all((a.chunks == b.chunks).all() for a, b in zip(one.notes, other.notes, strict=True))


def test_a_killed_process_costs_no_note(at_work: PrepareProcesses) -> None:
    found = at_work.prepare(groups())
    first = next(found)
    for process in at_work._started:
        process.kill()
    every = [first, *found]
    assert [each.record.id for group in every for each in group.notes] == [*range(1, NOTES + 1)]


@pytest.mark.parametrize("load", [other_embedder, broken_embedder, fatal_embedder])
def test_a_process_that_has_not_the_same_embedder_is_not_used(load: processes.LoadEmbedder) -> None:
    started = PrepareProcesses(load, FakeEmbedder(), FIELDS)
    started.start(2)
    try:
        found = [*started.prepare(groups(10))]
    finally:
        started.close()
    expected = [prepare(group, FakeEmbedder(), FIELDS) for group in groups(10)]
    assert [[each.record for each in one.notes] for one in found] == [
        [each.record for each in one.notes] for one in expected
    ]


def test_no_process_is_left(at_work: PrepareProcesses) -> None:
    assert len([*at_work.prepare(groups(10))]) == 2
    at_work.close()
    assert all(process.returncode is not None for process in at_work._started)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_first_index_in_parts_and_processes_equals_one_of_a_single_process(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 900
    vault = MemoryVault({each.path: each.data for each in notes(count)})
    monkeypatch.setattr(processes, "MANY", count + 1)
    alone = vault.updater(tmp_path / "alone", engine, FAKE)
    vault.update(alone)
    monkeypatch.setattr(processes, "MANY", 1)
    many = vault.updater(tmp_path / "many", engine, replace(FAKE, load=fake_embedder))
    told: list[tuple[int, int]] = []
    many.progress = lambda done, of: told.append((done, of))
    assert vault.update(many).indexed == count
    many.close()
    alone.close()
    assert dump(tmp_path / "alone") == dump(tmp_path / "many")
    assert told[-1] == (count, count) and [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_first_index_can_be_searched_before_it_is_whole(tmp_path: Path) -> None:
    vault = MemoryVault({each.path: each.data for each in notes(700)})
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    found: list[int] = []

    def look(done: int, of: int) -> None:
        if done == of:
            from agent.index.search import Searcher  # a second reader, as another process would be

            searcher = Searcher(IndexFiles(tmp_path), "whoosh", FAKE, Weights())
            found.append(len(searcher.search("cat", 1000).hits))
            searcher.close()

    updater.progress = look
    vault.update(updater)
    updater.close()
    assert found and 0 < found[0] < 700


def test_a_group_is_bounded_in_notes_and_bytes() -> None:
    large = NoteBytes(1, "large.md", "0", b"x" * 3_000_000)
    sizes = [len(group) for group in in_groups([*notes(MOST_NOTES + 1), large, *notes(2)])]
    assert sizes == [MOST_NOTES, 1, 1, 2]


def test_without_a_way_to_load_the_embedder_elsewhere_one_process_does_it() -> None:
    chosen = EmbedderChoice(FakeEmbedder())
    with processes.preparing(10_000, chosen, FIELDS) as ready:
        assert len([*ready(groups(10))]) == 2
