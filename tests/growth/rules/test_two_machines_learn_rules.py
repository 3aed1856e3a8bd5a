"""Two machines with one vault learn rules at the same time, in real clones with a remote between them: nothing that
either has written is lost, and both come to the same notes."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.growth.rules.found_methods import append_tools, found_tool
from agent.vault.change import Stamp
from agent.vault.provenance.remotes import Writers, plain_address
from tests.fakes import FakeClock
from tests.growth.rules.desk import READ, START, Desk, reflection, strategy, three
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
    written = rows(one, "rules/log.md") | rows(other, "rules/log.md")
    assert len(written) == 2
    in_step(one, other)
    assert rows(one, "rules/log.md") == written and one.read("rules/log.md").count("| time |") == 1
    assert {rule.text for rule in here.book.rules} == {rule.text for rule in there.book.rules} == {READ[0], FIGURES}
    assert {row.event for row in here.tend()} | {row.event for row in there.tend()} == set()


def test_uses_on_both_machines_count_together(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    rule = here.admit(*READ)
    in_step(one, other)
    there.clock.advance((here.clock.now() - there.clock.now()).total_seconds() + 60)
    here.use(rule, *[True] * 4)
    there.clock.advance(600)
    there.use(there.rule(), *[True] * 4)
    in_step(one, other)
    assert len(here.book.counted(here.rule())) == len(there.book.counted(there.rule())) == 8
    assert [row.event for row in here.tend()] == ["active"]
    in_step(one, other)
    assert there.rule().status == "active" and there.tend() == ()


def test_evidence_and_status_of_one_rule_meet(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    rule = here.admit(*READ)
    in_step(one, other)
    here.learn(*three(*READ, first=10))  # one machine has more evidence for it
    there.reflections = list(here.reflections[:3])
    there.clock.advance((START + timedelta(days=10) - there.clock.now()).total_seconds())
    there.use(there.rule(), *[True] * 8)
    assert [row.event for row in there.tend()] == ["active"]  # the other one makes it active
    written = rows(one, "rules/log.md") | rows(other, "rules/log.md")
    in_step(one, other)
    merged = here.rule()
    assert merged.status == "active" and len(merged.evidence) == 6 and merged.words == rule.words
    assert merged.data == there.rule().data and not merged.is_persons
    assert rows(one, "rules/log.md") == written
    assert {row.event for row in (*here.tend(), *there.tend())} <= {"supported"}


def test_the_same_rule_admitted_on_both_becomes_one_and_no_word_is_lost(
    both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]],
) -> None:
    (one, here), (other, there) = both
    here.admit(*READ)
    there.clock.advance(4 * 86_400)
    there.admit(*READ)
    there.use(there.rule(), True)
    evidence = {*here.rule().evidence, *there.rule().evidence}
    written = rows(one, "rules/log.md") | rows(other, "rules/log.md")
    in_step(one, other)
    assert {row.replace(" (2)", "") for row in rows(one, "rules/log.md")} == written
    assert [(rule.text, rule.status) for rule in here.book.rules] == [(READ[0], "probation")] * 2
    assert "merged" in [row.event for row in here.tend()]
    there.tend()  # both merge them at once
    in_step(one, other)
    here.tend(), there.tend()  # a link in the log may have followed the other note, and is written anew
    in_step(one, other)
    assert here.rule().words == there.rule().words and {*here.rule().evidence} == evidence
    assert len(here.book.counted(here.rule())) == 1 and here.rule().status == "probation"
    for desk in (here, there):
        assert desk.book.log.of(desk.rule().path) and desk.book.log.unwanted == ()
        assert not desk.rule().is_persons
    assert here.tend() == there.tend() == ()


def test_what_the_person_decided_about_a_twin_holds(both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]]) -> None:
    (one, here), (other, there) = both
    here.admit(*READ)
    there.clock.advance(4 * 86_400)
    there.admit(*READ)
    other.write(there.rule().path, other.read(there.rule().path).replace("status: probation", "status: active"))
    in_step(one, other)
    here.tend()
    in_step(one, other)
    rule = here.rule()
    assert rule.status == "active" and here.book.is_settled_by_person(rule)


def test_tools_that_both_find_are_listed_once_each_and_a_tick_stays(
    both: tuple[tuple[Machine, Desk], tuple[Machine, Desk]],
) -> None:
    (one, here), (other, there) = both
    for machine, names in ((one, ("ripgrep", "fzf")), (other, ("ripgrep", "jq"))):
        found = [found_tool(name, "is of use", "research/a.md", "2026-11-03", []) for name in names]
        made = append_tools(machine.vault, found, "en")
        assert made is not None
        with machine.vault.transaction("research(topic): x", Stamp("agent", tool="research")) as change:
            change.requests.append(made)
    in_step(one, other)
    said = one.read("rules/found-methods.md")
    assert [said.count(f"**{name}**") for name in ("ripgrep", "fzf", "jq")] == [1, 1, 1]
    one.write("rules/found-methods.md", said.replace("- [ ] **jq**", "- [x] **jq**"))
    there.clock.advance(60)
    made = append_tools(other.vault, [found_tool("bat", "is of use", "research/a.md", "2026-11-03", [])], "en")
    assert made is not None
    with other.vault.transaction("research(topic): x", Stamp("agent", tool="research")) as change:
        change.requests.append(made)
    in_step(one, other)
    assert "- [x] **jq**" in other.read("rules/found-methods.md") and "**bat**" in one.read("rules/found-methods.md")


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
            for rule in desk.book.rules:
                desk.use(rule, True, (seed + step) % 2 == 0)
            desk.tend()
            written |= rows(machine, "rules/log.md")
        one.synced()
        other.synced()
        one.synced()
    assert one.vault.head == other.vault.head
    assert rows(one, "rules/log.md") == rows(other, "rules/log.md") and rows(one, "rules/log.md") >= written
    assert {rule.text for rule in here.book.rules} == set(said)
