"""Two machines with one vault learn rules at the same time, in real clones with a remote between them: nothing that
either has written is lost, and both come to the same notes."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.vault.provenance.remotes import Writers, plain_address
from tests.fakes import FakeClock
from tests.growth.lessons.desk import READ, START, Desk, reflection, strategy, three
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import git

FIGURES = "Name the source of each figure"
OUTLINE = "Write an outline for a long text"


@pytest.fixture
def both(tmp_path: Path) -> tuple[tuple[Machine, Desk], tuple[Machine, Desk]]:
    clocks = FakeClock(START), FakeClock(START)
    clocks[1].ids = 5_000  # two machines never make the same id
    one, other = two_machines(tmp_path, {"tea.md": "# Tea\n"}, clocks=clocks)
    one.git("remote", "add", "origin", str(one.remote))  # the other one has it from its clone
    for machine in (one, other):
        machine.vault.provenance.answers.answer(plain_address(str(machine.remote)), Writers.ME)
    return (one, Desk(one.vault, clocks[0])), (other, Desk(other.vault, clocks[1]))


def in_step(one: Machine, other: Machine) -> None:
    """Both have what the other has; nothing is a conflict, and nothing waits for a commit."""
    one.synced()
    other.synced()
    one.synced()
    assert one.vault.head == other.vault.head and one.files() == other.files()
    assert not [path for path in one.files() if "conflict" in path.casefold()]
    assert git(one.root, "status", "--porcelain") == "" and git(other.root, "status", "--porcelain") == ""


def rows(machine: Machine, path: str) -> set[str]:
    return {row for row in machine.read(path).splitlines() if row.startswith("| 2026")}


def test_two_rules_that_begin_at_once_are_both_there(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    here.admit(*READ)
    there.admit(FIGURES)
    written = rows(one, "lessons/log.md") | rows(other, "lessons/log.md")
    assert len(written) == 4
    in_step(one, other)
    assert rows(one, "lessons/log.md") == written and one.read("lessons/log.md").count("| time |") == 1
    assert {rule.text for rule in here.book.lessons} == {rule.text for rule in there.book.lessons} == {READ[0], FIGURES}
    assert {row.event for row in here.tend()} | {row.event for row in there.tend()} == set()


def test_uses_on_both_machines_count_together(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    rule = here.admit(*READ)
    in_step(one, other)
    there.clock.advance((here.clock.now() - there.clock.now()).total_seconds() + 60)
    here.use(rule, *[True] * 4)
    there.clock.advance(600)
    there.use(there.lesson(), *[True] * 4)
    in_step(one, other)
    assert len(here.book.counted(here.lesson())) == len(there.book.counted(there.lesson())) == 8
    assert [row.event for row in here.tend()] == ["active"]
    in_step(one, other)
    assert there.lesson().state == "active" and there.tend() == ()


def test_evidence_and_status_of_one_rule_meet(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    rule = here.admit(*READ)
    in_step(one, other)
    here.learn(*three(*READ, first=10))  # one machine has more evidence for it
    there.reflections = list(here.reflections[:3])
    there.clock.advance((START + timedelta(days=10) - there.clock.now()).total_seconds())
    there.use(there.lesson(), *[True] * 8)
    assert [row.event for row in there.tend()] == ["active"]  # the other one makes it active
    written = rows(one, "lessons/log.md") | rows(other, "lessons/log.md")
    in_step(one, other)
    merged = here.lesson()
    assert merged.state == "active" and len(here.evidence(merged)) == 6 and merged.words == rule.words
    assert merged == there.lesson() and not merged.is_persons
    assert rows(one, "lessons/log.md") == written
    assert {row.event for row in (*here.tend(), *there.tend())} <= {"supported"}


def test_the_same_lesson_admitted_on_both_is_one_row(
    both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]],
) -> None:
    (one, here), (other, there) = both
    here.admit(*READ)
    there.clock.advance(4 * 86_400)
    there.admit(*READ)
    there.use(there.lesson(), True)
    evidence = {*here.evidence(here.lesson()), *there.evidence(there.lesson())}
    in_step(one, other)
    assert here.lesson() == there.lesson() and here.lesson().state == "probation"
    assert {*here.evidence(here.lesson())} == evidence
    assert len(here.book.counted(here.lesson())) == 1
    assert here.tend() == there.tend() == () and here.book.log.unwanted == ()


def test_what_the_person_decided_about_it_holds_on_both(
    both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]],
) -> None:
    (one, here), (other, there) = both
    here.admit(*READ)
    in_step(one, other)
    there.edit("· on probation", "· active")
    here.learn(*three(FIGURES, first=10))
    here.answer()
    there.clock.advance(here.clock.now().timestamp() - there.clock.now().timestamp())
    there.tend()
    in_step(one, other)
    lesson = next(each for each in here.book.lessons if each.text == READ[0])
    assert lesson.state == "active" and here.book.is_settled_by_person(lesson)
    assert len(here.book.lessons) == 2 and here.tend() == there.tend() == ()


@pytest.mark.parametrize("seed", range(3))
def test_many_rounds_lose_no_row(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]], seed: int) -> None:
    """Each machine learns, uses and judges between the rounds; every row that was written is on both in the end."""
    (one, here), (other, there) = both
    written: set[str] = set()
    said = (READ[seed % 3], FIGURES, OUTLINE)
    for step in range(3):
        for machine, desk, text in ((one, here, said[step]), (other, there, said[(step + 1) % 3])):
            run = f"{machine.name}-{step}"
            first = step * 10 + (0 if machine is one else 3)
            desk.learn(*(reflection(first + day, strategy(text), run=f"{run}-{day}") for day in range(3)))
            desk.answer()
            for rule in desk.book.lessons:
                desk.use(rule, True, (seed + step) % 2 == 0)
            desk.tend()
            written |= rows(machine, "lessons/log.md")
        one.synced()
        other.synced()
        one.synced()
    assert one.vault.head == other.vault.head
    assert rows(one, "lessons/log.md") == rows(other, "lessons/log.md") and rows(one, "lessons/log.md") >= written
    assert {rule.text for rule in here.book.lessons} == set(said)
