"""What a skill states already becomes no rule: the skill gets it as a line, as its next version, after a yes."""

from collections.abc import Sequence

import pytest

from agent.growth.lessons.lesson_work import KnownSkill
from agent.markdown.note import Note
from agent.skills.variants.trial_shelf import TrialRecord, save_trial
from agent.vault.change import Stamp
from agent.vault.history.find import commits
from tests.growth.lessons.desk import READ, Desk, three
from tests.vaults import write

BODY = "# Edit\n\n1. Read the note before you change it.\n2. Change it.\n"
HISTORY = 'learned_from:\n  - "[[entries/a]]"\nversion_history:\n  - v1: "2026-10-01: learned"\n'
LEARNED = f"---\nname: edit\ndescription: Edits notes.\n{HISTORY}---\n{BODY}"
OWN = f"---\nname: edit\ndescription: Edits notes.\n---\n{BODY}"
PATH = "skills/learned/edit/SKILL.md"


def skill(desk: Desk, text: str = LEARNED, path: str = PATH) -> str:
    """A skill in the vault, that may be used."""
    with desk.vault.transaction("skills: x", Stamp("human")) as change:
        change.create(path, text.encode())
    desk.skills = [KnownSkill("edit", text.partition("---\n")[2].partition("---\n")[2], path)]
    return path


def text_of(desk: Desk, path: str = PATH) -> str:
    return (desk.root / path).read_text("utf-8")


def test_the_line_is_proposed_with_what_it_rests_on(desk: Desk) -> None:
    skill(desk)
    assert desk.learn(*three(*READ)) == ()
    assert desk.asked() == ["May the skill edit get this line: a note is changed: Read the note before you change it"]
    said = desk.question()
    assert "“Read the note before you change it”" in said
    assert said.count("[[reflections/") >= 6 and "+- a note is changed: Read the note" in said
    assert text_of(desk) == LEARNED and desk.learn() == () and len(desk.asked()) == 1


def test_a_yes_writes_the_next_version_with_its_evidence(desk: Desk) -> None:
    trusted: list[str] = []
    skill(desk)
    desk.trust = trusted.append
    desk.learn(*three(*READ))
    assert [(row.event, row.by, row.target) for row in desk.answer()] == [
        ("supported", "person", PATH.removesuffix(".md"))
    ]
    note = Note.parse(text_of(desk).encode())
    assert note.body == f"{BODY}\n## What runs have taught\n\n- a note is changed: Read the note before you change it\n"
    versions = note.header["version_history"]
    assert isinstance(versions, Sequence) and len(versions) == 2 and "from 3 reflections" in str(versions[1])
    assert note.strings("learned_from")[0] == "[[entries/a]]" and len(note.strings("learned_from")) == 4
    assert trusted == [PATH] and desk.book.lessons == ()
    assert {each.actor for each in commits(desk.vault, limit=2)} == {"job:growth/lessons"}


def test_it_is_not_asked_again_and_only_logged_afterwards(desk: Desk) -> None:
    path = skill(desk)
    desk.learn(*three(*READ))
    desk.answer()
    desk.skills = [KnownSkill("edit", text_of(desk), path)]
    rows = desk.learn(*three(READ[1], first=10))
    assert desk.asked() == [] and [row.event for row in rows] in ([], ["supported"])


def test_a_no_is_remembered_and_the_skill_stays(desk: Desk) -> None:
    skill(desk)
    desk.learn(*three(*READ))
    assert [row.event for row in desk.answer(yes=False)] == ["refused"]
    desk.learn(*three(*READ, first=10))
    assert desk.asked() == [] and text_of(desk) == LEARNED


def test_another_line_stands_below_the_first_one_and_what_follows_stays(desk: Desk) -> None:
    more = "## What runs have taught\n\n- Name the source\n\n## Notes\n\nMine.\n"
    skill(desk, f"{LEARNED}\n{more}")
    desk.learn(*three(*READ))
    desk.answer()
    assert text_of(desk).endswith(
        "- Name the source\n- a note is changed: Read the note before you change it\n\n## Notes\n\nMine.\n"
    )


def test_the_header_of_a_persons_skill_stays_as_it_is(desk: Desk) -> None:
    path = skill(desk, OWN, "skills/edit/SKILL.md")
    desk.learn(*three(*READ))
    desk.answer()
    assert text_of(desk, path).startswith(OWN) and "What runs have taught" in text_of(desk, path)


def test_a_skill_that_has_changed_since_is_left_alone(desk: Desk) -> None:
    path = skill(desk)
    desk.learn(*three(*READ))
    write(desk.root / path, f"{LEARNED}3. Mine.\n")
    desk.answer()
    assert text_of(desk).endswith("3. Mine.\n") and "What runs have taught" not in text_of(desk)


@pytest.mark.parametrize("why", ["on trial", "not in the vault"])
def test_where_it_cannot_be_changed_it_is_logged(desk: Desk, why: str) -> None:
    path = skill(desk)
    if why == "on trial":
        save_trial(desk.vault, TrialRecord("edit", 1, "skills/mutations/edit-1.md", "x", "y", "z"))
    else:
        desk.skills = [KnownSkill("edit", BODY)]
    rows = desk.learn(*three(*READ))
    assert [(row.event, row.target) for row in rows] == [("supported", "")] and "edit says so" in rows[0].why
    assert desk.asked() == [] and text_of(desk, path) == LEARNED


def test_a_chinese_skill_gets_a_chinese_section(desk: Desk) -> None:
    desk.language = "zh"
    skill(desk, "---\nname: edit\ndescription: 改笔记。\n---\n# 修改\n\n1. 修改笔记之前先读一遍。\n")
    desk.learn(*three("修改笔记之前先读一遍", "改动笔记前先读一遍", "修改笔记前先读一遍笔记", when="要修改笔记"))
    assert desk.asked()[0].startswith("技能 edit 可以加上这一行吗：要修改笔记：")
    desk.answer()
    assert "## 运行中学到的\n\n- 要修改笔记：" in text_of(desk)
