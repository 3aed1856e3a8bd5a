"""A very large index is split, and changed without git, as a small one is: what git reads afterwards is what git would
have written."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import SystemClock
from agent.vault.change import Stamp
from agent.vault.plumbing import index_file
from agent.vault.plumbing.index_file import IndexFile, WholeIndex, load_index
from agent.vault.plumbing.objects import TreeEntry
from agent.vault.plumbing.split_index import SplitIndex, format_bits, parse_bits
from agent.vault.store import Vault
from tests.vaults import blob_id, git, make_vault, write

AGENT = Stamp("agent")
FOLDERS = ("", "a/", "a/b/", "a-b/", "long/" + "x" * 200 + "/")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "LARGE", 1)


def notes(count: int) -> dict[str, str | bytes]:
    return {f"{FOLDERS[number % 5]}note-{number:03}.md": f"{number}\n" for number in range(count)}


def entries_of(vault: Vault, index: Path | None = None) -> str:
    environment = {**os.environ, **({"GIT_INDEX_FILE": str(index)} if index is not None else {})}
    command = ["git", "ls-files", "--stage", "-v", "-z"]
    return subprocess.run(
        command, cwd=vault.place.root, env=environment, capture_output=True, check=True
    ).stdout.decode()


def parsed(vault: Vault, kind: type = SplitIndex) -> IndexFile:
    found = load_index(vault.git)
    assert isinstance(found.parsed, kind)
    return found


def sizes(vault: Vault) -> Iterator[int]:
    return (path.stat().st_size for path in vault.place.gitdir.glob("*index*") if path.is_file())


@given(st.sets(st.integers(0, 700)) | st.sets(st.integers(0, 9)).map(lambda few: {64 * each for each in few}))
def test_a_bitmap_names_the_same_numbers_again(numbers: set[int]) -> None:
    data = format_bits(numbers)
    assert parse_bits(data) == (frozenset(numbers), len(data))
    assert parse_bits(b"before" + data, 6) == (frozenset(numbers), len(data) + 6)


def test_a_large_index_is_split_by_the_first_change_and_then_written_without_git(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, notes(300))
    with vault.transaction("one", AGENT) as tx:
        tx.create("first.md", b"one\n")
    base = parsed(vault).parsed
    assert isinstance(base, SplitIndex)
    shared = sorted(vault.place.gitdir.glob("sharedindex.*"))
    for number in range(3):
        with vault.transaction("more", AGENT) as tx:
            tx.create(f"a/new-{number}.md", b"new\n")
            tx.edit("a/note-001.md", f"1\n{'more' * number}".encode(), f"1\n{'more' * (number + 1)}".encode())
    assert sorted(vault.place.gitdir.glob("sharedindex.*")) == shared
    assert git(vault.place.root, "status", "--porcelain") == ""
    git(vault.place.root, "fsck", "--strict")


def test_what_a_change_writes_does_not_grow_with_the_notes(tmp_path: Path) -> None:
    written = []
    for count in (40, 1_200):
        vault = make_vault(tmp_path / str(count), notes(count))
        SystemClock().sleep(1.1)  # git looks again at what is as young as its index, and writes all of it
        git(vault.place.root, "update-index", "--really-refresh")
        for name in ("first.md", "second.md"):
            with vault.transaction("one", AGENT) as tx:
                tx.create(name, b"one\n")
        written.append((vault.place.gitdir / "index").stat().st_size)
    assert written[1] < written[0] + 100


def test_a_person_s_staged_notes_stay_staged_in_a_split_index(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, notes(100))
    root = vault.place.root
    with vault.transaction("one", AGENT) as tx:
        tx.create("first.md", b"one\n")
    write(root / "a/note-001.md", "staged\n")
    write(root / "theirs.md", "new\n")
    git(root, "add", "a/note-001.md", "theirs.md")
    git(root, "rm", "-q", "--cached", "note-005.md")
    before = git(root, "diff", "--cached")
    with vault.transaction("two", AGENT) as tx:
        tx.append("a/note-006.md", b"more")
        tx.delete("note-010.md")
    assert git(root, "diff", "--cached") == before
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["a/note-006.md", "note-010.md"]
    with vault.transaction("three", AGENT) as tx:
        tx.append("a/note-001.md", b"under what is staged")
    assert isinstance(parsed(vault).parsed, SplitIndex)
    assert "theirs.md" in git(root, "diff", "--cached", "--name-only")


def test_a_person_who_forbids_split_indexes_gets_none(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, notes(50))
    git(vault.place.root, "config", "core.splitIndex", "false")
    with vault.transaction("one", AGENT) as tx:
        tx.create("first.md", b"one\n")
    assert not list(vault.place.gitdir.glob("sharedindex.*"))
    assert git(vault.place.root, "status", "--porcelain") == ""


def test_a_new_base_is_made_when_much_differs_from_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "MOST", 5)
    vault = make_vault(tmp_path, notes(50))
    for path in notes(50):  # git repeats what was saved in the second in which the index was written
        os.utime(vault.place.root / path, (1_700_000_000, 1_700_000_000))
    git(vault.place.root, "update-index", "--refresh")
    for number in range(14):
        with vault.transaction("one", AGENT) as tx:
            tx.create(f"new-{number}.md", b"one\n")
        found = parsed(vault).parsed
        assert isinstance(found, SplitIndex) and found.differing <= 6
    assert git(vault.place.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_leave_what_git_would_leave(tmp_path: Path, seed: int) -> None:
    change_at_random(tmp_path, seed, SplitIndex)


@pytest.mark.parametrize("seed", range(4, 6))
def test_a_small_index_is_changed_as_git_would_too(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "LARGE", 1 << 20)
    change_at_random(tmp_path, seed, WholeIndex)


def change_at_random(folder: Path, seed: int, kind: type) -> None:
    """Random changes of an index of this kind, each beside one that git makes."""
    chance = random.Random(seed)
    vault = make_vault(folder, notes(chance.choice([3, 64, 65, 200])))
    root, index = vault.place.root, vault.place.gitdir / "index"
    form = "--split-index" if kind is SplitIndex else "--no-split-index"
    git(root, "update-index", form)
    oid = blob_id(b"text\n")
    write(root / "text.md", "text\n")
    git(root, "hash-object", "-w", "text.md")
    (root / "text.md").unlink()
    there = [path.decode() for path in paths_in(vault)]
    done = 0
    for _ in range(40):
        wanted = some_changes(chance, there, oid)
        if not isinstance(load_index(vault.git).parsed, kind):  # git joins it where few entries of the base are left
            git(root, "update-index", form)
        before = paths_in(vault)
        made = parsed(vault, kind).edited(wanted)
        lines = index_file_lines(wanted)
        other = vault.place.gitdir / "expected"
        other.write_bytes(index.read_bytes())
        vault.git.run("update-index", "-z", "--index-info", stdin=lines, index=other)
        if made is None:  # a file is in the way of a folder: only git does that
            assert any(is_in_the_way(path, [*before, *wanted]) for path, entry in wanted.items() if entry is not None)
            other.replace(index)
        else:
            index.write_bytes(made)
            done += 1
            assert entries_of(vault) == entries_of(vault, other)
            tree = vault.git.run("write-tree", "--missing-ok", index=other)
            assert vault.git.run("write-tree", "--missing-ok") == tree
        if isinstance(load_index(vault.git).parsed, kind):
            check_lookups(vault, wanted, kind)
        if chance.random() < 0.15:
            git(root, "write-tree", "--missing-ok")
            git(root, "update-index", "-q", "--refresh", "--ignore-missing", check=False)
        if chance.random() < 0.05:
            git(root, "update-index", form)
    assert done > 10


def some_changes(chance: random.Random, there: list[str], oid: str) -> dict[bytes, TreeEntry | None]:
    paths = chance.sample(there, min(len(there), chance.randint(0, 3)))
    paths += [f"{chance.choice(FOLDERS)}new-{chance.randint(0, 30)}.md" for _ in range(chance.randint(0, 2))]
    paths += chance.choice([[], [], [f"a/note-{chance.randint(0, 9):03}.md/below.md"], ["a"], ["a/b"]])
    new = TreeEntry(chance.choice(["100644", "100755"]), oid)
    return {path.encode(): chance.choice([new, new, None]) for path in paths}


def paths_in(vault: Vault) -> list[bytes]:
    return [row.partition("\t")[2].encode() for row in entries_of(vault).split("\0") if row]


def is_in_the_way(path: bytes, others: list[bytes]) -> bool:
    return any(path.startswith(other + b"/") or other.startswith(path + b"/") for other in others)


def index_file_lines(wanted: dict[bytes, TreeEntry | None]) -> bytes:
    return b"".join(
        f"{entry.mode if entry else 0} {entry.oid if entry else '0' * len(blob_id(b''))}\t".encode() + path + b"\0"
        for path, entry in wanted.items()
    )


def check_lookups(vault: Vault, wanted: dict[bytes, TreeEntry | None], kind: type) -> None:
    """What is looked up is what git lists, also of the names beside the wanted ones."""
    listed = {}
    for row in entries_of(vault).split("\0")[:-1]:
        meta, _, path = row.partition("\t")
        listed[path.encode()] = meta.split(" ")[2]
    asked = [*wanted, *(path + b"x" for path in wanted), *(path[:-1] for path in wanted), *list(listed)[::7]]
    assert parsed(vault, kind).blobs(asked) == {path: listed.get(path) for path in asked}


@pytest.mark.parametrize("damage", ["cut", "garbage", "gone", "empty"])
def test_damage_to_what_is_kept_about_the_base_changes_nothing(tmp_path: Path, damage: str) -> None:
    vault = make_vault(tmp_path, notes(200))
    with vault.transaction("one", AGENT) as tx:
        tx.create("first.md", b"one\n")
    assert isinstance(parsed(vault).parsed, SplitIndex)
    kept = vault.place.gitdir / "vault-agent" / "index-base"
    data = kept.read_bytes()
    match damage:
        case "cut":
            kept.write_bytes(data[:-9])
        case "garbage":
            kept.write_bytes(data[:-40] + bytes(40))
        case "empty":
            kept.write_bytes(b"")
        case _:
            kept.unlink()
    with vault.transaction("two", AGENT) as tx:
        tx.edit("a/note-001.md", b"1\n", b"2\n")
    assert kept.read_bytes() == data
    assert git(vault.place.root, "status", "--porcelain") == ""


def test_an_index_in_another_form_is_left_to_git(tmp_path: Path) -> None:
    for form in (("--index-version", "4"), ("--untracked-cache",), ("--skip-worktree", "note-005.md")):
        vault = make_vault(tmp_path / form[0], notes(40))
        root = vault.place.root
        git(root, "update-index", "--split-index")
        git(root, "update-index", *form)
        with vault.transaction("one", AGENT) as tx:
            tx.create("first.md", b"one\n")
            tx.edit("a/note-001.md", b"1\n", b"2\n")
        assert git(root, "status", "--porcelain") == ""
        assert "first.md" in git(root, "ls-files")
