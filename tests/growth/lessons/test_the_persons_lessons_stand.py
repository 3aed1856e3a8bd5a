"""What the person writes, changes, strikes out, brings back or deletes by hand stands, and is in the log."""

import pytest

from agent.errors import UserError
from agent.growth.lessons.by_person import decide_lesson
from agent.growth.lessons.lesson import Lesson
from agent.growth.lessons.tend import follow_lessons
from agent.vault.history.find import commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.growth.lessons.desk import HEAD, READ, Desk, three
from tests.vaults import git, write

LONG = f"Never write into the archive, {'nor below it, ' * 60}whoever asks"
MINE = f"{HEAD}# Mine\n\nA paragraph.\n\n- Never write into the archive.\n- [ ] a task\n"


@pytest.fixture
def mine(desk: Desk) -> Lesson:
    """A lesson that the person has written by hand, in a note of their own making."""
    write(desk.root / "lessons.md", MINE)
    desk.vault.commit_human()
    assert [(row.event, row.by) for row in desk.tend()] == [("active", "person")]
    return desk.lesson()


def test_a_line_by_hand_is_active_at_once_and_the_note_is_not_touched(desk: Desk, mine: Lesson) -> None:
    assert mine.state == "active" and mine.is_persons and mine.text == "Never write into the archive."
    assert (desk.root / "lessons.md").read_text() == MINE


def test_it_is_never_set_aside_without_asking(desk: Desk, mine: Lesson) -> None:
    desk.use(mine, *(False,) * 8)
    assert desk.tend() == () and desk.lesson().state == "active"
    assert desk.asked() == ["May I set your rule aside: Never write into the archive."]
    assert desk.tend() == () and len(desk.asked()) == 1
    rows = desk.answer(yes=False)
    assert [(row.event, row.by) for row in rows] == [("active", "person")]
    assert desk.tend() == () and desk.asked() == [] and desk.lesson().state == "active"
    desk.use(mine, *(False,) * 8)
    desk.tend()
    assert len(desk.asked()) == 1
    desk.answer()
    assert desk.lesson().state == "deprecated" and desk.book.log.last_state(mine.key).by == "person"  # type: ignore[union-attr]
    assert "- ~~Never write into the archive.~~ · set aside\n" in (desk.root / "lessons.md").read_text()


@pytest.mark.parametrize(
    ("bullet", "said"),
    [("* ", LONG), ("- ", "Read ~~all of~~ the note"), ("+ ", "*mail  is sent：*  Ask me")],
)
def test_another_state_leaves_every_word_of_a_line_as_it_stands(desk: Desk, bullet: str, said: str) -> None:
    write(desk.root / "lessons.md", f"{HEAD}# Mine\n\n{bullet}{said}\n")
    desk.tend()
    decide_lesson(desk.work, desk.lesson(), "deprecated")
    assert (desk.root / "lessons.md").read_text() == f"{HEAD}# Mine\n\n{bullet}~~{said}~~ · set aside\n"
    decide_lesson(desk.work, desk.lesson(), "active")
    assert (desk.root / "lessons.md").read_text() == f"{HEAD}# Mine\n\n{bullet}{said} · active\n" and desk.tend() == ()


def test_an_edited_line_keeps_its_words_and_is_asked_about_before_it_goes(desk: Desk) -> None:
    desk.admit(*READ)
    desk.edit("Read the note before you change it", "Read it twice.")
    desk.tend()
    edited = desk.lesson()
    assert edited.text == "Read it twice." and edited.is_persons
    desk.use(edited, False, False, False)
    desk.tend()
    assert desk.lesson().state == "probation" and "Read it twice." in desk.asked()[0]


