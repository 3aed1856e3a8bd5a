"""A note with an `id` stays one note, whatever is moved, put in its place, copied or merged."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.round import RoundEnd
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import FAST

PLAN = "---\nid: plan\n---\n# Plan\n\nFirst.\n\nSecond.\n"
TEA = "---\nid: tea\n---\n# Tea\n\nGreen.\n"
LIST = "---\nid: list\n---\n# List\n\nMilk.\n"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, {"plan.md": PLAN, "work/tea.md": TEA})


def ids(machine: Machine) -> Counter[str]:
    """How often each id stands in the notes of a machine."""
    lines = (line for path in machine.files() for line in machine.read(path).split("\n"))
    return Counter(line.removeprefix("id: ") for line in lines if line.startswith("id: "))


def test_a_conflict_copy_has_no_id(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", PLAN.replace("First.", "One says so."))
    other.write("plan.md", PLAN.replace("First.", "Other says no."))
    one.synced()
    other.synced()
    assert len(other.files()) == 3 and ids(other) == {"plan": 1, "tea": 1}


def test_another_note_in_the_place_of_one_that_moved_is_new(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "plan.md").rename(one.root / "old plan.md")
    one.write("plan.md", LIST)
    one.synced()
    other.write("plan.md", PLAN + "\nThird.\n")
    other.synced()
    assert "Third." in other.read("old plan.md") and other.read("plan.md") == LIST
    assert ids(other) == {"plan": 1, "tea": 1, "list": 1} and len(other.files()) == 3


def test_a_note_that_went_and_another_like_it_are_two(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "plan.md").unlink()
    one.write("next.md", PLAN.replace("id: plan", "id: next"))
    one.synced()
    other.write("plan.md", PLAN + "\nThird.\n")
    assert other.synced().kept == ("plan.md",)
    assert "Third." in other.read("plan.md") and "Third." not in other.read("next.md")


def test_a_new_note_that_both_know_at_two_places_is_one(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("list.md", LIST)
    one.synced()
    other.synced()
    other.git("push", "-q", "--force", "origin", "HEAD~1:main")
    (one.root / "list.md").rename(one.root / "work/list.md")
    (other.root / "work").rename(other.root / "home")
    for machine in (one, other, one):
        machine.sync()
        machine.synced(RemotePermission(RemoteChoice.KEEP))
    assert one.files() == other.files() and ids(one) == {"plan": 1, "tea": 1, "list": 1}


@pytest.mark.parametrize("moved", ["here", "there"])
def test_what_is_moved_on_one_side_and_changed_on_the_other_must_be_committed(tmp_path: Path, moved: str) -> None:
    one, other = two_machines(tmp_path, {"plan.md": PLAN}, replace(FAST, human_commits=False))
    mover, editor = (other, one) if moved == "here" else (one, other)
    (mover.root / "plan.md").rename(mover.root / "later.md")
    editor.write("plan.md", PLAN + "\nThird.\n")
    one.git("add", "-A")
    one.git("commit", "-q", "-m", "one")
    one.synced()
    files = other.files()
    report = other.sync()
    assert report.end is RoundEnd.WAITS and "plan.md" in report.trouble
    assert other.files() == files
    other.git("add", "-A")
    other.git("commit", "-q", "-m", "other")
    other.synced()
    assert other.files() == {"later.md"} and "Third." in other.read("later.md")
