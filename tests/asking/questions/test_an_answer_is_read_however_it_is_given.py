"""People answer in an editor, and not always as the form has it: whatever they tick or write is their answer, and what
the program wrote never is."""

from datetime import UTC, datetime, timedelta

import pytest

from agent.asking.questions.notes import (
    QuestionDraft,
    answer_heading,
    boxes_in,
    closed_note,
    format_question,
    parse_answer,
)
from agent.markdown.note import Note
from agent.texts import LANGUAGES, Language

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
DRAFT = QuestionDraft(
    "Which colour?\nThe boat is bare.\n- [x] not mine",
    NOW + timedelta(days=3),
    "It has to be painted.",
    "I take red.",
    ("red", "blue"),
    about=("It is about [[boat]].",),
)
ASKED = format_question(DRAFT, "Q1", NOW, "en").decode()
OPEN = format_question(QuestionDraft("Where is it?", NOW + timedelta(days=3)), "Q2", NOW, "en").decode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_of_the_form_is_an_answer(language: Language) -> None:
    for patience in ("low", "high", "run"):
        draft = QuestionDraft("Q?", NOW, "why", "fallback", ("a", "b"), patience=patience)
        assert parse_answer(format_question(draft, "Q1", NOW, language)) == ""
    assert parse_answer(ASKED.encode()) == "" and parse_answer(OPEN.encode()) == ""
    assert [each.text for each in boxes_in(Note.parse(ASKED.encode()).body)] == ["red", "blue"], "a quotation has none"


@pytest.mark.parametrize(
    ("edit", "answer"),
    [
        (lambda text: text.replace("- [ ] red", "- [x] red"), "red"),
        (lambda text: text.replace("- [ ] red", "- [X] red"), "red"),
        (lambda text: text.replace("- [ ] ", "- [x] "), "red; blue"),
        (lambda text: text.replace("- [ ] red", "- [x] red, but dark"), "red, but dark"),
        (lambda text: text.replace("- [ ] blue", "- [ ] blue\n- [x] green"), "green"),
        (lambda text: text.replace("- [ ] blue", "- [ ] blue\n\nRather green."), "Rather green."),
        (lambda text: text + "Neither.\n", "Neither."),
        (lambda text: text.replace("- [ ] red", "- [x] red") + "but dark\n", "red; but dark"),
        (lambda text: text.replace("## Answer", "") + "Neither.\n", "Neither."),
        (lambda text: text.replace("## Answer", "# Answer") + "Neither.\n", "Neither."),
        (lambda text: text.replace("## Answer", "### Answer: neither"), "neither"),
        (lambda text: text.replace("\n", "\r\n").replace("- [ ] red", "- [x] red"), "red"),
        (lambda text: text.replace("## Answer", answer_heading("zh")) + "Neither.\n", "Neither."),
    ],
)
def test_what_the_person_ticks_or_writes_is_the_answer(edit: object, answer: str) -> None:
    assert parse_answer(edit(ASKED).encode()) == answer  # type: ignore[operator]


def test_without_boxes_and_without_the_heading_it_is_still_found() -> None:
    assert parse_answer(OPEN.replace("## Answer", "").encode() + b"In the shed.\n") == "In the shed."
    assert parse_answer(OPEN.encode() + b"In the shed.\n\n- on the left\n") == "In the shed.\n\n- on the left"


def test_what_became_of_it_is_no_answer() -> None:
    closed = closed_note(Note.parse(ASKED.encode()), "expired", "There was no answer.")
    assert "→ There was no answer." in closed.text and parse_answer(closed.data) == ""
    told = ASKED.replace("- [ ] red", "- [x] red").encode()
    assert parse_answer(closed_note(Note.parse(told), "answered", "Taken.").data) == "red"


@pytest.mark.parametrize(
    "old",
    [
        "---\ntype: question\nstatus: open\nrun: R1\ncall: c\nexpires: 2026-11-30T10:00:00+00:00\n---\n"
        "# Tea?\n\n> of which kind\n\n- [x] green\n- [ ] black\n\n## Answer\n\n",
        "---\ntype: question\nstatus: open\ngap: 0123456789ab\nexpires: 2026-11-30T10:00:00+00:00\n---\n"
        "# Tea?\n\nIt is missing in [[x]].\n\n## Answer\n\ngreen\n",
        "---\ntype: question\nstatus: open\nprofile: 0123456789ab\nexpires: 2026-11-30T10:00:00+00:00\n---\n"
        "# Tea?\n\nWhat you said differs.\n\n> [[a]]\n\n- [x] green\n- [ ] black\n\n## Answer\n\n",
        "---\ntype: question\nstatus: open\nrun: R1\n---\n# Tea?\n\n- [x] green\n\nThe versions:\n\nblack\n",
    ],
)
def test_notes_of_earlier_versions_are_read(old: str) -> None:
    assert parse_answer(old.encode()) == "green"
