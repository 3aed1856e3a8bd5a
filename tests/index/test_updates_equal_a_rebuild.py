"""The law of the index: whatever happened, edits, moves, deletions or a crash at any write, it equals a fresh one."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.index import vector_writer
from agent.index.files import IndexFiles
from agent.index.keyword import Engine, Weights, open_engine
from agent.index.manifest import coverage
from agent.index.passage_store import open_store
from agent.index.search import Searcher
from agent.index.vectors import chunks_of, notes_of, parse_state
from agent.markdown.paged_text import PagedText, TextPart
from agent.workspace.index_status import indexed_hashes
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE

PATIENCE = 30
"""Seconds after which a child is ended that waits for a lock: threads of an engine that held it are not forked. That is
a crash like any other."""
PATHS = st.sampled_from(["a.md", "b.md", "work/c.md", "work/d.md", "2026-03-04.md"])
FILES = st.sampled_from(["papers/a.pdf", "b.docx", "work/2026-03-04 c.xlsx"])
LINES = [
    "the cat sat on the mat",
    "a red car",
    "# Heading",
    "error E1234-5 in foo_bar",
    "#tag/sub and [[b]]",
    "",
    "猫坐在垫子上",
]
TEXTS = st.lists(st.sampled_from(LINES), max_size=6).map(lambda lines: "\n".join(lines).encode())
HEADERS = st.sampled_from(
    [b"", b"---\ntype: fact\ntags: [x]\n---\n", b"---\ndate: 2026-03-04\n---\n", b"---\n: broken\n---\n"]
)
NOTES = st.tuples(HEADERS, TEXTS).map(b"".join)
STEPS = st.one_of(
    st.tuples(st.just("write"), PATHS, NOTES),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("delete"), PATHS),
    st.tuples(st.just("attach"), FILES, st.lists(st.sampled_from(LINES), max_size=4)),
    st.tuples(st.just("detach"), FILES),
    st.tuples(st.just("take_in")),
    st.tuples(st.just("update")),
    st.tuples(st.just("touch")),
    st.tuples(st.just("crash"), st.integers(1, 120)),
)
QUESTIONS = (
    "cat mat",
    "red automobile",
    "E1234-5",
    "foo_bar heading",
    "type:fact cat",
    "tag:tag",
    "猫",
    "on 2026-03-04 car",
    "b",
    "kind:attachment cat",
    "type:pdf",
)


@pytest.fixture(autouse=True)
def merges_come_early() -> Iterator[None]:
    """The vectors of these small vaults are merged, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_writer, "_LEAST", 3)
        yield


@dataclass(slots=True)
class Life:
    """A vault and its index as they go through steps."""

    folder: Path
    engine: Engine
    vault: MemoryVault = field(default_factory=MemoryVault)
    files: dict[str, bytes] = field(default_factory=dict)
    indexed: dict[str, str] = field(default_factory=dict)
    updater: Any = None

    def step(self, name: str, *given: Any) -> None:
        getattr(self, name)(*given)

    def write(self, path: str, data: bytes) -> None:
        self.vault.notes[path] = data

    def move(self, path: str, to: str) -> None:
        if path in self.vault.notes:
            self.vault.notes[to] = self.vault.notes.pop(path)

    def delete(self, path: str) -> None:
        self.vault.notes.pop(path, None)

    def attach(self, path: str, pages: list[str]) -> None:
        parts = tuple(TextPart(f"page {number}", text) for number, text in enumerate(pages, 1))
        self.files[path] = PagedText(parts, "page", "" if pages else "it has no text").to_bytes()

    def detach(self, path: str) -> None:
        self.files.pop(path, None)

    def take_in(self) -> None:
        """Bring the index, which has the notes of before, up to the attachments."""
        if self.updater is None:
            return
        now = MemoryVault(self.files).listed()
        known = indexed_hashes(IndexFiles(self.folder), attachments=True)
        changed = {path: now.get(path) for path in {*now, *known} if now.get(path) != known.get(path)}
        if changed and self.updater.touch(changed, self.files.get) is None:
            self.update()
            self.take_in()

    def update(self) -> None:
        self.updater = self.updater or self.vault.updater(self.folder, self.engine, FAKE, Weights())
        self.vault.update(self.updater)
        self.indexed = self.vault.listed()

    def touch(self) -> None:
        """As after a few edits that were noticed one by one."""
        if self.updater is None:
            return
        now = self.vault.listed()
        changed = {path: now.get(path) for path in {*now, *self.indexed} if now.get(path) != self.indexed.get(path)}
        if self.updater.touch(changed, self.vault.notes.get) is None:
            self.update()
        self.indexed = now

    def crash(self, at: int) -> None:
        """Another process updates and is gone in the middle: at the file operation number `at`, without a last word."""
        if self.updater is not None:
            self.updater.close()
            self.updater = None
        child = os.fork()
        if child == 0:
            signal.alarm(PATIENCE)
            _die_at(at)
            self.update()
            os._exit(0)
        os.waitpid(child, 0)


