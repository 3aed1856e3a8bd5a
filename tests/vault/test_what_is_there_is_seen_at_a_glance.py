"""A look at a folder says whether there is anything of one kind; a note that only explains the folder is nothing."""

import os
from pathlib import Path

import pytest

from agent.config.resources import resource
from agent.vault.folders import APPROVALS, MACHINES, QUESTIONS
from agent.vault.glance import has_notes, has_records
from agent.vault.layout import ASKED, SET_ASIDE
from agent.vault.template import placed, read_template
from tests.vaults import make_vault

LANGUAGES = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_vault_has_nothing_to_tell(tmp_path: Path, language: str) -> None:
    made = make_vault(tmp_path)
    laid = placed(read_template(resource("vault_template"), "zh" if language == "zh" else "en"), made.home)
    root = made.place.root
    for path, data in laid.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    for name in (QUESTIONS, MACHINES, APPROVALS):
        assert [*(root / made.home.at(name)).glob("*.md")], f"the template explains {name}"
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
