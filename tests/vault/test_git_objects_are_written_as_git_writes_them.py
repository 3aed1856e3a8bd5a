"""Trees, commits and packs against git itself."""

import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.vault.change import Stamp
from agent.vault.plumbing.objects import Pack, TreeEntry, folders, format_tree, graft, parse_tree
from agent.vault.store import open_vault
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
