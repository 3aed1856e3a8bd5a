"""A repository whose parts lie elsewhere is refused before anything is written there."""

import os
from pathlib import Path

import pytest

from agent.errors import NotAVault
from agent.git.repository import locate
from tests.vaults import git, make_vault, write

PARTS = [
    "HEAD", "config", "index", "objects", "refs", "logs", "info", "logs/HEAD", "refs/heads", "refs/heads/main",
    "logs/refs/heads/main", "objects/info", "vault-agent", "vault-agent/id", "info/exclude",
]  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_is_a_link_is_refused_and_named(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path)
    part, outside = vault.place.gitdir / name, tmp_path / "outside"
    assert locate(vault.place.root) is not None
    part.rename(outside)
    part.symlink_to(outside)
    with pytest.raises(NotAVault, match=name) as caught:
        locate(vault.place.root)
    assert caught.value.hint


def test_a_pipe_in_the_place_of_a_file_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    (vault.place.gitdir / "HEAD").unlink()
    os.mkfifo(vault.place.gitdir / "HEAD")
    with pytest.raises(NotAVault, match="HEAD"):
        locate(vault.place.root)


def test_a_repository_that_borrows_the_history_of_another_is_refused(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "a")
    other = make_vault(tmp_path / "b")
    write(vault.place.gitdir / "commondir", f"{other.place.gitdir}\n")
    with pytest.raises(NotAVault, match="another repository"):
        locate(vault.place.root)


def test_a_false_work_tree_that_leads_to_another_repository_is_refused(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "a")
    other = make_vault(tmp_path / "b")
    root = vault.place.root
    (root / ".git").rename(root / "fake")
    write(root / ".git", "gitdir: fake\n")
    write(root / "fake/gitdir", f"{root}/.git\n")
    write(root / "fake/commondir", f"{other.place.gitdir}\n")
    with pytest.raises(NotAVault, match="another repository"):
        locate(root)


def test_linked_work_trees_submodules_and_linked_hooks_are_fine(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "sub")
    (vault.place.gitdir / "hooks").rename(tmp_path / "hooks")
    (vault.place.gitdir / "hooks").symlink_to(tmp_path / "hooks")
    for folder in (root, tmp_path / "tree", root / "sub"):
        place = locate(folder)
        assert place is not None and place.worktree == folder
