"""A submodule or a clone inside the vault is never written into, replaced or swallowed, by whatever door."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import BadPath, UserError
from agent.vault.change import Create, Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault, open_vault
from agent.vault.transaction import Order, Transaction
from agent.vault.worktree import survey
from agent.vault.worktree.survey import dirty
from tests.vaults import FORMAT, committed, git, head, make_vault, write

AGENT = Stamp("agent", "r1")
Shape = Callable[[Path], None]


def with_submodule(root: Path) -> None:
    """A submodule as `git submodule add` makes it, committed."""
    _other(root.parent / "other")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root.parent / "other"), "sub")
    git(root, "commit", "-q", "-m", "sub")


def with_submodule_that_is_not_here(root: Path) -> None:
    """The same after a clone: the folder is empty."""
    with_submodule(root)
    git(root, "submodule", "--quiet", "deinit", "-f", "sub")
    assert list((root / "sub").iterdir()) == []


def with_submodule_without_its_folder(root: Path) -> None:
    with_submodule_that_is_not_here(root)
    (root / "sub").rmdir()


def with_submodule_in_the_index_only(root: Path) -> None:
    """Staged and not committed, and nothing of it is on disk."""
    oid = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{oid},sub")


def with_submodule_in_the_last_commit_only(root: Path) -> None:
    """The person has taken it out of the index, and is about to commit that."""
    with_submodule_without_its_folder(root)
    git(root, "rm", "-q", "--cached", "sub")


def with_submodule_in_a_long_index(root: Path) -> None:
    """An index whose names are shortened (version 4)."""
    with_submodule_that_is_not_here(root)
    git(root, "update-index", "--index-version", "4")


def with_submodule_in_a_split_index(root: Path) -> None:
    with_submodule_that_is_not_here(root)
    git(root, "update-index", "--split-index")


def with_clone(root: Path) -> None:
    _other(root / "sub")


def with_clone_under_way(root: Path) -> None:
    """`.git` is there, and git would not call it a repository yet."""
    (root / "sub" / ".git").mkdir(parents=True)
    write(root / "sub" / "a.md", "being cloned\n")


def with_pointer(root: Path) -> None:
    """A worktree or submodule whose `.git` is a file."""
    write(root / "sub" / ".git", "gitdir: ../../elsewhere\n")


def with_clone_on_a_disk_without_case(root: Path) -> None:
    (root / "sub" / ".GIT").mkdir(parents=True)


SHAPES: tuple[Shape, ...] = (
    with_submodule,
    with_submodule_that_is_not_here,
    with_submodule_without_its_folder,
    with_submodule_in_the_index_only,
    with_submodule_in_the_last_commit_only,
    with_submodule_in_a_long_index,
    with_submodule_in_a_split_index,
    with_clone,
    with_clone_under_way,
    with_pointer,
    with_clone_on_a_disk_without_case,
)


def _other(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    write(folder / "a.md", "theirs\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "theirs")


def state(root: Path) -> tuple[str, ...]:
    """All that must stay: the last commit, the index, and every file."""
    files = [f"{path.relative_to(root)} {path.stat().st_size}" for path in sorted(root.rglob("*.md"))]
    listed = git(root, "ls-files", "-s"), git(root, "status", "--porcelain", "--ignore-submodules=none")
    return git(root, "ls-tree", "-r", "HEAD"), *listed, *files


def ask_for(tx: Transaction, *paths: str) -> None:
    for path in paths:
        tx.create(path, b"x\n")


REFUSED = "repository of its own|not there|not a file"
DOORS: dict[str, Callable[[Transaction], None]] = {
    "create": lambda tx: tx.create("sub/new.md", b"x\n"),
    "create deep": lambda tx: tx.create("sub/deep/er/new.md", b"x\n"),
    "append": lambda tx: tx.append("sub/new.md", b"x\n"),
    "edit": lambda tx: tx.edit("sub/a.md", b"theirs\n", b"ours\n"),
    "delete": lambda tx: tx.delete("sub/a.md"),
    "move in": lambda tx: tx.move("note.md", "sub/note.md"),
    "move out": lambda tx: tx.move("sub/a.md", "a.md"),
    "in its place": lambda tx: tx.create("sub", b"x\n"),
    "among others": lambda tx: ask_for(tx, "fine.md", "sub/new.md"),
}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_write_reaches_it(tmp_path: Path, shape: Shape) -> None:
    vault = make_vault(tmp_path, {"note.md": "mine\n"})
    root = vault.place.root
    shape(root)
    before = state(root)
    for ask in DOORS.values():
        with (
            pytest.raises(UserError, match=REFUSED),
            vault.transaction("x", AGENT) as tx,
        ):
            ask(tx)
    assert state(root) == before
    vault.commit_human()
    assert state(root) == before
    with vault.transaction("beside it", AGENT) as tx:
        tx.create("subject.md", b"beside\n")
        tx.append("note.md", b"more\n")
    assert tx.outcome.commit and committed(root, "note.md") == b"mine\nmore\n"
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_the_error_says_what_it_is_and_what_to_do(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    with_clone(vault.place.root)
    with pytest.raises(BadPath) as error, vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")
    assert "sub/new.md lies in sub" in error.value.message and "submodule" in error.value.message
    assert "git" in error.value.hint


def test_a_submodule_below_a_vault_that_is_a_part_of_a_repository(tmp_path: Path) -> None:
    vault = inner(tmp_path)
    root = vault.place.root
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head(root)},notes/sub")
    with pytest.raises(BadPath, match="sub/new.md lies in sub"), vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")


def inner(folder: Path) -> Vault:
    """A vault in the folder `notes` of a larger repository."""
    vault = make_vault(folder, {"notes/vault-agent.yaml": "", "notes/note.md": "mine\n"})
    return open_vault(vault.place.root / "notes", folder / "inner", vault.clock, vault.writer.options)


def test_new_files_in_a_repository_under_way_are_not_swallowed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    with_clone_under_way(vault.place.root)
    write(vault.place.root / "mine.md", "mine\n")
    assert [item.path for item in dirty(vault.git, vault.place)] == ["mine.md"]
    assert vault.commit_human().paths == ("mine.md",)


def test_a_note_that_was_ours_before_is_still_recorded_when_its_folder_becomes_a_repository(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"projects/a.md": "old\n"})
    root = vault.place.root
    git(root / "projects", "init", "-q")
    write(root / "projects/a.md", "old\nmy line\n")
    write(root / "projects/new.md", "new\n")
    assert vault.commit_human().paths == ("projects/a.md",)
    assert committed(root, "projects/a.md") == b"old\nmy line\n"


def test_a_person_who_replaces_a_submodule_commits_that_themselves(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    with_submodule_in_the_last_commit_only(root)
    write(root / "sub" / "a.md", "now plain\n")
    write(root / "mine.md", "mine\n")
    assert vault.commit_human().paths == ("mine.md",)
    assert "160000 commit" in git(root, "ls-tree", "HEAD", "sub")
    git(root, "commit", "-q", "-m", "no submodule any more")
    assert vault.commit_human().paths == ("sub/a.md",)


def test_undo_leaves_what_has_become_a_repository_and_takes_the_rest_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    with vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")
        tx.create("other.md", b"x\n")
    git(root / "sub", "init", "-q")
    done = undo(vault, Selection(run="r1"))
    assert [word.about for word in done.skipped] == ["sub/new.md"] and "repository" in done.skipped[0].reason
    assert (root / "sub/new.md").exists() and not (root / "other.md").exists()


def test_an_order_that_waits_is_refused_at_once(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    with_clone(root)
    git(root, "checkout", "-q", "--detach")
    with pytest.raises(BadPath), vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")
    assert vault.writer.queue.count() == 0


def test_an_order_that_waited_while_it_was_cloned_is_set_aside_with_the_reason(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    vault.writer.enqueue(Order(vault.clock.new_id(), (Create("sub/new.md", b"x\n"),), "x", AGENT), "busy")
    with_clone(vault.place.root)
    vault.settle()
    assert "repository of its own" in "".join(vault.writer.queue.failed().values())


class Cut(BaseException):
    """Stands for the end of the process."""


def test_a_crash_is_settled_where_a_submodule_has_come_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as plant:
        plant.setattr("agent.git.commit.Committer.read_tip", cut)
        with pytest.raises(Cut), vault.transaction("x", AGENT) as tx:
            tx.create("sub/new.md", b"x\n")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head(root)},sub")
    git(root, "commit", "-q", "-m", "sub")
    vault.settle()
    assert vault.writer.journal.unfinished() == []
    assert "160000 commit" in git(root, "ls-tree", "HEAD", "sub")
    assert not (root / "sub/new.md").exists()


def test_a_file_of_just_that_size_is_no_submodule(tmp_path: Path) -> None:
    """In the index, 57,344 bytes look like the mode of a submodule."""
    name = "attachments/archive"
    vault = make_vault(tmp_path, {name: b"x" * 57344, "archive/old.md": "old\n"})
    with vault.transaction("x", AGENT) as tx:
        tx.create("archive/new.md", b"x\n")
    assert tx.outcome.commit


def test_in_a_sha256_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT, "sha256")
    vault = make_vault(tmp_path)
    with_submodule_in_the_index_only(vault.place.root)
    with pytest.raises(BadPath), vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")


def test_a_missing_border_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "closed", lambda git, place, paths: {})
    monkeypatch.setattr(survey, "check_tip", lambda tip, paths: None)
    vault = make_vault(tmp_path)
    root = vault.place.root
    with_submodule_that_is_not_here(root)
    before = state(root)
    with vault.transaction("x", AGENT) as tx:
        tx.create("sub/new.md", b"x\n")
    assert tx.outcome.commit and state(root) != before
