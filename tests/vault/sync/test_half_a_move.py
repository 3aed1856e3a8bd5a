"""A move of which only one half is in a commit, or in git's index: the note stands once when all is done."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.vault.sync.round import RoundEnd
from agent.vault.write.left_out import HALF, KEPT
from tests.fakes import FakeClock
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
        for machine, path in ((one, "roma.md"),) if word == "First" else ((other, "rome.md"), (other, "roma.md")):
            machine.write(path, wanted)
    for machine in pair:
        machine.vault.commit_human()
    order = [one, other] if whole_first else [other, one]
    for machine in (*order, *order):
        machine.synced()
    for machine in pair:
        assert machine.files() == {"roma.md", "plan.md"} and machine.read("roma.md") == wanted
    assert one.vault.head == other.vault.head


@pytest.mark.parametrize("first", [0, 1])
def test_a_new_note_at_the_old_place_is_none_of_the_move(pair: tuple[Machine, Machine], first: int) -> None:
    one, other = pair
    for machine in pair:
        (machine.root / "rome.md").rename(machine.root / "roma.md")
    other.write("rome.md", "# Rome\n\nAnother day.\n")
    for machine in pair:
        machine.vault.commit_human()
    for machine in (pair[first], pair[1 - first]) * 2:
        machine.synced()
    for machine in pair:
        assert machine.read("roma.md") == ROME and machine.read("rome.md") == "# Rome\n\nAnother day.\n"


def test_another_note_with_the_name_that_one_is_moved_to_is_a_note_of_its_own(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "rome.md").rename(one.root / "roma.md")
    other.write("roma.md", "# Roma\n\nA football club.\n")
    for machine in (one, other, one):
        machine.synced()
    texts = {one.read(path) for path in one.files()}
    assert {ROME, "# Roma\n\nA football club.\n"} <= texts and one.files() == other.files()


def _stage_the_new_place(machine: Machine) -> None:
    machine.git("add", "roma.md")


def _stage_the_deletion(machine: Machine) -> None:
    machine.git("rm", "-q", "--cached", "rome.md")


@pytest.mark.parametrize("stage", [_stage_the_new_place, _stage_the_deletion])
def test_a_staged_half_waits_for_its_person_and_is_one_note_then(
    pair: tuple[Machine, Machine], stage: Callable[[Machine], None]
) -> None:
    one, other = pair
    one.write("rome.md", ROME + "\nBy one.\n")
    one.synced()
    (other.root / "rome.md").rename(other.root / "roma.md")
    stage(other)
    other.write("plan.md", "See [[roma]].\n")
    before = other.git("status", "--porcelain"), other.vault.head
    report = other.sync()
    assert report.end is RoundEnd.WAITS and "staged" in report.trouble and report.hint, report.trouble
    assert before == (other.git("status", "--porcelain"), other.vault.head)
    other.git("add", "-A")
    other.git("commit", "-q", "-m", "Moved")
    other.synced()
    one.synced()
    assert one.files() == other.files() == {"roma.md", "plan.md"}
    assert one.read("roma.md") == other.read("roma.md") == ROME + "\nBy one.\n"


@pytest.mark.parametrize("stage", [_stage_the_new_place, _stage_the_deletion])
def test_the_other_half_is_no_edit_of_its_own(pair: tuple[Machine, Machine], stage: Callable[[Machine], None]) -> None:
    _, other = pair
    (other.root / "rome.md").rename(other.root / "roma.md")
    stage(other)
    other.write("plan.md", "See [[roma]].\n")
    outcome = other.vault.commit_human()
    assert outcome.paths == ("plan.md",) and [*outcome.left_out.values()] == [HALF]
    other.git("add", "-A")
    other.git("commit", "-q", "-m", "Moved")
    assert other.git("log", "-1", "-M", "--name-status", "--format=").split() == ["R100", "rome.md", "roma.md"]


def test_a_note_that_git_should_no_longer_follow_is_not_taken_up_again(pair: tuple[Machine, Machine]) -> None:
    _, other = pair
    other.git("rm", "-q", "--cached", "plan.md")
    other.write("plan.md", "Mine alone.\n")
    outcome = other.vault.commit_human()
    assert not outcome.human and outcome.left_out == {"plan.md": KEPT}
    assert other.git("diff", "--cached", "--name-status").split() == ["D", "plan.md"]


def test_another_program_gets_the_time_to_commit_what_it_has_staged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    one, other = two_machines(tmp_path, {"plan.md": "one\n"}, clocks=(None, clock))
    other.write("plan.md", "two\n")
    other.git("add", "-A")
    pause = clock.sleep

    def sleep(seconds: float) -> None:
        other.git("commit", "-q", "-m", "vault backup")
        pause(seconds)

    monkeypatch.setattr(clock, "sleep", sleep)
    other.synced()
    one.synced()
    assert one.read("plan.md") == "two\n"
