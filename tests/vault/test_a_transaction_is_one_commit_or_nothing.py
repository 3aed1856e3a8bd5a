"""What a caller may rely on when it changes notes."""

from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import BadPath, Conflict, GitFailed, NoteExists, NoteGone, SecretFound
from agent.git.runner import Git
from agent.vault.change import Stamp
from agent.vault.store import open_vault
from tests.vaults import FAST, committed, git, head, make_vault, write

AGENT = Stamp("agent", run="r1", tool="vault_write", session="s1")


def test_several_changes_are_one_commit_with_its_trailers(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"})
    with vault.transaction("memory(entry): four things", AGENT, body="Because.") as tx:
        tx.create("new/d.md", b"four\n")
        tx.edit("a.md", b"one\n", b"one, edited\n")
        tx.append("b.md", b"more")
        tx.move("c.md", "moved/c.md")
    assert tx.outcome.commit == head(vault.place.root)
    assert git(vault.place.root, "rev-list", "--count", "HEAD").strip() == "2"
    message = git(vault.place.root, "log", "-1", "--format=%an|%B")
    assert message.startswith("vault-agent|memory(entry): four things\n\nBecause.\n\n")
    for line in ("Vault-Actor: agent", "Vault-Run: r1", "Vault-Tool: vault_write", "Vault-Session: s1"):
        assert f"\n{line}\n" in message
    assert committed(vault.place.root, "b.md") == b"two\nmore\n"
    assert committed(vault.place.root, "moved/c.md") == b"three\n"
    assert committed(vault.place.root, "c.md") is None
    assert git(vault.place.root, "status", "--porcelain") == ""
    assert "R100\tc.md\tmoved/c.md" in git(vault.place.root, "show", "-M", "--name-status", "--format=")


def test_an_error_inside_the_block_changes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    before = head(vault.place.root)
    with pytest.raises(RuntimeError), vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
        raise RuntimeError
    assert head(vault.place.root) == before
    assert not (vault.place.root / "b.md").exists()


def test_one_change_that_cannot_be_made_stops_all_of_them(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    before = head(vault.place.root)
    with pytest.raises(NoteExists, match="a.md exists"), vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
        tx.create("a.md", b"mine\n")
    with pytest.raises(NoteGone), vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
        tx.edit("gone.md", b"", b"x")
    with pytest.raises(Conflict), vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
        tx.delete("a.md", b"something else\n")
    assert head(vault.place.root) == before
    assert sorted(path.name for path in vault.place.root.iterdir()) == [".git", "a.md", "vault-agent.yaml"]


def test_changes_of_one_note_in_one_transaction_build_on_each_other(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    with vault.transaction("x", AGENT) as tx:
        tx.create("a.md", b"one\n")
        tx.append("a.md", b"two")
        tx.move("a.md", "b.md")
    assert committed(vault.place.root, "b.md") == b"one\ntwo\n"
    assert committed(vault.place.root, "a.md") is None


def test_nothing_to_do_makes_no_commit(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    before = head(vault.place.root)
    with vault.transaction("x", AGENT) as tx:
        tx.edit("a.md", b"one\n", b"one\n")
    assert tx.outcome.commit is None
    assert head(vault.place.root) == before


def test_an_append_keeps_the_note_s_line_endings_and_mends_a_missing_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"dos.md": b"one\r\ntwo"})
    with vault.transaction("x", AGENT) as tx:
        tx.append("dos.md", b"three\nfour")
    assert vault.read("dos.md") == b"one\r\ntwo\r\nthree\r\nfour\r\n"


def test_an_edit_of_a_note_that_moved_on_is_merged(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "top\n\nmiddle\n\nend\n"})
    write(vault.place.root / "a.md", "top, by hand\n\nmiddle\n\nend\n")
    with vault.transaction("x", AGENT) as tx:
        tx.edit("a.md", b"top\n\nmiddle\n\nend\n", b"top\n\nmiddle\n\nend, by the agent\n")
    assert vault.read("a.md") == b"top, by hand\n\nmiddle\n\nend, by the agent\n"
    assert tx.outcome.human is not None
    assert git(vault.place.root, "log", "-2", "--format=%an").split() == ["vault-agent", "Anna"]


def test_an_edit_that_cannot_be_merged_becomes_a_conflict_copy_that_both_notes_link(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "---\nid: 1\n---\nline\n"})
    write(vault.place.root / "a.md", "---\nid: 1\n---\nline by hand\n")
    with vault.transaction("x", AGENT) as tx:
        tx.edit("a.md", b"---\nid: 1\n---\nline\n", b"---\nid: 1\n---\nline by the agent\n")
    (copy,) = tx.outcome.conflicts
    original, other = vault.read("a.md"), vault.read(copy)
    assert original is not None and b"line by hand\n" in original and copy.removesuffix(".md").encode() in original
    assert other is not None and b"line by the agent\n" in other and b"[[a]]" in other


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/etc/x.md",
        ".git/config",
        "a/.GIT/x",
        ".obsidian/app.json",
        "vault-agent.yaml",
        "a//b.md",
        "",
        "a\0b.md",
    ],
)
def test_paths_that_are_not_for_notes_are_refused(tmp_path: Path, path: str) -> None:
    vault = make_vault(tmp_path)
    with pytest.raises(BadPath), vault.transaction("x", AGENT) as tx:
        tx.create(path, b"x")


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    (vault.place.root / "folder").symlink_to(outside)
    (vault.place.root / "note.md").symlink_to(outside / "secret.md")
    for path in ("folder/new.md", "note.md", "folder/secret.md"):
        with pytest.raises(BadPath), vault.transaction("x", AGENT) as tx:
            tx.append(path, b"x")
        with pytest.raises(BadPath):
            vault.read(path)
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_text() == "secret\n"