@pytest.mark.parametrize("how", ["line", "note", "undone"])
def test_a_deleted_line_never_comes_back(desk: Desk, how: str) -> None:
    lesson = desk.admit(*READ)
    if how == "line":
        desk.edit(f"{lesson.row}\n", "")
    elif how == "note":
        (desk.root / "lessons.md").unlink()
    else:
        git(desk.root, "rm", "-q", "lessons.md")
        git(desk.root, "commit", "-q", "-m", "away")
    rows = desk.tend()
    assert [(row.event, row.by) for row in rows] == [("deleted", "person")]
    desk.learn(*three(*READ, first=20))
    desk.learn(*three("Read a note before it is changed", first=30))
    assert desk.asked() == [] and desk.book.lessons == ()
    assert desk.tend() == ()


def test_a_line_may_stand_anywhere_in_the_note(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    desk.use(lesson, *(True,) * 7)
    desk.edit(f"{lesson.row}\n", f"## Reading\n\nOf old.\n\n{lesson.row}\n\nAnd so on.\n")
    assert desk.tend() == ()
    desk.use(desk.lesson(), True)
    assert [row.event for row in desk.tend()] == ["active"]
    assert "Of old." in (desk.root / "lessons.md").read_text() and desk.lesson().words == lesson.words


def test_a_state_set_by_hand_stands(desk: Desk) -> None:
    desk.admit(*READ)
    desk.edit("· on probation", "· active")
    assert [(row.event, row.by) for row in desk.tend()] == [("active", "person")]
    desk.use(desk.lesson(), *[False] * 6)
    desk.tend()
    assert desk.lesson().state == "active" and len(desk.asked()) == 1
    desk.answer(yes=False)
    desk.edit("- *a note", "- ~~*a note")
    desk.edit("change it ·", "change it~~ ·")
    assert [(row.event, row.by) for row in desk.tend()] == [("deprecated", "person")]
    desk.learn(*three(*READ, first=20))
    assert desk.asked() == [] and desk.lesson().state == "deprecated" and desk.lesson().text == READ[0]


def test_a_command_decides_in_the_persons_name(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    decide_lesson(desk.work, lesson, "deprecated", "too slow")
    commit = commits(desk.vault, limit=1)[0]
    assert commit.actor == "human" and desk.lesson().state == "deprecated" and desk.tend() == ()
    row = desk.book.log.last_state(lesson.key)
    assert row is not None and row.by == "person" and row.why == "too slow"
    with pytest.raises(UserError, match="aside already"):
        decide_lesson(desk.work, desk.lesson(), "deprecated")
    decide_lesson(desk.work, desk.lesson(), "active")
    assert desk.lesson().state == "active" and desk.tend() == ()
    desk.use(desk.lesson(), *(False,) * 8)
    desk.tend()
    assert desk.lesson().state == "active" and len(desk.asked()) == 1
    with pytest.raises(UserError, match="active already"):
        decide_lesson(desk.work, desk.lesson(), "active")


def test_lessons_are_found_by_what_people_type(desk: Desk, mine: Lesson) -> None:
    desk.edit("- Never", "- Never drink.\n- Never")
    for name in (mine.key, f"^l-{mine.key}", "archive", "Never write into the archive."):
        assert desk.book.find(name).text == mine.text
    with pytest.raises(UserError, match="several"):
        desk.book.find("never")
    with pytest.raises(UserError, match="no lesson"):
        desk.book.find("x1")


def test_a_broken_header_is_told_and_stops_all_and_loses_nothing(desk: Desk) -> None:
    desk.use(desk.admit(*READ), *(True,) * 8)
    note = desk.root / "lessons.md"
    broken = note.read_text().replace("type: lessons", "type: [")
    write(note, broken)
    with pytest.raises(UserError, match="that can be read"):
        desk.learn(*three("Name the source of each figure", first=20))
    assert not any(desk.book.lessons) and desk.asked() == []
    assert "Read the note" in note.read_text()
    write(note, note.read_text().replace("type: [", "type: lessons"))
    assert "deleted" not in {row.event for row in desk.tend()}
    assert desk.lesson().text == READ[0] and desk.lesson().state == "active"


@pytest.mark.parametrize("head", ["---\ntype: course\n---\n", ""])
def test_a_note_of_the_persons_that_is_something_else_is_none_of_lessons(desk: Desk, head: str) -> None:
    course = f"{head}- Monday: bring the violin\n"
    write(desk.root / "lessons.md", course)
    with pytest.raises(UserError, match="says `type: lessons`"):
        desk.learn(*three(*READ))
    assert desk.book.lessons == () and desk.asked() == [] and (desk.root / "lessons.md").read_text() == course


def test_nothing_is_logged_twice_while_changes_wait_for_the_repository(desk: Desk) -> None:
    lock = desk.root / ".git/MERGE_HEAD"
    write(desk.root / "lessons.md", MINE)
    desk.vault.commit_human()
    write(lock, f"{desk.vault.head}\n")
    follow_lessons(desk.work)
    assert desk.vault.queued and follow_lessons(desk.work) == ()
    lock.unlink()
    desk.vault.settle()
    assert [row.event for row in desk.book.log.rows] == ["active"] and desk.tend() == ()


def test_undoing_the_yes_that_began_the_note_takes_out_its_row_alone(desk: Desk) -> None:
    desk.admit(*READ)
    (first,) = [made for made in commits(desk.vault, limit=9) if "lessons.md" in {each.path for each in made.files}]
    desk.admit("Name the source of each figure")
    assert undo(desk.vault, Selection(commits=(first.id,)), confirmed=True).commit
    assert [lesson.text for lesson in desk.book.lessons] == ["Name the source of each figure"]


def test_what_a_person_does_to_a_line_while_another_is_judged_stays(desk: Desk) -> None:
    """Only the judged row of the note is written."""
    lesson = desk.admit(*READ)
    desk.use(lesson, *(True,) * 8)
    desk.edit("# What I have learned", "# What it has learned\n\n- Drink tea")
    desk.tend()
    said = (desk.root / "lessons.md").read_text()
    assert "# What it has learned\n\n- Drink tea\n" in said and "change it · active ^l-" in said


def test_a_clock_that_is_set_back_makes_no_news(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    desk.clock.advance(-2 * 86_400)
    desk.edit(lesson.row, f"- ~~{READ[0]}~~ ^l-{lesson.id}")
    assert [(row.event, row.by) for row in desk.tend()] == [("deprecated", "person")]
    assert desk.tend() == ()


def test_a_line_that_was_deleted_and_brought_back_learns_as_before(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    desk.edit(f"{lesson.row}\n", "")
    assert [row.event for row in desk.tend()] == ["deleted"]
    write(desk.root / "lessons.md", f"{(desk.root / 'lessons.md').read_text()}{lesson.row}\n")
    desk.tend()
    known = len(desk.evidence(lesson))
    desk.learn(*three(*READ, first=20))
    assert len(desk.evidence(lesson)) > known and desk.asked() == []


@pytest.mark.parametrize("open_part", ["```\ncode", "%%\nhidden"])
def test_a_lesson_is_one_also_below_what_was_left_open(desk: Desk, open_part: str) -> None:
    write(desk.root / "lessons.md", f"{HEAD}# Mine\n\n{open_part}\n")
    desk.admit(*READ)
    assert (desk.root / "lessons.md").read_text().startswith(f"{HEAD}# Mine\n\n{open_part}\n")
    assert desk.lesson().text == READ[0] and desk.tend() == ()


def test_the_whole_line_may_be_struck_out_with_its_mark(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    desk.edit(lesson.row, f"- ~~{lesson.row[2:]}~~")
    assert [(row.event, row.key) for row in desk.tend()] == [("deprecated", lesson.key)]
    decide_lesson(desk.work, desk.lesson(), "active")
    assert desk.lesson().row == lesson.row.replace("on probation", "active") and desk.tend() == ()
