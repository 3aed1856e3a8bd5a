"""What the vault lists, what a watcher sees and what was indexed are compared by hash, so all hash the same bytes."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.clock import SystemClock
from agent.vault import listing
from agent.vault.listing import contents, list_notes, listed
from agent.vault.store import Vault, open_vault
from agent.vault.worktree.survey import Survey, surveying
from tests.vaults import FAST, blob_id, committed, git, make_vault, write


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


def test_a_note_that_git_was_told_never_to_look_at_is_read(vault: Vault) -> None:
    root = vault.place.root
    git(root, "update-index", "--assume-unchanged", "a.md")
    write(root / "a.md", "edited in spite of it\n")
    assert contents(vault) == _on_disk(vault)
    (root / "a.md").unlink()
    assert contents(vault) == _on_disk(vault)


def test_what_git_may_not_have_seen_is_in_doubt(vault: Vault) -> None:
    root = vault.place.root
    assert list_notes(vault).doubtful == frozenset() and list_notes(vault).is_clean
    write(root / "a.md", "plainer\n")
    found = list_notes(vault)
    assert found.doubtful == frozenset({"a.md"}) and not found.is_clean
    assert found.notes == _on_disk(vault)
    git(root, "commit", "-q", "-a", "-m", "plainer")
    for key, value in (("core.trustctime", "false"), ("core.checkStat", "minimal")):
        git(root, "config", key, value)
        assert list_notes(vault).doubtful is None, "git may overlook an edit that has the time of before"
        git(root, "config", "--unset", key)
    assert list_notes(vault).doubtful == frozenset()


def test_all_is_in_doubt_when_git_s_index_changes_meanwhile(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout between git's list and its look at the files: the list is of before, and nothing differs."""
    root = vault.place.root

    @contextmanager
    def checked_out_before(*asked: Any) -> Iterator[Callable[[], Survey]]:
        yield lambda: _after(lambda: surveying(*asked))

    def _after(looked: Callable[[], AbstractContextManager[Callable[[], Survey]]]) -> Survey:
        write(root / "a.md", "of another branch\n")
        git(root, "commit", "-q", "-a", "-m", "another")
        with looked() as found:
            return found()

    monkeypatch.setattr(listing, "surveying", checked_out_before)
    found = list_notes(vault)
    assert found.is_clean and found.notes["a.md"] == blob_id(b"plain\n"), "the hash of before"
    assert found.doubtful is None


@pytest.mark.parametrize("below", ["", "in/here"])
def test_what_is_listed_is_the_same_from_an_index_in_a_shorter_form(tmp_path: Path, below: str) -> None:
    notes: dict[str, str | bytes] = {"a.md": "a\n", "b.md": "b\n", "c.txt": "c\n", "ü/文.md": "d\n", "gone.md": "e\n"}
    root = (
        make_vault(tmp_path, {f"{below}/{path}".lstrip("/"): data for path, data in notes.items()}).place.root / below
    )
    write(root / "vault-agent.yaml", "")
    write(root / "program.md", "f\n")
    (root / "program.md").chmod(0o755)
    (root / "link.md").symlink_to("a.md")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "more")
    write(root / "b.md", "edited\n")
    write(root / "staged.md", "staged\n")
    git(root, "add", "staged.md")
    write(root / "new.md", "new\n")
    (root / "gone.md").unlink()
    write(root / "assumed.md", "one\n")
    git(root, "add", "assumed.md")
    git(root, "update-index", "--assume-unchanged", "assumed.md")
    write(root / "assumed.md", "two\n")
    vault = open_vault(root, tmp_path / "other", SystemClock(), FAST)
    here = contents(vault)
    git(root, "update-index", "--index-version", "4")
    assert contents(vault) == here
    assert set(here) == {"a.md", "b.md", "ü/文.md", "program.md", "staged.md", "new.md", "assumed.md"}
    assert (here["b.md"], here["assumed.md"]) == (blob_id(b"edited\n"), blob_id(b"two\n"))
