"""A note is found by its name, as a link has it, or by an alias; never one of several."""

from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from agent.errors import NoteGone, UserError
from agent.vault.find import find_named_note, find_note
from agent.vault.note_names import NoteNames, linking_notes
from tests.vaults import make_vault

NOTES = {
    "People/Rui Matos.md": "---\naliases: [roofer, 瑞]\n---\nRui mends roofs.\n",
    "People/Mara.md": "The roofer came.\n",
    "a/Tea.md": "x\n",
    "b/Tea.md": "y\n",
}


@pytest.mark.parametrize(
    "name",
    ["[[Rui Matos]]", "Rui Matos", "rui matos.md", "[[People/Rui Matos|Rui]]", "![[Rui Matos#Work]]", "Roofer", "瑞"],
)
def test_a_link_a_name_and_an_alias_find_their_note(tmp_path: Path, name: str) -> None:
    assert find_named_note(make_vault(tmp_path, NOTES), name) == "People/Rui Matos.md"


@pytest.mark.parametrize("name", ["Board", "[[board]]", "maps/Board", "Board.canvas"])
def test_a_canvas_or_a_picture_is_found_by_its_name_without_the_ending(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {**NOTES, "maps/Board.canvas": "{}", "Rui Matos.png": b"x"})
    assert find_named_note(vault, name) == "maps/Board.canvas"
    assert find_named_note(vault, "Rui Matos") == "People/Rui Matos.md", "a note comes first"


def test_a_name_of_several_notes_is_asked_back_and_a_path_is_not(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, NOTES)
    with pytest.raises(UserError, match=r"2 notes are named Tea: a/Tea.md, b/Tea.md"):
        find_named_note(vault, "[[Tea]]")
    assert find_named_note(vault, "b/Tea") == "b/Tea.md"
    with pytest.raises(NoteGone):
        find_named_note(vault, "Coffee")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_an_accent_may_be_a_character_of_its_own_as_macos_writes_it(
    tmp_path: Path, form: Literal["NFC", "NFD"]
) -> None:
    cafe = normalize(form, "People/Café Inès.md")
    link: Literal["NFC", "NFD"] = "NFC" if form == "NFD" else "NFD"
    vault = make_vault(tmp_path, {cafe: "A place.\n", "plan.md": normalize(link, "At [[Café Inès]].\n")})
    for name in ("People/Café Inès.md", "People/café inès", "Café Inès", "[[Café Inès]]"):
        assert find_named_note(vault, normalize(link, name)) == cafe
    assert find_note(vault, normalize(link, "People/Café Inès")) == cafe
    assert linking_notes(vault, cafe, NoteNames.of(vault.note_paths())) == {"plan.md": 1}
