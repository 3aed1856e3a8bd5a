"""A row of the passage store that is damaged where it says what it is: never left out of an answer without a word."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.index.files import Damaged, IndexFiles
from agent.index.keyword import Weights
from agent.index.passage_store import open_store
from agent.index.search import Searcher
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE

TEXT = "---\ndate: 2026-03-{day:02}\ntags: [t{tag}]\n---\nthe feline sat on mat{number}\n"
NOTES = {f"{at}.md": TEXT.format(day=at + 1, tag=at % 5, number=at).encode() for at in range(20)} | {
    "header.md": b"---\n: broken\n---\n",
    "huge.md": b"x" * (8 * 1024 * 1024 + 1),
}
QUESTIONS = (
    *("mat7 cat", "on 2026-03-08", "path:7.md", "path:7.md mat7"),
    *("after:2026-03-08 before:2026-03-08 cat", "tag:t2", "tag:t2 mat7"),
)
Said = list[tuple[list[str], str | None]]


@pytest.fixture(scope="module")
def vault() -> MemoryVault:
    return MemoryVault(dict(NOTES))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, vault: MemoryVault) -> Path:
    """An index whose database is in its one file."""
    folder = tmp_path_factory.mktemp("whole")
    updater = vault.updater(folder, "whoosh", FAKE)
    vault.update(updater)
    updater.close()
    with sqlite3.connect(folder / "notes.db") as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    return folder


def said(folder: Path) -> Said:
    """What each question finds, in a process that opens the index for it."""
    answers = []
    for text in QUESTIONS:
        searcher = Searcher(IndexFiles(folder), "whoosh", FAKE, Weights())
        answer = searcher.search(text, 30)
        searcher.close()
        answers.append(([hit.path for hit in answer.hits], answer.degraded))
    return answers


def cell(data: bytes, path: bytes, status: bytes = b"indexed") -> tuple[int, int, int]:
    """Where a note's row is in its database: the place of its number, of its path, of its status."""
    at = data.index(path + hash_of(path) + status)
    header = next(at - size for size in range(10, 40) if data[at - size] == size)
    return header - 1, at, at + len(path) + 40


def hash_of(path: bytes) -> bytes:
    return MemoryVault({"": NOTES[path.decode()]}).listed()[""].encode()


def flipped(whole: Path, tmp_path: Path, place: int, bits: int) -> Path:
    """A copy of the index with other bits at one place of its database."""
    folder = tmp_path / "harmed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    with (folder / "notes.db").open("r+b") as file:
        file.seek(place)
        (was,) = file.read(1)
        file.seek(place)
        file.write(bytes([was ^ bits]))
    return folder


def places(whole: Path) -> Iterator[int]:
    number, path, status = cell((whole / "notes.db").read_bytes(), b"7.md")
    yield from (*range(number - 1, path + 4), *range(status, status + 20))


def test_every_byte_that_says_what_a_row_is_counts(tmp_path: Path, whole: Path) -> None:
    right = said(whole)
    assert all("7.md" in hits and degraded is None for hits, degraded in right)
    silent = list[tuple[int, int, str]]()
    for place in places(whole):
        for bits in (0x01, 0x5A):
            answers = zip(QUESTIONS, said(flipped(whole, tmp_path, place, bits)), right, strict=True)
            silent += [(place, bits, text) for text, now, wanted in answers if not now[1] and now != wanted]
    assert not silent


@pytest.mark.parametrize("part", [0, 2])
def test_a_row_whose_number_or_status_was_damaged_is_built_again(
    tmp_path: Path, whole: Path, vault: MemoryVault, part: int
) -> None:
    folder = flipped(whole, tmp_path, cell((whole / "notes.db").read_bytes(), b"7.md")[part], 0x40 if part else 0x01)
    files = IndexFiles(folder)
    searcher = Searcher(files, "whoosh", FAKE, Weights())
    answer = searcher.search("mat7 cat", 5)
    assert answer.mode == "none" and answer.degraded and "notes.db is damaged" in answer.degraded
    assert files.mark.exists()
    updater = vault.updater(folder, "whoosh", FAKE)
    assert "notes.db is damaged" in vault.update(updater).rebuilt
    assert [hit.path for hit in searcher.search("mat7 cat", 5).hits][:1] == ["7.md"]
    searcher.close()
    updater.close()
    assert said(folder) == said(whole)


@pytest.mark.parametrize("part", [0, 2])
def test_reading_everything_finds_it_too(tmp_path: Path, whole: Path, part: int) -> None:
    folder = flipped(whole, tmp_path, cell((whole / "notes.db").read_bytes(), b"7.md")[part], 0x40 if part else 0x01)
    store = open_store(folder / "notes.db", write=False)
    with pytest.raises(Damaged, match=r"notes\.db is damaged"):
        store.verify()
    store.close()
