"""A quotation of a note is pinned to the commit that has the note as it is, and to none where no commit does."""

from pathlib import Path

from agent.vault.history.deletion import delete_purged
from agent.vault.history.pins import pins, read_pinned
from agent.vault.history.purge import Cleaning, purge
from agent.vault.store import Vault
from tests.vaults import git, head, make_vault, write


def test_only_what_the_last_commit_has_as_it_is_has_a_commit(tmp_path: Path) -> None:
    names = ["same.md", "a [1]*.md", "茶/绿茶.md", "edited.md", "staged.md"]
    vault = make_vault(tmp_path, {name: f"# {name}\n" for name in names})
    root = vault.place.root
    write(root / "edited.md", "# other\n")
    write(root / "staged.md", "# other\n")
    git(root, "add", "staged.md")
    write(root / "new/fresh.md", "# new\n")
    found = pins(vault, [*names, "new/fresh.md"])
    commit = head(root)
    assert [found.commit(name) for name in names] == [commit, commit, commit, None, None]
    assert found.commit("new/fresh.md") is None
    assert pins(vault, ["same.md"]).edited == frozenset()
    assert pins(vault, []).head is None


def test_a_pinned_note_is_read_as_it_was_and_nothing_else_is(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tea.md": "green\n", "empty.md": "", "茶 [1].md": "red\n"})
    root, commit = vault.place.root, head(vault.place.root)
    write(root / "tea.md", "white\n")
    now = vault.content_id(b"white\n")
    asked = [(name, commit) for name in ("tea.md", "empty.md", "茶 [1].md", "gone.md")] + [("tea.md", now)]
    was = {asked[0]: b"green\n", asked[1]: b"", asked[2]: b"red\n"}
    assert read_pinned(vault, asked) == {**was, asked[4]: b"white\n"}
    write(root / "tea.md", "black\n")
    assert read_pinned(vault, asked) == was
    odd = [("../tea.md", commit), ("", commit), ("a\nb.md", commit), ("tea.md", "HEAD"), ("tea.md", ""), (".", commit)]
    assert read_pinned(vault, odd) == read_pinned(vault, []) == {}


def without(vault: Vault, secret: bytes, token: str) -> None:
    """Take lines with a secret out of list.md, and its word out of log.md, in the history; drop the old commits."""

    def content(path: str, data: bytes) -> bytes:
        rows = data.splitlines(keepends=True)
        if path == "list.md":
            return b"".join(row for row in rows if secret not in row)
        return data.replace(secret, b"[forgotten]")

    purge(vault, Cleaning(("list.md", "log.md"), content, "removed"), token=token)
    delete_purged(vault)


def test_a_quotation_outlives_purges_unless_they_have_moved_its_lines(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"tea.md": "green\n", "list.md": "kelp\none\n", "log.md": "kelp and frog\n"})
    root, first = vault.place.root, head(vault.place.root)
    for text in ("frog\n", "nothing\n"):
        write(root / "tea.md", f"white {text}")
        write(root / "list.md", "one\ntwo\n")
        write(root / "log.md", f"and {text}")
        git(root, "commit", "-q", "-a", "-m", "later")
    second = git(root, "rev-parse", "HEAD^").strip()
    without(vault, b"kelp", "01HZZZZZZZ0000000000000001")
    without(vault, b"frog", "01HZZZZZZZ0000000000000002")
    assert vault.read_blobs([f"{first}:tea.md", f"{second}:tea.md"]) == [None, None], "the old commits are gone"
    asked = [(name, commit) for commit in (first, second) for name in ("tea.md", "log.md", "list.md")]
    wanted = [b"green\n", b"[forgotten] and [forgotten]\n", None, b"white frog\n", b"and [forgotten]\n", b"one\ntwo\n"]
    found = read_pinned(vault, asked)
    assert [found.get(each) for each in asked] == wanted
