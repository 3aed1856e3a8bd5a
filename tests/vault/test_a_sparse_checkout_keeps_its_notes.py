"""A note that a sparse checkout keeps out of the folder is never replaced, never called deleted, never counted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import BadPath, Permanent
from agent.git.index_file import IndexFile, load_index
from agent.vault.change import Stamp
from agent.vault.health.repair import rebuild_index
from agent.vault.health.status import status
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.listing import contents
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from tests.vaults import FORMAT, committed, git, make_vault, write

AGENT = Stamp("agent", "r1")
AWAY = [f"away/{number}.md" for number in range(30)]
NOTES: dict[str, str | bytes] = {"note.md": "mine\n", "here/a.md": "a\n", **{name: f"{name}\n" for name in AWAY}}


def cone(root: Path) -> None:
    git(root, "sparse-checkout", "set", "--cone", "here")


def patterns(root: Path) -> None:
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/away/")


def short_index(root: Path) -> None:
    """The index has one line for the whole folder that is away."""
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "here")
    assert "040000" in git(root, "ls-files", "-s", "--sparse")


def version_4(root: Path) -> None:
    cone(root)
    git(root, "update-index", "--index-version", "4")


def by_hand(root: Path) -> None:
    """No sparse checkout: a person has marked the notes one by one."""
    git(root, "update-index", "--skip-worktree", *AWAY)
    for name in AWAY:
        (root / name).unlink()


SHAPES: tuple[Callable[[Path], None], ...] = (cone, patterns, short_index, version_4, by_hand)


def sparse(folder: Path, shape: Callable[[Path], None] = cone) -> Vault:
    vault = make_vault(folder, NOTES)
    shape(vault.place.root)
    assert not (vault.place.root / AWAY[0]).exists()
    return vault


def marked(root: Path) -> list[str]:
    return [row[2:] for row in git(root, "ls-files", "-t").splitlines() if row.startswith("S ")]


DOORS: dict[str, Callable[[Transaction], None]] = {
    "create": lambda tx: tx.create(AWAY[0], b"x\n"),
    "append": lambda tx: tx.append(AWAY[0], b"x\n"),
    "edit": lambda tx: tx.edit(AWAY[0], b"x\n", b"y\n"),
    "delete": lambda tx: tx.delete(AWAY[0]),
    "move over it": lambda tx: tx.move("note.md", AWAY[0]),
    "move it": lambda tx: tx.move(AWAY[0], "new.md"),
}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_write_replaces_it_and_everything_else_goes_on(tmp_path: Path, shape: Callable[[Path], None]) -> None:
    vault = sparse(tmp_path, shape)
    root = vault.place.root
    for ask in DOORS.values():
        with pytest.raises(BadPath, match="sparse checkout"), vault.transaction("x", AGENT) as tx:
            ask(tx)
    with vault.transaction("y", AGENT) as tx:
        tx.append("here/a.md", b"more\n")
        tx.create("away/new.md", b"new\n")
    assert tx.outcome.commit and vault.read("away/new.md") == b"new\n"
    write(root / "note.md", "mine\nmy line\n")
    assert vault.commit_human().paths == ("note.md",)
    assert status(vault).dirty == () and git(root, "status", "--porcelain") == ""
    assert committed(root, AWAY[0]) == f"{AWAY[0]}\n".encode() and committed(root, "away/new.md") == b"new\n"
    assert marked(root) == sorted(AWAY)
    here = {"note.md", "here/a.md", "away/new.md"}
    assert set(vault.note_paths()) == here == set(contents(vault))
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_the_error_says_how_to_bring_it_here(tmp_path: Path) -> None:
    vault = sparse(tmp_path)
    with pytest.raises(BadPath) as error, vault.transaction("x", AGENT) as tx:
        tx.create(AWAY[0], b"x\n")
    assert AWAY[0] in error.value.message and "git sparse-checkout" in error.value.hint
    git(vault.place.root, "sparse-checkout", "disable")
    with vault.transaction("x", AGENT) as tx:
        tx.append(AWAY[0], b"x\n")
    assert committed(vault.place.root, AWAY[0]) == f"{AWAY[0]}\nx\n".encode()


def test_a_note_of_ours_that_was_put_away_is_not_written_anew(tmp_path: Path) -> None:
    vault = sparse(tmp_path)
    root = vault.place.root
    with vault.transaction("x", AGENT) as tx:
        tx.create("away/ours.md", b"one\n")
    git(root, "update-index", "-q", "--refresh")
    git(root, "sparse-checkout", "reapply")
    assert not (root / "away/ours.md").exists()
    with pytest.raises(BadPath, match="sparse"), vault.transaction("x", AGENT) as tx:
        tx.append("away/ours.md", b"two\n")
    assert committed(root, "away/ours.md") == b"one\n"


def test_undo_says_what_it_leaves(tmp_path: Path) -> None:
    vault = sparse(tmp_path)
    root = vault.place.root
    with vault.transaction("x", AGENT) as tx:
        tx.create("away/ours.md", b"one\n")
        tx.create("here/ours.md", b"one\n")
    git(root, "update-index", "-q", "--refresh")
    git(root, "sparse-checkout", "reapply")
    done = undo(vault, Selection(run="r1"))
    assert [(word.about, "sparse" in word.reason) for word in done.skipped] == [("away/ours.md", True)]
    assert committed(root, "away/ours.md") == b"one\n" and committed(root, "here/ours.md") is None


def test_a_lost_index_does_not_delete_what_is_away(tmp_path: Path) -> None:
    vault = sparse(tmp_path)
    root = vault.place.root
    (root / ".git" / "index").unlink()
    with pytest.raises(Permanent, match="sparse"), vault.transaction("x", AGENT) as tx:
        tx.create("new.md", b"x\n")
    assert not (root / "new.md").exists() and not (root / ".git" / "index").exists()
    with pytest.raises(Permanent, match="sparse"):
        rebuild_index(vault)
    git(root, "read-tree", "-m", "HEAD")  # what the hint says
    git(root, "sparse-checkout", "reapply")
    with vault.transaction("x", AGENT) as tx:
        tx.create("new.md", b"x\n")
    assert marked(root) == sorted(AWAY) and status(vault).dirty == ()


def test_a_note_that_is_there_although_it_is_marked_may_be_written(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, NOTES)
    root = vault.place.root
    git(root, "update-index", "--skip-worktree", "note.md")
    with vault.transaction("x", AGENT) as tx:
        tx.append("note.md", b"more\n")
    assert committed(root, "note.md") == b"mine\nmore\n"
    assert vault.note_paths() == sorted(NOTES) and marked(root) == ["note.md"]


def test_in_a_sha256_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT, "sha256")
    vault = sparse(tmp_path)
    with pytest.raises(BadPath), vault.transaction("x", AGENT) as tx:
        tx.create(AWAY[0], b"x\n")


def test_a_vault_without_marks_asks_git_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, NOTES)
    asked: list[str] = []
    real = vault.git.run

    class Counting:
        gitdir, width = vault.git.gitdir, vault.git.width

        def run(self, *args: str) -> bytes:
            asked.append(args[0])
            return real(*args)

    git_like = Counting()
    names = [name.encode() for name in NOTES]
    index = load_index(git_like)  # type: ignore[arg-type]
    assert index.submodules(names) == index.skipped(names) == set()
    assert asked == []


def test_a_missing_border_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndexFile, "skipped", lambda self, paths: set())
    vault = sparse(tmp_path)
    with vault.transaction("x", AGENT) as tx:
        tx.create(AWAY[0], b"x\n")
    assert committed(vault.place.root, AWAY[0]) == b"x\n"
