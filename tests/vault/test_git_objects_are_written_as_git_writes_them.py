"""Trees, commits and packs against git itself."""

import os
import stat
import subprocess
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.git import objects
from agent.git.objects import NewObject, Pack, TreeEntry, folders, format_tree, graft, parse_tree
from agent.vault.change import Stamp
from agent.vault.store import open_vault
from tests.bench.writes import counted
from tests.vaults import FAST, blob_id, committed, git, make_vault, write

NAME = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in {".", ".."} and name.lower() != ".git"
)


@given(st.dictionaries(NAME.map(str.encode), st.booleans(), max_size=12))
def test_a_tree_is_parsed_and_formatted_without_loss(names: dict[bytes, bool]) -> None:
    modes = {name: b"40000" if folder else b"100644" for name, folder in names.items()}
    level = {name: b"%s %s\0%s" % (mode, name, bytes(20)) for name, mode in modes.items()}
    assert parse_tree(format_tree(level), 40) == level


def test_folders_sort_as_git_sorts_them(tmp_path: Path) -> None:
    notes = {f"{name}/x.md": "x\n" for name in ("a", "a.b", "a-b", "a0", "ä", "a b")} | {"a.md": "x\n", "a-": "x\n"}
    vault = make_vault(tmp_path, notes)
    (found,) = vault.git.objects(["HEAD:"])
    assert found is not None
    assert format_tree(parse_tree(found.data, 40)) == found.data


def test_only_the_folders_on_the_path_are_named() -> None:
    assert folders([b"a/b/c.md", b"a/d.md", b"e.md"]) == [b"", b"a", b"a/b"]


def test_a_folder_that_becomes_empty_vanishes() -> None:
    entry = TreeEntry("100644", blob_id(b"x"))
    with closing(Pack()) as pack:
        _, trees = graft({}, {b"a/b/c.md": entry, b"d.md": entry}, pack)
        _, trees = graft(trees, {b"a/b/c.md": None}, pack)
    assert set(trees[b""]) == {b"d.md"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.md", "b/c.md", "b/d/e.md", "f.md"]), st.binary(max_size=40)), max_size=6))
def test_any_sequence_of_grafts_is_what_git_would_have_written(changes: list[tuple[str, bytes]]) -> None:
    state: dict[str, bytes] = {}
    with closing(Pack()) as pack, closing(Pack()) as other:
        root, trees = graft({}, {}, pack)
        for path, data in changes:
            state[path] = data
            root, trees = graft(trees, {path.encode(): TreeEntry("100644", pack.add("blob", data))}, pack)
        whole, _ = graft({}, {path.encode(): TreeEntry("100644", blob_id(data)) for path, data in state.items()}, other)
    assert root == whole


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_repository_of_either_hash_takes_our_commits(tmp_path: Path, algorithm: str) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", f"--object-format={algorithm}")
    write(root / "vault-agent.yaml", "")
    from agent.clock import SystemClock

    vault = open_vault(root, tmp_path / "state", SystemClock(), FAST)
    for number in range(3):
        with vault.transaction("x", Stamp("agent")) as tx:
            tx.create(f"a/{number}.md", b"text\n" * number)
    vault.commit_human()
    assert git(root, "fsck", "--strict") == ""
    assert committed(root, "a/2.md") == b"text\ntext\n"
    assert git(root, "status", "--porcelain") == ""


def test_a_large_burst_goes_into_one_pack(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    for number in range(600):
        write(vault.place.root / f"n/{number}.md", f"note {number}\n")
    assert len(vault.commit_human().paths) == 600
    assert git(vault.place.root, "fsck", "--strict") == ""
    packs = subprocess.run(["ls", vault.place.gitdir / "objects/pack"], capture_output=True, text=True, check=True)
    assert packs.stdout.count(".pack") == 1


def test_a_small_change_asks_git_for_its_index_and_its_branch(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a/b.md": "one\n", "c.md": "two\n"})
    with vault.transaction("the first asks for git's settings, too", Stamp("agent")) as tx:
        tx.create("first.md", b"zero\n")
    with counted() as commands, vault.transaction("x", Stamp("agent")) as tx:
        tx.create("a/new.md", b"three\n")
    assert commands == ["update-index", "update-ref"]
    with counted() as commands, vault.transaction("x", Stamp("agent")) as tx:
        tx.append("c.md", b"four")
    assert commands == ["cat-file", "update-index", "update-ref"], "what is staged may differ from the last commit"
    with counted() as commands, vault.transaction("y", Stamp("agent")) as tx:
        tx.delete("a/b.md")
    of_tool = "what the same tool lost in the last day counts too"
    assert commands == ["log", "cat-file", "update-index", "update-ref"], of_tool
    assert git(vault.place.root, "fsck", "--strict", "--no-dangling") == ""
    assert git(vault.place.root, "status", "--porcelain") == ""


def test_objects_are_files_as_git_leaves_them(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root, objects = vault.place.root, vault.place.gitdir / "objects"
    write(root / "theirs", "theirs\n")
    oid = git(root, "hash-object", "-w", "theirs").strip()
    (root / "theirs").unlink()
    with vault.transaction("x", Stamp("agent")) as tx:
        tx.create("ours.md", b"ours\n")
    ours = blob_id(b"ours\n")
    for name in ("", ours[2:]):
        assert (objects / ours[:2] / name).stat().st_mode == (objects / oid[:2] / (name and oid[2:])).stat().st_mode
    assert not list(objects.glob("*/tmp_*"))


def test_an_object_that_is_there_already_is_young_again(tmp_path: Path) -> None:
    """git removes old objects that nothing refers to, perhaps between this write and its commit."""
    vault = make_vault(tmp_path)
    root = vault.place.root
    write(root / "x", "x\n")
    oid = git(root, "hash-object", "-w", "x").strip()
    (root / "x").unlink()
    place = vault.place.gitdir / "objects" / oid[:2] / oid[2:]
    os.utime(place, (1, 1))
    before = place.stat().st_ino
    with vault.transaction("x", Stamp("agent")) as tx:
        tx.create("x.md", b"x\n")
    assert place.stat().st_ino == before and place.stat().st_mtime > 1


def test_where_accounts_share_a_repository_git_sets_its_rights(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    git(vault.place.root, "config", "core.sharedRepository", "group")
    with counted() as commands, vault.transaction("x", Stamp("agent")) as tx:
        tx.create("x.md", b"x\n")
    oid = blob_id(b"x\n")
    assert "unpack-objects" in commands
    assert (vault.place.gitdir / "objects" / oid[:2] / oid[2:]).stat().st_mode & stat.S_IRGRP


@pytest.mark.parametrize("number", [0, 2])
def test_what_cannot_be_written_here_is_left_to_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real, seen = objects._store_one, count()

    def fails(folder: Path, new: NewObject, *, durable: bool) -> None:
        if next(seen) >= number:
            raise OSError("no room")
        real(folder, new, durable=durable)

    monkeypatch.setattr(objects, "_store_one", fails)
    vault = make_vault(tmp_path)
    with counted() as commands, vault.transaction("x", Stamp("agent")) as tx:
        tx.create("x.md", b"x\n")
    assert "unpack-objects" in commands
    assert git(vault.place.root, "fsck", "--strict", "--no-dangling") == ""
