"""Whatever happens to the files of the index: search says so, and the next update makes it good, unasked."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from agent.errors import LockHeld
from agent.index.files import Damaged, IndexFiles
from agent.index.keyword import Engine, Weights
from agent.index.note_store import NoteStore
from agent.index.passage_store import open_store
from agent.index.search import Searcher
from tests.bench.vault import MemoryVault
from tests.fakes import FakeClock
from tests.index.fakes import FAKE, NONE

NOTES = {
    f"{number}.md": f"# Note {number}\n\nthe feline of number {number} sat on mat{number}\n".encode()
    for number in range(30)
}


def build(folder: Path, engine: Engine = "whoosh") -> MemoryVault:
    vault = MemoryVault(dict(NOTES))
    updater = vault.updater(folder, engine, FAKE)
    vault.update(updater)
    updater.close()
    return vault


def search(folder: Path, engine: Engine = "whoosh") -> tuple[list[str], str | None, str]:
    searcher = Searcher(IndexFiles(folder), engine, FAKE, Weights())
    answer = searcher.search("mat7 cat", 5)
    searcher.close()
    return [hit.path for hit in answer.hits], answer.degraded, answer.mode


def files_of(engine: Engine, folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and "lock" not in path.name.casefold() and path.stat().st_size
    )


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("harm", ["flip", "cut", "delete", "zero"])
def test_every_damaged_file_is_noticed_named_and_healed(tmp_path: Path, engine: Engine, harm: str) -> None:
    if engine == "tantivy":
        pytest.importorskip("tantivy")
    vault = build(tmp_path / "whole", engine)
    whole = search(tmp_path / "whole", engine)
    assert whole[0][0] == "7.md"
    names = [path.relative_to(tmp_path / "whole") for path in files_of(engine, tmp_path / "whole")]
    assert len(names) >= 3
    for name in names:
        folder = tmp_path / "harmed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", folder)
        damage(folder / name, harm)
        hits, degraded, mode = search(folder, engine)
        assert degraded or (hits, degraded, mode) == whole, name
        updater = vault.updater(folder, engine, FAKE)
        report = vault.update(updater, verify=True)
        updater.close()
        assert report.rebuilt or not degraded, name
        assert search(folder, engine) == whole, name


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Whoosh leaves what it fails on open
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_what_was_damaged_under_an_open_writer_is_not_sealed_as_good(tmp_path: Path, engine: Engine) -> None:
    if engine == "tantivy":
        pytest.importorskip("tantivy")
    vault = build(tmp_path / "whole", engine)
    for path in files_of(engine, IndexFiles(tmp_path / "whole").keyword(engine)):
        if path.name in ("SEAL.json", "meta.json", ".managed.json") or path.suffix == ".toc":
            continue  # written anew by every update
        folder = tmp_path / "harmed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", folder)
        updater = vault.updater(folder, engine, FAKE)
        vault.update(updater)
        harmed = IndexFiles(folder).keyword(engine) / path.name
        data = harmed.read_bytes()
        harmed.unlink()  # another file in its place: the writer has the old one mapped, and sees no damage
        harmed.write_bytes(data[: len(data) // 2])
        vault.notes["7.md"] += b"a line more\n"
        with suppress(Damaged):
            vault.update(updater)
        vault.update(updater)
        updater.close()
        hits, degraded, _ = search(folder, engine)
        assert (hits[0], degraded) == ("7.md", None), path.name


def damage(path: Path, harm: str) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    if harm == "delete":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(data[:middle])
    elif harm == "zero":
        path.write_bytes(bytes(len(data)))
    else:
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 0x5A]) + data[middle + 1 :])


def test_damaged_vectors_leave_the_keywords_and_the_reason(tmp_path: Path) -> None:
    vault = build(tmp_path)
    vectors = next(tmp_path.glob("vectors/*"))
    vectors.write_bytes(b"nonsense")
    hits, degraded, mode = search(tmp_path)
    assert (hits[0], mode) == ("7.md", "keyword")
    assert degraded == f"{vectors.relative_to(tmp_path)} was cut short"
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    assert vault.update(updater).rebuilt == f"{vectors.relative_to(tmp_path)} was cut short"
    assert search(tmp_path)[1:] == (None, "hybrid")


def test_vectors_that_later_updates_deleted_under_a_search_are_no_damage(tmp_path: Path) -> None:
    vault = build(tmp_path)

    class Slow(Searcher):
        """Two updates end while it opens the files of the one before."""

        def _open_keyword(self, store: NoteStore, *, busy: bool) -> None:
            super()._open_keyword(store, busy=busy)
            updater = vault.updater(tmp_path, "whoosh", FAKE)
            for words in ("# One\n\nthe dog\n", "# One\n\nthe cow\n"):
                vault.notes["1.md"] = words.encode()
                assert vault.update(updater).rebuilt == ""
            updater.close()

    searcher = Slow(IndexFiles(tmp_path), "whoosh", FAKE, Weights())
    answer = searcher.search("mat7 cat", 5)
    searcher.close()
    assert (answer.hits[0].path, answer.mode) == ("7.md", "keyword")
    assert "cannot be read" in (answer.degraded or "")
    assert not IndexFiles(tmp_path).mark.exists(), "the whole index would be built again"
    assert search(tmp_path)[1:] == (None, "hybrid")


def test_an_index_of_another_version_is_said_to_be_one_and_built_anew(tmp_path: Path) -> None:
    vault = build(tmp_path)
    store = open_store(tmp_path / "notes.db", write=True)
    store.set_meta("version", "1")
    store.close()
    assert search(tmp_path) == ([], "notes.db is of another version", "none")
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    assert vault.update(updater).rebuilt == "notes.db is of another version"
    updater.close()
    assert search(tmp_path)[1:] == (None, "hybrid")


def test_without_an_index_search_says_so_and_finds_nothing(tmp_path: Path) -> None:
    assert search(tmp_path / "none") == ([], "notes.db is missing", "none")
    assert not (tmp_path / "none").exists()


def test_deleting_the_cache_under_a_running_daemon_costs_time_only(tmp_path: Path) -> None:
    vault = MemoryVault(dict(NOTES))
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    vault.update(updater)
    searcher = Searcher(IndexFiles(tmp_path), "whoosh", FAKE, Weights())
    assert searcher.search("mat7").hits[0].path == "7.md"
    for path in tmp_path.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert searcher.search("mat7").degraded == "notes.db is missing"
    assert vault.update(updater).rebuilt == "there was no index"
    assert searcher.search("mat7").hits[0].path == "7.md"
    assert searcher.search("mat7").degraded is None
    searcher.close()


def test_a_search_sees_each_update_and_never_waits_for_one(tmp_path: Path) -> None:
    vault = MemoryVault(dict(NOTES))
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    vault.update(updater)
    searcher = Searcher(IndexFiles(tmp_path), "whoosh", FAKE, Weights())
    during: list[tuple[str, ...]] = []

    def read(path: str) -> bytes | None:
        answer = searcher.search("zebra mat7", 3)
        during.append((answer.hits[0].path, str(answer.degraded)))
        return vault.notes.get(path)

    vault.notes["7.md"] = b"a zebra"
    updater.update(vault.listed(), read)
    assert during == [("7.md", "None")]
    assert searcher.search("zebra").hits[0].passage == "a zebra"
    searcher.close()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    vault = MemoryVault(dict(NOTES), FakeClock())
    first, second = vault.updater(tmp_path, "whoosh", FAKE), vault.updater(tmp_path, "whoosh", FAKE)

    def read(path: str) -> bytes | None:
        with pytest.raises(LockHeld):
            vault.update(second)
        return vault.notes.get(path)

    assert first.update(vault.listed(), read).indexed == len(NOTES)


def test_another_model_builds_the_index_anew_and_search_says_so_meanwhile(tmp_path: Path) -> None:
    vault = MemoryVault(dict(NOTES))
    keywords = vault.updater(tmp_path, "whoosh", NONE)
    vault.update(keywords)
    keywords.close()
    hits, degraded, mode = search(tmp_path)
    assert hits[0] == "7.md"
    assert (mode, degraded) == ("keyword", "the index was made with another model: keywords only until it is updated")
    updater = vault.updater(tmp_path, "whoosh", FAKE)
    assert "another engine, model" in vault.update(updater).rebuilt
    assert search(tmp_path)[1:] == (None, "hybrid")


def test_without_a_model_search_is_by_keywords_and_gives_the_reason(tmp_path: Path) -> None:
    vault = MemoryVault(dict(NOTES))
    searcher = vault.searcher(tmp_path, "whoosh", NONE)
    answer = searcher.search("mat7")
    assert (answer.mode, answer.degraded) == ("keyword", "no embedding model")
    assert answer.hits[0].path == "7.md"
