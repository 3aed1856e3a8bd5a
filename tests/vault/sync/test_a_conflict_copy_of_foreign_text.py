"""A conflict copy with a stranger's text says nothing to the agent: a merge has made it, not the person."""

from pathlib import Path

import pytest

from tests.remotes import Mallory, git_as
from tests.vault.sync.machines import two_machines


@pytest.mark.parametrize(
    ("mine", "theirs"), [("A first plan.", "Zed's plan."), ("My first plan.", "A stranger's plan.")]
)
def test_the_text_of_others_is_in_no_own_version(tmp_path: Path, mine: str, theirs: str) -> None:
    laptop, desk = two_machines(tmp_path, {"plan.md": "# Plan\n\nFirst.\n"})
    desk.vault.provenance.look()
    desk.vault.provenance.has_seen("plan.md")
    git_as(tmp_path, "Mallory", "clone", "-q", str(laptop.remote), str(tmp_path / "mallory"))
    mallory = Mallory(desk.root, tmp_path / "mallory", laptop.remote)
    mallory.pushes({"idea.md": f"{theirs}\n", "plan.md": f"# Plan\n\n{theirs}\n"})
    desk.write("idea.md", f"{mine}\n")
    desk.write("plan.md", f"# Plan\n\n{mine}\n")
    desk.synced()
    notes = sorted(path for path in desk.files() if path.startswith(("idea", "plan")))
    assert len(notes) == 4
    owned = b"".join(desk.vault.own_version(path) or b"" for path in notes)
    assert theirs.encode() not in owned
    assert mine.encode() in b"".join(desk.vault.read(path) or b"" for path in notes)


def test_a_note_moved_here_has_nothing_of_what_came_before_at_its_old_place(tmp_path: Path) -> None:
    laptop, desk = two_machines(tmp_path, {"plan.md": "# Plan\n"})
    desk.vault.provenance.look()
    git_as(tmp_path, "Mallory", "clone", "-q", str(laptop.remote), str(tmp_path / "mallory"))
    mallory = Mallory(desk.root, tmp_path / "mallory", laptop.remote)
    for text in ("First of Zed's.\n", "Second of Zed's.\n"):
        mallory.pushes({"idea.md": text})
        desk.synced()
    (desk.root / "idea.md").rename(desk.root / "mine.md")
    assert not desk.vault.own_version("mine.md")
    desk.vault.provenance.has_seen("mine.md")
    assert desk.vault.own_version("mine.md") == b"Second of Zed's.\n"
