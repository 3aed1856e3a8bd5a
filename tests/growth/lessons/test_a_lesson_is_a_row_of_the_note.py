"""A lesson is one row, for people and for the program; in the log a sentence has one kind of colon."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.growth.lessons.lesson import lesson_sentence, without_case, words_mark
from agent.growth.lessons.lesson_log import logged_words, parse_rows
from agent.growth.lessons.lesson_note import format_row, new_lesson, note_head, parse_lessons
from agent.texts import LANGUAGES
from tests.growth.lessons.desk import HEAD, Desk, three
from tests.vaults import write


@pytest.mark.parametrize(
    ("when", "text", "said"),
    [
        ("a note is changed", "Read it", "a note is changed: Read it"),
        ("要修改笔记", "先读一遍", "要修改笔记：先读一遍"),
        ("要修改笔记：", "先读一遍", "要修改笔记：先读一遍"),
        ("任务属于这类（搜索）", "想一想 ripgrep", "任务属于这类（搜索）：想一想 ripgrep"),
        ("un café", "Lis-le", "un café: Lis-le"),
        ("", "先读一遍", "先读一遍"),
    ],
)
def test_the_case_stands_before_it(when: str, text: str, said: str) -> None:
    assert lesson_sentence(text, when) == said and without_case(said) == text
    assert logged_words(said) == said.replace("：", ": ")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", ["probation", "active", "deprecated"])
@given(text=st.text(min_size=1, max_size=80), when=st.text(max_size=40))
@example(text="Read it", when="a * b")
def test_whatever_a_model_writes_a_row_is_read_as_it_was_written(
    language: str, state: str, text: str, when: str
) -> None:
    made = new_lesson("lessons.md", text, when, state)  # type: ignore[arg-type]
    if not made.text:
        return
    data = f"{note_head(language)}{format_row(made, language)}\n".encode()
    (found,) = parse_lessons("lessons.md", data).lessons
    assert (found.text, found.when, found.state, found.id) == (made.text, made.when, state, made.id)
    assert not found.is_persons


def test_a_lesson_that_begins_with_a_box_is_no_task() -> None:
    made = new_lesson("lessons.md", "[ ] Ask first", "")
    (found,) = parse_lessons("lessons.md", f"{HEAD}{format_row(made, 'en')}\n".encode()).lessons
    assert found.text == "Ask first" and not found.is_persons


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("- Be brief", ("Be brief", "", "active")),
        ("* *a mail is sent:* Ask first", ("Ask first", "a mail is sent", "active")),
        ("- Be brief · set aside", ("Be brief", "", "deprecated")),
        ("- ~~Be brief~~", ("Be brief", "", "deprecated")),
        ("- Be brief · 试用中 ^l-00000000", ("Be brief", "", "probation")),
        ("- Be brief · actve ^l-00000000", ("Be brief", "", "deprecated")),
        ("- Tea · coffee", ("Tea · coffee", "", "active")),
    ],
)
def test_a_row_by_hand_is_read_as_it_is_meant(row: str, said: tuple[str, str, str]) -> None:
    (found,) = parse_lessons("lessons.md", f"{HEAD}{row}\n".encode()).lessons
    assert (found.text, found.when, found.state) == said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("- Be brief ^l-{mark}\n- Be very brief ^l-{mark}", {("Be brief", "active"), ("Be very brief", "active")}),
        ("- Be brief ^l-{mark}\n- ~~Be brief~~ ^l-{mark}", {("Be brief", "deprecated")}),
        ("- ~~Be brief~~ ^l-{mark}\n- Be brief", {("Be brief", "active")}),
        ("- Be brief\n- ~~Be brief~~ ^l-{mark}", {("Be brief", "active")}),
    ],
)
def test_a_row_that_stands_twice_is_read_as_the_person_means_it(rows: str, said: set[tuple[str, str]]) -> None:
    found = parse_lessons("lessons.md", f"{HEAD}{rows}".format(mark=words_mark("Be brief", "")).encode()).lessons
    assert {(each.text, each.state) for each in found} == said and len(found) == len(said)


@pytest.mark.parametrize(
    "rows", ["- [ ] a task", "A paragraph.", "    - below", "```\n- code\n```", "%%\n- hidden\n%%"]
)
def test_all_else_in_the_note_is_no_lesson(rows: str) -> None:
    assert parse_lessons("lessons.md", f"{HEAD}# Mine\n\n{rows}\n".encode()).lessons == ()


def test_a_log_of_before_means_the_same_lesson(desk: Desk) -> None:
    desk.language = "zh"
    desk.learn(*three("修改笔记之前先读一遍", "改动笔记前先读一遍", "修改笔记前先读一遍笔记", when="要修改笔记"))
    desk.answer()
    log = (desk.root / "lessons/log.md").read_text("utf-8")
    assert "要修改笔记: " in log and parse_rows(log.encode()) == parse_rows(log.replace("记: ", "记：").encode())
    assert desk.tend() == ()


@pytest.mark.parametrize(
    "said", ["先读[x] ：\\", f"Use `{'sort -k2 ' * 40}` and `{'uniq -c ' * 40}`", "# -->[x]  ：::"]
)
def test_the_words_of_a_line_by_hand_are_logged_once(desk: Desk, said: str) -> None:
    write(desk.root / "lessons.md", f"{HEAD}- {said}\n")
    assert [row.event for row in desk.tend()] == ["active"]
    assert desk.tend() == ()