def test_a_vault_in_a_folder_of_a_repository_stays_in_its_folder(tmp_path: Path) -> None:
    outer = make_vault(tmp_path, {"notes/vault-agent.yaml": "", "notes/a.md": "one\n", "code.py": "x = 1\n"})
    root = outer.place.root
    write(root / "code.py", "x = 2\n")
    write(root / "notes/a.md", "one by hand\n")
    vault = open_vault(root / "notes", tmp_path / "state", SystemClock(), FAST)
    with vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
    assert committed(root, "notes/b.md") == b"two\n"
    assert vault.commit_human().paths == ("a.md",)
    assert git(root, "status", "--porcelain").strip() == "M code.py"
    assert vault.note_paths() == ["a.md", "b.md"]


KEY = "ghp_" + "a1B2c3D4e5F6" * 3


def test_a_secret_is_not_written_into_history_unless_a_person_excuses_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": f"known: {KEY}\nplain\n"})
    before = head(vault.place.root)
    with pytest.raises(SecretFound, match="GitHub token") as caught, vault.transaction("x", AGENT) as tx:
        tx.create("b.md", f"my token is {KEY}\n".encode())
    assert KEY not in str(caught.value) + caught.value.hint
    assert head(vault.place.root) == before
    with vault.transaction("x", AGENT) as tx:
        tx.create("b.md", f"my token is {KEY} %% vault-agent: allow-secret %%\n".encode())
        tx.edit("a.md", f"known: {KEY}\nplain\n".encode(), f"known: {KEY}\nplain, edited\n".encode())
    assert tx.outcome.commit == head(vault.place.root)


@pytest.mark.parametrize("linked", [False, True])
def test_a_commit_that_git_made_and_then_complained_about_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    root = vault.place.root
    if linked:
        git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
        root = tmp_path / "tree"
        vault = open_vault(root, tmp_path / "other-state", SystemClock(), FAST)
    run, moved = Git.run, list[str]()

    def complaining(self: Git, *args: str, **options: object) -> bytes:
        """git moves the branch, says that it did not, and answers nothing any more."""
        out = b"" if moved else run(self, *args, **options)  # type: ignore[arg-type]
        if moved or args[0] == "update-ref":
            moved.append(args[0])
            raise GitFailed(args[0], 1, "fatal: cannot say")
        return out

    monkeypatch.setattr(Git, "run", complaining)
    with vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
    monkeypatch.undo()
    assert moved == ["update-ref"] and tx.outcome.commit == head(root)
    assert committed(root, "b.md") == b"two\n"
