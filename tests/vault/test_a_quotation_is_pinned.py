"""A quotation of a note is pinned to the commit that has the note as it is, and to none where no commit does."""

from pathlib import Path

from agent.vault.history.commits import pins
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
