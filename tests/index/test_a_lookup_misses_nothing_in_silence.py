"""Any one damaged byte of the passage store: an answer is that of the whole index, or says that it is damaged."""

import errno
import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import LockHeld
from agent.index.buckets import Buckets, LookupTable
from agent.index.files import Damaged, IndexFiles, store_errors
from agent.index.passage_store import open_store
from agent.index.update import Updater
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE
from tests.index.test_no_row_vanishes import Said, said, vault, whole

__all__ = ["vault", "whole"]


def harmed(whole: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "harmed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    return folder


def check(folder: Path, right: Said, vault: MemoryVault, what: str) -> bool:
    """Whether the damage was noticed; raises where an answer is wrong and says nothing, or the next is not whole."""
    silent = [now for now, wanted in zip(said(folder), right, strict=True) if not now[1] and now != wanted]
    assert not silent, what
    noticed = bool(IndexFiles(folder).why_broken())
    updater: Updater = vault.updater(folder, "whoosh", FAKE)
    vault.update(updater, verify=not noticed)
    updater.close()
    assert said(folder) == right, what
    return noticed


@pytest.mark.parametrize("count", [25, pytest.param(1500, marks=pytest.mark.chaos)])
def test_flipped_bits_anywhere_in_the_store_change_no_answer(
    tmp_path: Path, whole: Path, vault: MemoryVault, count: int
) -> None:
    right = said(whole)
    size = (whole / "notes.db").stat().st_size
    noticed = 0
    for number in range(count):
        chance = random.Random(number)
        folder = harmed(whole, tmp_path)
        at, bits = chance.randrange(size), 1 << chance.randrange(8)
        with (folder / "notes.db").open("r+b") as file:
            file.seek(at)
            (was,) = file.read(1)
            file.seek(at)
            file.write(bytes([was ^ bits]))
        noticed += check(folder, right, vault, f"byte {at} ^ {bits}")
    assert noticed, "no damage was where a question looks"


@pytest.mark.parametrize("fill", [b"\0", b"\xff"], ids=["zeros", "ones"])
def test_a_whole_page_that_is_lost_changes_no_answer(
    tmp_path: Path, whole: Path, vault: MemoryVault, fill: bytes
) -> None:
    right = said(whole)
    data = (whole / "notes.db").read_bytes()
    pages = len(data) // 4096
    for page in {0, 1, 2, pages // 3, pages // 2, pages - 1}:
        folder = harmed(whole, tmp_path)
        (folder / "notes.db").write_bytes(data[: page * 4096] + fill * 4096 + data[(page + 1) * 4096 :])
        check(folder, right, vault, f"page {page}")


@pytest.mark.parametrize("table", LookupTable)
def test_a_bucket_that_is_gone_or_moved_is_damage(tmp_path: Path, whole: Path, table: LookupTable) -> None:
    for change in (
        f"delete from bucket where id = {table.place('x')}",
        f"update bucket set id = 5000 where id = {table.place('x')}",
        f"update bucket set data = '{{\"x\": 1}}' where id = {table.place('x')}",
    ):
        folder = harmed(whole, tmp_path)
        connection = sqlite3.connect(folder / "notes.db")
        connection.execute(change)
        buckets = Buckets(connection)
        with pytest.raises(Damaged, match=r"notes\.db is damaged"):
            buckets.get(table, "x")
        buckets.forget()
        with pytest.raises(Damaged, match=r"notes\.db is damaged"):
            list(buckets.all(table))
        connection.close()


def test_damage_under_an_open_writer_is_built_anew_in_the_same_update(
    tmp_path: Path, whole: Path, vault: MemoryVault
) -> None:
    folder = harmed(whole, tmp_path)
    updater = vault.updater(folder, "whoosh", FAKE)
    vault.update(updater)
    with sqlite3.connect(folder / "notes.db") as other:
        other.execute("delete from bucket where id = ?", (LookupTable.NOTES.place("7.md"),))
    assert "bucket is missing" in vault.update(updater).rebuilt
    updater.close()
    assert said(folder) == said(whole)


def test_another_process_s_rebuild_is_seen_by_an_open_writer(tmp_path: Path, whole: Path, vault: MemoryVault) -> None:
    folder = harmed(whole, tmp_path)
    one, other = vault.updater(folder, "whoosh", FAKE), vault.updater(folder, "whoosh", FAKE)
    vault.update(one)
    IndexFiles(folder).ask_for_rebuild("asked for")
    assert vault.update(other).rebuilt == "asked for"
    assert vault.update(one).rebuilt == ""
    one.close()
    other.close()
    store = open_store(folder / "notes.db", write=False)
    assert len(store.hashes()) == len(vault.notes)
    store.close()


@pytest.mark.parametrize(
    "name",
    ["lock", "REBUILD", "notes.db", "keyword-whoosh", "keyword-whoosh/SEAL.json", "vectors", "vectors/*"],
)
def test_a_folder_or_file_in_the_wrong_place_is_cleared_away(
    tmp_path: Path, whole: Path, vault: MemoryVault, name: str
) -> None:
    folder = harmed(whole, tmp_path)
    path = next(folder.glob(name), folder / name)
    if path.is_dir():
        shutil.rmtree(path)
        path.write_bytes(b"a file")
    else:
        path.unlink(missing_ok=True)
        (path / "inside").mkdir(parents=True)
    check(folder, said(whole), vault, name)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_BUSY, LockHeld),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, LockHeld),
        (sqlite3.SQLITE_FULL, OSError),
        (sqlite3.SQLITE_PERM, OSError),
        (sqlite3.SQLITE_CORRUPT, Damaged),
        (sqlite3.SQLITE_CORRUPT_INDEX, Damaged),
        (sqlite3.SQLITE_NOTADB, Damaged),
        (sqlite3.SQLITE_IOERR_SHORT_READ, Damaged),
    ],
)
def test_a_held_lock_or_a_full_disk_is_not_damage(code: int, expected: type[Exception]) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    with pytest.raises(expected) as caught, store_errors():
        raise error
    assert not isinstance(caught.value, OSError) or caught.value.errno in {errno.ENOSPC, errno.EACCES}


KEYS = st.text(max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(KEYS, st.integers(0, 1 << 40), st.booleans()), max_size=40))
def test_buckets_hold_what_a_dictionary_holds(steps: list[tuple[str, int, bool]]) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    buckets = Buckets(connection)
    buckets.make()
    wanted: dict[str, int] = {}
    for key, value, goes in steps:
        if goes and key in wanted:
            del buckets.change(LookupTable.NOTES, key)[key], wanted[key]
        else:
            buckets.change(LookupTable.NOTES, key)[key] = wanted[key] = value
        if value % 3 == 0:
            buckets.flush()
            buckets.forget()
    buckets.flush()
    buckets.forget()
    assert dict(buckets.all(LookupTable.NOTES)) == wanted
    assert all(buckets.get(LookupTable.NOTES, key) == value for key, value in wanted.items())
    connection.close()


def test_a_planted_bug_that_skips_the_checksum_is_caught(
    tmp_path: Path, whole: Path, vault: MemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = said(whole)
    folder = harmed(whole, tmp_path)
    with sqlite3.connect(folder / "notes.db") as other:
        other.execute("update bucket set data = '{}' where id = ?", (LookupTable.FACETS.place("tag\0t2"),))
    monkeypatch.setattr("agent.index.buckets._checked", lambda place, data, checksum: json.loads(data))
    with pytest.raises(AssertionError):
        check(folder, right, vault, "planted")
