"""A look at a folder says whether there is anything of one kind; a note that only explains the folder is nothing."""

import os
from pathlib import Path

import pytest

from agent.vault.folders import APPROVALS, MACHINES, QUESTIONS
from agent.vault.glance import has_notes, has_records
from agent.vault.layout import ASKED, SET_ASIDE
from tests.vaults import make_vault


@pytest.mark.parametrize("name", ["About {}.md", "关于 {}.md"])
def test_a_note_that_explains_its_folder_tells_nothing(tmp_path: Path, name: str) -> None:
    """Vaults of earlier versions have one in each folder."""
    folders = (QUESTIONS, MACHINES, APPROVALS)
    notes = {f"{each}{name.format(each.rstrip('/'))}": "---\ntype: about\n---\n# About\n" for each in folders}
    made = make_vault(tmp_path, notes)
    root = made.place.root
    for name in folders:
        assert not has_notes(made, name)
        (root / made.home.at(name) / "one.md").write_text("# One\n\ntype: about\n", "utf-8")
        assert has_notes(made, name)


def test_what_cannot_be_read_counts_as_there(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    folder = vault.place.root / vault.home.at(QUESTIONS)
    assert not has_notes(vault, QUESTIONS)
    folder.mkdir()
    (folder / "a picture.png").write_bytes(b"x")
    assert not has_notes(vault, QUESTIONS)
    (folder / "gone.md").symlink_to("nowhere")
    assert has_notes(vault, QUESTIONS)
    (folder / "gone.md").unlink()
    (folder / "folder.md").mkdir()
    assert has_notes(vault, QUESTIONS)


def test_records_are_seen_by_their_folder(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    assert not has_records(vault, SET_ASIDE) and not has_records(vault, ASKED)
    folder = vault.private_folder / ASKED
    folder.mkdir(parents=True)
    assert not has_records(vault, ASKED)
    (folder / "key.json").write_text("{}", "utf-8")
    assert has_records(vault, ASKED)
    (vault.private_folder / SET_ASIDE).write_text("no folder", "utf-8")
    assert has_records(vault, SET_ASIDE) and os.path.lexists(vault.private_folder / SET_ASIDE)