def _die_at(operation: int) -> None:
    left = operation

    def hook(event: str, _: object) -> None:
        nonlocal left
        if event == "open" or event.startswith(("os.", "shutil.", "mmap.")):
            left -= 1
            if left <= 0:
                os._exit(9)

    sys.addaudithook(hook)


def _operations(last: int) -> list[Any]:
    """File operations at which a process dies: each ninth, of which a check takes each third."""
    each = range(1, last, 9)
    return [number if at % 3 == 0 else pytest.param(number, marks=pytest.mark.chaos) for at, number in enumerate(each)]


def seen(folder: Path, engine: Engine) -> tuple[object, object]:
    """What the index answers, and what it says of itself."""
    searcher = Searcher(IndexFiles(folder), engine, FAKE, Weights())
    answers = []
    for text in QUESTIONS:
        for passages in (False, True):
            answer = searcher.search(text, 10, passages=passages)
            assert answer.degraded is None
            answers.append(
                [(hit.path, hit.lines, hit.passage, pytest.approx(hit.score, abs=1e-4)) for hit in answer.hits]
            )
    searcher.close()
    store = open_store(folder / "notes.db", write=False)
    store.verify()
    state = coverage(store), store.hashes(attachments=True), store.incomplete(attachments=True)
    store.close()
    return answers, state


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=14))
def test_after_any_life_the_index_equals_a_fresh_one(engine: Engine, steps: list[tuple[Any, ...]]) -> None:
    if engine == "tantivy":
        pytest.importorskip("tantivy")
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        life = Life(Path(one), engine)
        for step in steps:
            life.step(*step)
        life.update()
        life.take_in()
        life.updater.close()
        fresh = Life(Path(other), engine, life.vault, life.files)
        fresh.update()
        fresh.take_in()
        fresh.updater.close()
        assert seen(Path(one), engine) == seen(Path(other), engine)


@pytest.mark.parametrize("operation", _operations(100))
def test_a_crash_at_any_file_operation_of_the_first_index_is_made_good(tmp_path: Path, operation: int) -> None:
    life = Life(tmp_path / "one", "whoosh")
    for number in range(8):
        life.write(f"{number}.md", f"the cat number {number} sat on a mat".encode())
    life.crash(operation)
    life.update()
    life.updater.close()
    fresh = Life(tmp_path / "two", "whoosh", life.vault)
    fresh.update()
    assert seen(tmp_path / "one", "whoosh") == seen(tmp_path / "two", "whoosh")


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_updates_that_died_one_after_the_other_leave_nothing_behind(tmp_path: Path, engine: Engine) -> None:
    if engine == "tantivy":
        pytest.importorskip("tantivy")
    life = Life(tmp_path, engine, MemoryVault({f"{number}.md": b"the cat sat" for number in range(9)}))
    life.update()
    kept = life.vault.notes.keys() - {"3.md"}
    for operation in range(2, 90, 11):
        life.write("new.md", f"the cat sat {operation} times".encode())
        life.write("3.md", f"the cat sat again {operation}".encode())
        life.crash(operation)
        searcher = Searcher(IndexFiles(tmp_path), engine, FAKE, Weights())
        answer = searcher.search("cat sat", 20)
        searcher.close()
        assert answer.degraded is None
        assert kept <= {hit.path for hit in answer.hits}
        assert not IndexFiles(tmp_path).mark.exists()
    life.update()
    keyword = open_engine(engine, IndexFiles(tmp_path).keyword(engine), Weights())
    keyword.refresh()
    assert keyword.count() == len(life.vault.notes)
    keyword.close()


