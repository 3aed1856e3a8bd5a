"""A move of which only one half is in a commit, or in git's index: the note stands once when all is done."""

from pathlib import Path

import pytest

from tests.vault.sync.machines import Machine, two_machines

ROME = "# Rome\n\nFirst.\n\nSecond.\n"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, {"rome.md": ROME, "plan.md": "See [[rome]].\n"})


@pytest.mark.parametrize("edited", ["", "First, edited.", "Second, edited."])
@pytest.mark.parametrize("whole_first", [True, False])
def test_the_first_half_here_and_all_of_it_there_is_one_note(
    pair: tuple[Machine, Machine], whole_first: bool, edited: str
) -> None:
    one, other = pair
    (one.root / "rome.md").rename(one.root / "roma.md")
    other.write("roma.md", ROME)
    wanted = ROME
    if edited:
        word = edited.partition(",")[0]
        wanted = ROME.replace(f"{word}.", edited)
        (one if word == "First" else other).write("roma.md" if word == "First" else "rome.md", wanted)
    for machine in pair:
        machine.vault.commit_human()
    order = [one, other] if whole_first else [other, one]
    for machine in (*order, *order):
        machine.synced()
    for machine in pair:
        assert machine.files() == {"roma.md", "plan.md"} and machine.read("roma.md") == wanted
    assert one.vault.head == other.vault.head


def test_another_note_with_the_name_that_one_is_moved_to_is_a_note_of_its_own(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "rome.md").rename(one.root / "roma.md")
    other.write("roma.md", "# Roma\n\nA football club.\n")
    for machine in (one, other, one):
        machine.synced()
    texts = {one.read(path) for path in one.files()}
    assert {ROME, "# Roma\n\nA football club.\n"} <= texts and one.files() == other.files()
