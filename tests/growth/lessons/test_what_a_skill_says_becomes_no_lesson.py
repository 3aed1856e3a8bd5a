"""What a skill states already becomes no lesson besides: the log says so, once."""

from agent.growth.lessons.lesson_work import KnownSkill
from tests.growth.lessons.desk import READ, Desk, three

BODY = "# Edit\n\n1. Read the note before you change it.\n2. Change it.\n"


def test_it_is_logged_and_not_asked_about(desk: Desk) -> None:
    desk.skills = [KnownSkill("edit", BODY)]
    (row,) = desk.learn(*three(*READ))
    assert (row.event, row.target) == ("supported", "") and "edit says so" in row.why
    assert "[[reflections/" in row.why and desk.asked() == [] and desk.book.lessons == ()
    assert desk.learn() == ()


def test_a_chinese_skill_is_understood(desk: Desk) -> None:
    desk.language = "zh"
    desk.skills = [KnownSkill("edit", "# 修改\n\n1. 修改笔记之前先读一遍。\n")]
    (row,) = desk.learn(
        *three("修改笔记之前先读一遍", "改动笔记前先读一遍", "修改笔记前先读一遍笔记", when="要修改笔记")
    )
    assert row.why.startswith("技能 edit 里已经有了：") and desk.asked() == []


def test_what_no_skill_says_is_asked_about(desk: Desk) -> None:
    desk.skills = [KnownSkill("edit", "# Edit\n\n1. Change it.\n2. Send it to Ana.\n")]
    assert desk.learn(*three(*READ)) == () and len(desk.asked()) == 1
