"""Ids: moved vaults keep theirs, clones and copies get their own."""

import shutil
from pathlib import Path

from agent.vault.store import Vault, open_vault
from tests.vaults import git, make_vault, write


def reopen(root: Path, vault: Vault, tmp_path: Path) -> str:
    return open_vault(root, tmp_path / "state", vault.clock, vault.writer.options).writer.layout.id


def test_a_vault_that_is_moved_keeps_its_queue_and_journal(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    own = vault.writer.layout.id
    vault.place.root.rename(tmp_path / "moved")
    assert reopen(tmp_path / "moved", vault, tmp_path) == own


def test_a_copy_and_a_clone_get_their_own(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    shutil.copytree(vault.place.root, tmp_path / "copy")
    git(tmp_path, "clone", "-q", str(vault.place.root), "clone")
    ids = {
        vault.writer.layout.id,
        reopen(tmp_path / "copy", vault, tmp_path),
        reopen(tmp_path / "clone", vault, tmp_path),
    }
    assert len(ids) == 3
    assert reopen(vault.place.root, vault, tmp_path) == vault.writer.layout.id


def test_a_hostile_id_leads_nowhere(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    write(vault.place.gitdir / "vault-agent/id", "../../../../tmp/evil\n")
    fresh = open_vault(vault.place.root, tmp_path / "state", vault.clock, vault.writer.options)
    assert fresh.writer.layout.folder.parent == tmp_path / "state"
