"""What contradicts a lesson is reported in the log; where it matters, the person is asked if the opposite holds."""

import pytest

from agent.asking.answers import pending_proposals
from agent.growth.lessons.lesson import Lesson
from tests.growth.lessons.desk import HEAD, Desk, reflection, strategy, three
from tests.vaults import write

ASK, NEVER = "Ask before you read a note", "Never ask before you read a note"
OLD, NEW = f"a note is changed: {ASK}", f"a note is changed: {NEVER}"
QUESTION = f"May the opposite hold from now on: {NEW}"


def active(desk: Desk) -> Lesson:
    """A lesson that has passed its probation."""
    desk.use(desk.admit(ASK), *[True] * 8)
    desk.tend()
    assert desk.lesson().state == "active"
    return desk.lesson()


def test_of_one_on_probation_it_is_only_reported(desk: Desk) -> None:
    desk.admit(ASK)
    (row,) = desk.learn(*three(NEVER, first=10))
    assert (row.event, row.by, row.words) == ("contradicted", "agent", OLD)
    (logged,) = desk.book.log.of(desk.lesson().key, "contradicted")
    assert f"“{NEW}”; until then 0 of 0 runs" in logged.why and logged.why.count("[[reflections/") == 3
    assert desk.lesson().text == ASK and not desk.lesson().is_persons and desk.lesson().state == "probation"
    assert desk.asked() == [] and desk.learn() == ()


def test_what_was_only_reported_is_asked_about_once_it_is_active(desk: Desk) -> None:
    lesson = desk.admit(ASK)
    desk.learn(*three(NEVER, first=10))
    desk.use(desk.lesson(), *[True] * 8)
    assert "active" in [row.event for row in desk.tend()]
    assert desk.asked() == [QUESTION] and "8 of 8 runs" in desk.question()
    assert desk.tend() == () and desk.asked() == [QUESTION] and desk.lesson().words == lesson.words


def test_about_an_active_one_the_person_is_asked_once(desk: Desk) -> None:
    active(desk)
    assert [row.event for row in desk.learn(*three(NEVER, first=10))] == ["contradicted"]
    said = desk.question()
    assert desk.asked() == [QUESTION] and f"“{OLD}”" in said and "8 of 8 runs" in said
    assert said.count("[[reflections/") >= 3 and f"+- *a note is changed:* {NEVER} · active" in said
    assert desk.learn(*three(NEVER, first=20)) == () and len(desk.asked()) == 1 and desk.lesson().text == ASK


def test_the_opposite_is_taken(desk: Desk) -> None:
    old = active(desk)
    desk.learn(*three(NEVER, first=10))
    rows = desk.answer()
    assert [(row.event, row.by) for row in rows[:3]] == [
        ("replaced", "person"),
        ("changed", "person"),
        ("active", "agent"),
    ]
    lesson = desk.lesson()
    assert lesson.text == NEVER and lesson.state == "active" and not lesson.is_persons
    log = desk.book.log
    assert log.version(lesson.key) == 2 and len(log.evidence(lesson.key)) == 6
    assert f"before (v1): {OLD}" in log.of(lesson.key, "changed")[0].why
    assert desk.tend() == () and "deleted" not in {row.event for row in log.of(old.key)}


def test_it_is_kept_and_the_opposite_does_not_come_back(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    assert [(row.event, row.words) for row in desk.answer(yes=False)] == [("refused", NEW)]
    assert desk.lesson().text == ASK and desk.lesson().state == "active"
    assert desk.learn(*three(NEVER, first=20)) == () and desk.asked() == []


def test_two_ticks_are_a_no(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    path = desk.root / pending_proposals(desk.vault, "rule")[0].path
    write(path, path.read_text().replace("- [ ] approve", "- [x] approve").replace("- [ ] reject", "- [x] reject"))
    desk.tend()
    assert desk.lesson().text == ASK


def test_an_answer_about_other_words_does_nothing(desk: Desk) -> None:
    active(desk)
    desk.learn(*three(NEVER, first=10))
    desk.edit(ASK, "Ask before you read a letter")
    desk.answer()
    assert desk.lesson().text == "Ask before you read a letter"


@pytest.mark.parametrize("why", ["grave", "the person's"])
def test_it_matters_for_one_of_the_persons_and_where_it_is_grave(desk: Desk, why: str) -> None:
    if why == "grave":
        desk.admit(ASK)
        said = [reflection(day, strategy(NEVER, severity="high")) for day in range(10, 13)]
    else:
        write(desk.root / "lessons.md", f"{HEAD}- *a note is changed:* {ASK}\n")
        said = three(NEVER, first=10)
    desk.learn(*said)
    assert desk.asked() == [QUESTION]


def test_not_more_than_three_questions_wait(desk: Desk) -> None:
    active(desk)
    for at, text in enumerate(("Name the source of each figure", "Write an outline", "Answer in five sentences")):
        desk.learn(*(reflection(10 + day, strategy(text), run=f"{at}-{day}") for day in range(3)))
    assert len(desk.asked()) == 3
    assert desk.learn(*three(NEVER, first=20)) == ()
    desk.answer(yes=False)
    assert desk.asked() == [QUESTION]


def test_one_or_two_reflections_are_no_contradiction(desk: Desk) -> None:
    active(desk)
    assert desk.learn(reflection(10, strategy(NEVER)), reflection(11, strategy(NEVER))) == ()


def test_a_chinese_vault_is_asked_in_chinese(desk: Desk) -> None:
    desk.language = "zh"
    desk.use(desk.admit("修改笔记之前先问", when="要修改笔记"), *[True] * 8)
    desk.tend()
    desk.learn(*three("修改笔记之前不要先问", when="要修改笔记", first=10))
    assert desk.asked()[0].startswith("可以从现在起改用相反的吗：要修改笔记：")
