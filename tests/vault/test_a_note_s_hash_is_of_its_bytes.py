"""What the vault lists, what a watcher sees and what was indexed are compared by hash, so all hash the same bytes."""

import os
from pathlib import Path

import pytest

from agent.vault import listing
from agent.vault.listing import contents, listed
from agent.vault.store import Vault
from tests.vaults import blob_id, committed, git, make_vault, write


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Notes under `secret/` go through a filter on their way into git; all are committed by git itself."""
    vault = make_vault(tmp_path, {"a.md": "plain\n", ".gitattributes": "secret/** filter=upper\n"})
    root = vault.place.root
    git(root, "config", "filter.upper.clean", "tr a-z A-Z")
    write(root / "secret" / "b.md", "hidden\n")
    os.utime(root / "secret" / "b.md", (1e9, 1e9))  # long ago, so that git takes it for unchanged without reading it
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "with a filter")
    assert committed(root, "secret/b.md") == b"HIDDEN\n"
    return vault


def _on_disk(vault: Vault) -> dict[str, str]:
    root = vault.place.root
    return {path.relative_to(root).as_posix(): blob_id(path.read_bytes()) for path in root.rglob("*.md")}


def test_a_note_that_a_filter_rewrites_has_the_hash_of_the_file(vault: Vault) -> None:
    assert contents(vault) == _on_disk(vault)


def test_it_has_so_after_changes_too(vault: Vault) -> None:
    root = vault.place.root
    write(root / "secret" / "b.md", "other\n")
    write(root / "secret" / "c.md", "new\n")
    write(root / "a.md", "plainer\n")
    assert contents(vault) == _on_disk(vault)
    git(root, "add", "-A")
    assert contents(vault) == _on_disk(vault)
    (root / "secret" / "b.md").unlink()
    assert contents(vault) == _on_disk(vault)


def test_many_paths_are_listed_as_few_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"a.md": "a\n", "[b].md": "b\n", "sub/c.md": "c\n", "away/d.md": "d\n", ".gitignore": "away/\n"}
    vault = make_vault(tmp_path, notes)
    write(vault.place.root / "new.md", "new\n")
    asked = ["a.md", "[b].md", "sub/c.md", "away/d.md", "new.md", "not there.md"]
    few = listed(vault, asked)
    monkeypatch.setattr(listing, "_NAMED", 0)
    assert listed(vault, asked) == few == {"a.md", "[b].md", "sub/c.md", "new.md"}
