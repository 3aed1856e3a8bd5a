"""What the person writes, changes, sets aside, brings back or deletes by hand stands, and is in the log."""

import pytest

from agent.errors import UserError
from agent.growth.rules.deciding import deprecate_rule, restore_rule
from agent.growth.rules.rule import LearnedRule
from agent.vault.history.find import commits
from tests.growth.rules.desk import READ, Desk, three
from tests.vaults import git, write


@pytest.fixture
def mine(desk: Desk) -> LearnedRule:
    """A rule that the person has written by hand."""
    write(desk.root / "rules/mine.md", "Never write into the archive.\n")
    desk.vault.commit_human()
    assert [(row.event, row.by) for row in desk.tend()] == [("active", "person")]
    return desk.rule()


def test_a_rule_by_hand_is_active_at_once_and_its_note_is_not_touched(desk: Desk, mine: LearnedRule) -> None:
    assert mine.status == "active" and mine.is_persons
    assert (desk.root / "rules/mine.md").read_text() == "Never write into the archive.\n"


def test_it_is_never_set_aside_without_asking(desk: Desk, mine: LearnedRule) -> None:
    desk.use(mine, *(False,) * 8)
    assert desk.tend() == () and desk.rule().status == "active"
    assert desk.asked() == ["May I set your rule aside: Never write into the archive."]
    assert desk.tend() == () and len(desk.asked()) == 1
    rows = desk.answer(yes=False)
    assert [(row.event, row.by) for row in rows] == [("active", "person")]
    assert desk.tend() == () and desk.asked() == [] and desk.rule().status == "active"
    desk.use(mine, *(False,) * 8)
    desk.tend()
    assert len(desk.asked()) == 1
    desk.answer()
    assert desk.rule().status == "deprecated" and desk.book.log.last_status(mine.path).by == "person"  # type: ignore[union-attr]


def test_an_edited_rule_keeps_its_words_and_is_asked_about_before_it_goes(desk: Desk) -> None:
    rule = desk.admit(*READ)
    path = desk.root / rule.path
    write(path, path.read_text().replace("\n# Read the note before you change it\n", "\n# Read it twice.\n"))
    desk.tend()
    edited = desk.rule()
    desk.use(edited, False, False, False)
    desk.tend()
    assert desk.rule().status == "probation" and "Read it twice." in desk.asked()[0]


def test_a_deleted_rule_never_comes_back(desk: Desk) -> None:
    rule = desk.admit(*READ)
    (desk.root / rule.path).unlink()
    rows = desk.tend()
    assert [(row.event, row.by) for row in rows] == [("deleted", "person")]
    desk.learn(*three(*READ, first=20))
    desk.learn(*three("Read a note before it is changed", first=30))
    assert desk.asked() == [] and desk.book.rules == ()
    assert desk.tend() == ()


def test_undoing_the_yes_deletes_it_too(desk: Desk) -> None:
    rule = desk.admit(*READ)
    git(desk.root, "rm", "-q", rule.path)
    git(desk.root, "commit", "-q", "-m", "away")
    assert [row.event for row in desk.tend()] == ["deleted"]


def test_a_rule_that_gets_another_name_is_the_same_rule(desk: Desk) -> None:
    rule = desk.admit(*READ)
    desk.use(rule, *(True,) * 7)
    (desk.root / rule.path).rename(desk.root / "rules/reading.md")
    rows = desk.tend()
    assert [(row.path, row.event) for row in rows] == [("rules/reading.md", "probation")]
    assert desk.tend() == ()
    desk.use(desk.rule(), True)
    assert [row.event for row in desk.tend()] == ["active"]


def test_a_status_set_by_hand_stands(desk: Desk) -> None:
    rule = desk.admit(*READ)
    path = desk.root / rule.path
    write(path, path.read_text().replace("status: probation", "status: active"))
    assert [(row.event, row.by) for row in desk.tend()] == [("active", "person")]
    desk.use(desk.rule(), *[False] * 6)
    desk.tend()
    assert desk.rule().status == "active" and len(desk.asked()) == 1
    desk.answer(yes=False)
    write(path, path.read_text().replace("status: active", "status: deprecated"))
    assert [(row.event, row.by) for row in desk.tend()] == [("deprecated", "person")]
    desk.learn(*three(*READ, first=20))
    assert desk.asked() == [] and desk.rule().status == "deprecated"


def test_a_command_decides_in_the_persons_name(desk: Desk) -> None:
    rule = desk.admit(*READ)
    deprecate_rule(desk.work, rule, "too slow")
    commit = commits(desk.vault, limit=1)[0]
    assert commit.actor == "human" and desk.rule().status == "deprecated" and desk.tend() == ()
    row = desk.book.log.last_status(rule.path)
    assert row is not None and row.by == "person" and row.why == "too slow"
    with pytest.raises(UserError, match="aside already"):
        deprecate_rule(desk.work, desk.rule())
    restore_rule(desk.work, desk.rule())
    assert desk.rule().status == "active" and desk.tend() == ()
    desk.use(desk.rule(), *(False,) * 8)
    desk.tend()
    assert desk.rule().status == "active" and len(desk.asked()) == 1
    with pytest.raises(UserError, match="active already"):
        restore_rule(desk.work, desk.rule())


def test_a_rule_without_a_header_can_be_set_aside(desk: Desk, mine: LearnedRule) -> None:
    deprecate_rule(desk.work, mine)
    assert desk.rule().status == "deprecated" and desk.rule().text == "Never write into the archive."
    assert desk.tend() == ()


def test_rules_are_found_by_what_people_type(desk: Desk, mine: LearnedRule) -> None:
    write(desk.root / "rules/mint.md", "Drink tea.\n")
    for name in ("mine", "rules/mine.md", "rules/mine", "Mine"):
        assert desk.book.find(name).path == "rules/mine.md"
    with pytest.raises(UserError, match="several"):
        desk.book.find("mi")
    with pytest.raises(UserError, match="no rule"):
        desk.book.find("x")
