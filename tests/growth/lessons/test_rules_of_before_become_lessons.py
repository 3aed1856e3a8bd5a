"""A vault of an earlier version: its rules are lessons at once, are taken over in one commit, and lose nothing."""

import pytest

from agent.asking.answers import propose
from agent.asking.proposal import ProposalDraft
from agent.growth.lessons.lesson import words_mark
from agent.vault.change import Stamp
from agent.vault.history.find import commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.growth.lessons.desk import READ, Desk, three
from tests.vaults import git, write

MARK = words_mark(READ[0], "a note is changed")
AT = "2026-10-01T12:00:00+00:00"
NOTE = "rules/read-the-note-before-you-change-it"
AGENTS = f"""---
id: 01J
type: rule
status: probation
version: 1
when: a note is changed
evidence:
  - "[[reflections/2026/10/2026-10-01-reflections]]"
learned: {MARK}
---
# {READ[0]}

## What it rests on

- 2026-10-01 [[reflections/2026/10/2026-10-01-reflections]]: Read it.
"""
MINE = "---\nstatus: active\n---\n# Mine\n\nNever write into the archive.\n\n## Why\n\nIt is full.\n"
LOG = f"""---
type: rule_log
---
# What became of the rules

| time | rule | event | by | why |
| --- | --- | --- | --- | --- |
| {AT} | [[{NOTE}]] a note is changed: {READ[0]} | probation | person | [[approvals/x]] |
| {AT} | [[rules/gone]] Whisper | deleted | person | you deleted its note |
"""
USES = f"| {AT} | run-1 | failed | [[{NOTE}]] {MARK} |  | [[sessions/s]] |\n"
TRIALS = (
    f"| {AT} | [[skills/mutations/plan-1]] plan | discarded | agent | worse |\n| {AT} | tea | nothing | agent | - |\n"
)


@pytest.fixture
def old(desk: Desk) -> Desk:
    with desk.vault.transaction("rules: x", Stamp("job:growth/rules", tool="rules")) as change:
        for path, text in {f"{NOTE}.md": AGENTS, "rules/log.md": LOG, "rules/history/2026-10.md": USES,
                           "skills/mutations/log.md": TRIALS}.items():  # fmt: skip
            change.create(path, text.encode())
    write(desk.root / "rules/mine.md", MINE)
    write(desk.root / "rules/broken.md", "---\nstatus: [\n---\nDo it.\n")
    desk.vault.commit_human()
    return desk


def test_they_hold_before_they_are_taken_over(old: Desk) -> None:
    assert {(each.text, each.state, each.is_persons) for each in old.book.lessons} == {
        (READ[0], "probation", False),
        ("Never write into the archive.", "active", True),
    }


def test_one_commit_takes_all_of_it_over(old: Desk) -> None:
    before = len(commits(old.vault, limit=50))
    known = set(old.book.lessons)
    assert old.tend() == ()
    (commit,) = commits(old.vault, limit=50)[: -before or None]
    assert commit.actor == "job:growth/lessons"
    assert {(each.text, each.state, each.is_persons) for each in old.book.lessons} == {
        (each.text, each.state, each.is_persons) for each in known
    }
    assert (old.root / "archive/rules/mine.md").read_text() == MINE
    assert (old.root / "archive/rules/log.md").read_text() == LOG
    assert [path.name for path in (old.root / "rules").iterdir() if path.is_file()] == ["broken.md"]
    rule = next(each for each in old.book.lessons if not each.is_persons)
    assert old.evidence(rule) == ("[[reflections/2026/10/2026-10-01-reflections]]",)
    assert [use.run for use in old.book.counted(rule)] == ["run-1"]
    row = old.book.log.last_state(rule.key)
    assert row is not None and row.by == "person" and row.at.isoformat() == AT
    assert old.book.log.unwanted == ("Whisper",)
    assert {row.event for row in old.book.log.of("plan")} == {"discarded"} and old.book.log.of("tea")
    assert old.tend() == () and git(old.root, "status", "--porcelain") == ""


def test_what_was_refused_stays_refused(old: Desk) -> None:
    old.tend()
    old.learn(*three("Whisper", when=""))
    assert old.asked() == []


def test_undoing_it_brings_the_notes_back_and_it_is_not_done_again(old: Desk) -> None:
    old.tend()
    assert undo(old.vault, Selection(jobs=("growth/lessons",)), confirmed=True).commit
    assert (old.root / f"{NOTE}.md").read_text() == AGENTS and (old.root / "rules/mine.md").read_text() == MINE
    old.tend()
    assert not [each for each in old.book.lessons if each.row] and len(old.book.lessons) == 2
    assert (old.root / "rules/mine.md").read_text() == MINE


def test_a_rule_that_a_yes_of_before_writes_is_taken_over_too(old: Desk) -> None:
    old.tend()
    write(old.root / "rules/new.md", "Drink tea.\n")
    old.vault.commit_human()
    old.tend()
    assert "- Drink tea. · active\n" in (old.root / "lessons.md").read_text()
    assert not (old.root / "rules/new.md").exists()


def test_a_rule_whose_note_was_broken_is_taken_over_once_it_is_mended(old: Desk) -> None:
    path = old.root / f"{NOTE}.md"
    write(path, AGENTS.replace("status: probation", "status: ["))
    old.vault.commit_human()
    assert [(row.event, row.words) for row in old.tend()] == []
    assert old.tend() == () and old.book.log.unwanted == ("Whisper",)
    write(path, AGENTS)
    old.vault.commit_human()
    old.tend()
    rule = next(each for each in old.book.lessons if not each.is_persons)
    assert rule.row and not path.exists()
    assert [(row.event, row.by) for row in old.book.log.of(rule.key)] == [
        ("probation", "person"), ("supported", "agent"),
    ]  # fmt: skip


def test_a_state_that_was_set_by_hand_is_the_persons(old: Desk) -> None:
    write(old.root / f"{NOTE}.md", AGENTS.replace("status: probation", "status: deprecated"))
    old.vault.commit_human()
    assert [(row.event, row.by) for row in old.tend()] == [("deprecated", "person")]
    assert old.tend() == ()


def test_what_was_undone_is_not_even_half_done_again(old: Desk) -> None:
    old.tend()
    undo(old.vault, Selection(jobs=("growth/lessons",)), confirmed=True)
    before = old.vault.head
    old.tend()
    assert old.vault.head == before and (old.root / "rules/log.md").read_text() == LOG


def test_a_no_to_what_an_earlier_version_asked_sets_the_rule_aside(old: Desk) -> None:
    facts = {"asks": "urgent", "rule": f"{NOTE}.md", "words": f"a note is changed: {READ[0]}"}
    propose(old.vault, ProposalDraft("rule", "read", "May it stay?", "Why", (), facts=facts), "en")
    old.answer(yes=False)
    rule = next(each for each in old.book.lessons if not each.is_persons)
    assert rule.state == "deprecated" and old.tend() == ()


def test_a_rule_that_another_machine_of_before_sets_aside_later_is_set_aside(old: Desk) -> None:
    old.tend()
    write(old.root / f"{NOTE}.md", AGENTS.replace("status: probation", "status: deprecated"))
    old.vault.commit_human()
    old.tend()
    rule = next(each for each in old.book.lessons if not each.is_persons)
    assert rule.state == "deprecated" and not (old.root / f"{NOTE}.md").exists() and old.tend() == ()
