"""What two machines with one vault see of each other's work."""

from pathlib import Path

import pytest

from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import git

NOTES = {
    "plan.md": "# Plan\n\nFirst.\n\nSecond.\n\nThird.\n",
    "tea.md": "# Tea\n\nGreen.\n",
    "trips/rome.md": "# Rome\n",
}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, NOTES)


def test_what_one_writes_the_other_reads(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.write("new/梦.md", "# 梦\n")
    (one.root / "tea.md").unlink()
    assert set(one.synced().sent) == {"plan.md", "new/梦.md", "tea.md"}
    assert set(other.synced().received) == {"plan.md", "new/梦.md", "tea.md"}
    assert other.files() == one.files() and other.read("plan.md") == one.read("plan.md")
    assert one.vault.head == other.vault.head and git(other.root, "status", "--porcelain") == ""


def test_nothing_to_do_makes_no_commit(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    before = one.vault.head
    assert one.synced().received == other.synced().sent == ()
    assert one.vault.head == other.vault.head == before


def test_both_edit_and_both_have_all(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"].replace("First.", "First, by one."))
    other.write("tea.md", "# Tea\n\nBlack.\n")
    one.synced()
    other.synced()
    one.synced()
    assert one.vault.head == other.vault.head
    assert "First, by one." in other.read("plan.md") and "Black." in one.read("tea.md")
    parents = git(other.root, "log", "-1", "--format=%P %an").split()
    assert len(parents) == 3 and parents[2] == "vault-agent"


def test_an_edit_wins_over_a_deletion_and_is_listed(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "tea.md").unlink()
    one.synced()
    other.write("tea.md", "# Tea\n\nOolong.\n")
    assert other.synced().kept == ("tea.md",)
    one.synced()
    assert one.read("tea.md") == other.read("tea.md") == "# Tea\n\nOolong.\n"


def test_a_note_edited_here_and_moved_there_is_both(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "plan.md").rename(one.root / "trips/schedule.md")
    one.synced()
    other.write("plan.md", NOTES["plan.md"].replace("Second.", "Second, by other."))
    other.write("log.md", "See [[plan]].\n")
    other.synced()
    one.synced()
    assert one.files() == other.files() == {"trips/schedule.md", "tea.md", "trips/rome.md", "log.md"}
    assert "Second, by other." in one.read("trips/schedule.md")
    assert one.read("log.md") == "See [[schedule]].\n"


def test_new_notes_follow_a_folder_that_moved(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "trips").rename(one.root / "journeys")
    one.synced()
    other.write("trips/oslo.md", "# Oslo\n")
    other.synced()
    one.synced()
    assert {"journeys/rome.md", "journeys/oslo.md"} < one.files() == other.files()


def test_the_same_name_made_twice_is_two_notes_with_their_links(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("ideas.md", "# Ideas\n\nA boat.\n")
    one.write("one.md", "My [[ideas]].\n")
    one.synced()
    other.write("ideas.md", "# Ideas\n\nA garden.\n")
    other.write("other.md", "My [[ideas]].\n")
    other.synced()
    one.synced()
    assert one.files() == other.files() >= {"ideas.md", "ideas (2).md"}
    for machine in (one, other):
        for author, text in (("one.md", "A boat."), ("other.md", "A garden.")):
            target = machine.read(author).removeprefix("My [[").partition("]]")[0]
            assert text in machine.read(f"{target}.md")


def test_a_rewritten_remote_that_loses_text_waits_and_nothing_moves(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.synced()
    other.synced()
    other.git("reset", "-q", "--hard", "HEAD~1")
    other.git("push", "-q", "--force", "origin", "main")
    one.write("tea.md", "# Tea\n\nMint.\n")
    report = one.sync()
    assert report.wait is not None and report.wait.kind == "rewritten" and report.wait.paths == ("plan.md",)
    assert "Fourth." in one.read("plan.md") and "rewritten" in report.trouble