@pytest.mark.parametrize("operation", _operations(110))
@pytest.mark.parametrize("grows", [True, False])
def test_a_crash_while_vectors_come_or_are_copied_is_made_good(tmp_path: Path, operation: int, grows: bool) -> None:
    few = {f"{number}.md": f"the cat number {number} sat on a mat".encode() for number in range(4)}
    many = few | {f"more {number}.md": f"a red car number {number}".encode() for number in range(12)}
    life = Life(tmp_path / "one", "whoosh", MemoryVault(dict(few if grows else many)))
    life.update()
    life.vault.notes = dict(many if grows else few) | {"new.md": b"a new note of a cat"}
    life.crash(operation)
    life.update()
    life.updater.close()
    fresh = Life(tmp_path / "two", "whoosh", life.vault)
    fresh.update()
    assert seen(tmp_path / "one", "whoosh") == seen(tmp_path / "two", "whoosh")
    assert {*stored_chunks(tmp_path / "one")} == {*stored_chunks(tmp_path / "two")}


def stored_chunks(folder: Path) -> list[bytes]:
    """The vectors in an index's files that count."""
    files = IndexFiles(folder)
    store = open_store(files.store, write=False)
    state = parse_state(store.meta("vectors"), 256)
    store.close()
    found = []
    for file, gone in ((state.base, state.gone), (state.recent, ())):
        if file is not None:
            keys, rows = chunks_of(file.open(files, 256, mapped=False))
            found += [row.tobytes() for row in rows[~np.isin(notes_of(keys), gone)]]
    return found


def test_an_update_costs_what_changed_and_says_what_it_did(tmp_path: Path) -> None:
    vault = MemoryVault({f"{number}.md": f"note {number}".encode() for number in range(20)})
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    first = vault.update(updater)
    vault.notes["moved.md"] = vault.notes.pop("3.md")
    vault.notes["4.md"] = b"another text"
    del vault.notes["5.md"]
    asked: list[str] = []

    def read(path: str) -> bytes | None:
        asked.append(path)
        return vault.notes.get(path)

    second = updater.update(vault.listed(), read)
    third = updater.update(vault.listed(), read)
    assert (first.indexed, first.rebuilt) == (20, "there was no index")
    assert (second.indexed, second.forgotten, second.moved, second.rebuilt) == (2, 1, (("3.md", "moved.md"),), "")
    assert sorted(asked) == ["4.md", "moved.md"]
    assert (third.indexed, third.forgotten, third.generation) == (0, 0, second.generation)


def test_a_note_that_cannot_be_read_is_never_called_indexed_and_is_tried_again(tmp_path: Path) -> None:
    vault = MemoryVault({"good.md": b"fine", "bad.md": b"behind a broken disk"})
    updater = vault.updater(tmp_path, "whoosh", FAKE)

    def broken(path: str) -> bytes | None:
        if path == "bad.md":
            raise OSError("input/output error")
        return vault.notes.get(path)

    report = updater.update(vault.listed(), broken)
    store = open_store(tmp_path / "notes.db", write=False)
    before = coverage(store)
    again = vault.update(updater)
    after = coverage(store)
    store.close()
    assert report.failed == (("bad.md", "input/output error"),)
    assert (before.indexed, before.failed) == (1, (("bad.md", "input/output error"),))
    assert again.indexed == 1
    assert (after.indexed, after.failed) == (2, ())


def test_a_note_too_large_to_be_one_is_skipped_with_the_reason(tmp_path: Path) -> None:
    vault = MemoryVault({"huge.md": b"x" * (8 * 1024 * 1024 + 1), "small.md": b"x"})
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    report = vault.update(updater)
    assert report.skipped == (("huge.md", "larger than 8 MB"),)
    assert vault.update(updater).indexed == 0
