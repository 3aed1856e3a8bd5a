"""git's index is changed by git, whatever form it has: what a person staged stays so, and a split one is joined."""

import os
from pathlib import Path

import pytest

from agent.errors import GitFailed
from agent.git.commit import Committer
from agent.vault.change import Stamp
from tests.vaults import git, make_vault, write

AGENT = Stamp("agent")
FOLDERS = ("", "a/", "a/b/", "a-b/", "long/" + "x" * 200 + "/")


def notes(count: int) -> dict[str, str | bytes]:
    return {f"{FOLDERS[number % 5]}note-{number:03}.md": f"{number}\n" for number in range(count)}


def test_a_person_s_staged_notes_stay_staged_in_a_split_index(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, notes(100))
    root = vault.place.root
    git(root, "update-index", "--split-index")
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
    assert "theirs.md" in git(root, "diff", "--cached", "--name-only")


def test_a_split_index_is_joined_by_the_first_change_unless_the_person_wants_it(tmp_path: Path) -> None:
    """Vaults of more than 20,000 notes have one from earlier versions, whose old base lies there until it is unused."""
    for wanted in ("", "true"):
        vault = make_vault(tmp_path / (wanted or "unset"), notes(50))
        root = vault.place.root
        git(root, "update-index", "--split-index")
        (base,) = vault.place.gitdir.glob("sharedindex.*")
        if wanted:
            git(root, "config", "core.splitIndex", wanted)
        with vault.transaction("one", AGENT) as tx:
            tx.create("first.md", b"one\n")
            tx.edit("a/note-001.md", b"1\n", b"2\n")
        assert bool(git(root, "rev-parse", "--shared-index-path").strip()) == bool(wanted)
        assert base.exists()
        with vault.transaction("two", AGENT) as tx:
            tx.create("second.md", b"two\n")
        assert git(root, "status", "--porcelain") == ""
        git(root, "fsck", "--strict")


def test_a_file_system_without_links_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(self))

    vault = make_vault(tmp_path, notes(10))
    root, index = vault.place.root, vault.place.gitdir / "index"
    write(root / "theirs.md", "new\n")
    git(root, "add", "theirs.md")
    os.utime(index, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with vault.transaction("one", AGENT) as tx:
        tx.edit("a/note-001.md", b"1\n", b"2\n")
    assert git(root, "status", "--porcelain") == "A  theirs.md\n"


def test_an_index_in_another_form_is_changed(tmp_path: Path) -> None:
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


def test_an_index_that_is_a_link_is_not_written_before_the_change_is_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path, notes(10))
    index, real = vault.place.gitdir / "index", tmp_path / "elsewhere"
    index.rename(real)
    index.symlink_to(real)
    before = real.read_bytes()

    def refuse(*asked: object, **named: object) -> bool:
        raise GitFailed("update-ref", 1, "no")

    with monkeypatch.context() as failing, pytest.raises(GitFailed):
        failing.setattr(Committer, "_update_head", refuse)
        with vault.transaction("one", AGENT) as tx:
            tx.create("first.md", b"one\n")
    assert real.read_bytes() == before
    with vault.transaction("two", AGENT) as tx:
        tx.create("second.md", b"two\n")
    assert git(vault.place.root, "status", "--porcelain") == ""
