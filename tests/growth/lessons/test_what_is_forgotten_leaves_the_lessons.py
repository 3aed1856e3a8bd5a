"""What a person asks to forget leaves rules, reflections, the log and what was asked, and does not return."""

from pathlib import Path

from agent.growth.lessons.lesson_log import append_rows, log_row
from agent.growth.lessons.lesson_note import load_lessons
from agent.growth.lessons.reflection_notes import load_reflections, write_reflection
from agent.memory.forgetting.forget import carry_out, plan_text
from agent.memory.forgetting.forgotten_statements import phrase
from agent.vault.change import Stamp
from tests.growth.lessons.desk import HEAD, READ, Desk, reflection, strategy, three
from tests.vaults import write

SECRET = "Never say the code 48213 of the boathouse"
OTHER = "Name the source of each figure"
CODE = "48213"


def on_disk(desk: Desk) -> str:
    """All notes of the vault, with their names."""
    notes = sorted(path for path in desk.root.rglob("*.md") if ".git" not in path.parts)
    return "\n".join(f"{path.name}\n{path.read_text('utf-8')}" for path in notes)


def private(desk: Desk) -> str:
    files = [path for path in sorted(Path(desk.vault.private_folder).rglob("*.json")) if path.is_file()]
    return "\n".join(f"{path.name}\n{path.read_text('utf-8')}" for path in files)


def noted(desk: Desk, *texts: str) -> None:
    """Three reflections with each of these strategies, as notes in the vault; the agent reads them from there."""
    for at, text in enumerate(texts):
        for day in range(3):
            made = reflection(day, strategy(text), run=f"run-{at}-{day}")
            write_reflection(desk.vault, made, desk.language)
    desk.reflections = [*load_reflections(desk.vault)]
    desk.clock.advance(4 * 86_400)


def forget(desk: Desk, words: str) -> tuple[str, ...]:
    found = plan_text(desk.vault, words, desk.language)
    carry_out(desk.vault, found, desk.language)
    desk.reflections = [*load_reflections(desk.vault)]
    return found.mentions


def test_a_rule_goes_with_all_that_was_said_of_it(desk: Desk) -> None:
    noted(desk, SECRET, OTHER)
    desk.tend()
    desk.answer()
    assert len(desk.book.lessons) == 2 and CODE in on_disk(desk)
    assert forget(desk, SECRET) == ()
    assert CODE not in on_disk(desk) and "boathouse" not in on_disk(desk) and CODE not in private(desk)
    assert [rule.text for rule in load_lessons(desk.vault)] == [OTHER]
    assert [row.event for row in desk.book.log.of(desk.lesson().key)] == ["probation", "supported"]
    assert "| probation | person |" in (desk.root / "lessons/log.md").read_text()


def test_it_is_not_learned_again(desk: Desk) -> None:
    noted(desk, SECRET)
    desk.tend()
    desk.answer()
    forget(desk, SECRET)
    assert desk.tend() == () and desk.asked() == [] and desk.book.lessons == ()
    desk.learn(*three(SECRET, first=20))
    assert desk.asked() == [] and CODE not in on_disk(desk)


def test_an_open_question_says_it_no_more_and_a_yes_to_it_does_nothing(desk: Desk) -> None:
    noted(desk, SECRET)
    desk.tend()
    assert len(desk.asked()) == 1
    forget(desk, SECRET)
    assert CODE not in on_disk(desk) and CODE not in private(desk)
    desk.answer()
    assert desk.book.lessons == () and CODE not in on_disk(desk)


def test_words_in_the_log_are_marked_and_the_lesson_stays(desk: Desk) -> None:
    lesson = desk.admit(*READ)
    row = log_row(lesson, desk.clock.now(), "supported", "agent", "Ask, as Mara lives in Porto.")
    with desk.vault.transaction("lessons(supported): x", Stamp("job:growth/lessons", tool="lessons")) as change:
        change.requests.append(append_rows(desk.vault.home, [row], "en"))
    forget(desk, "Mara lives in Porto")
    after = desk.lesson()
    assert "Porto" not in on_disk(desk) and after.row == lesson.row and len(desk.evidence(after)) == 3
    assert desk.tend() == ()


def test_a_rule_in_the_persons_words_is_left_and_named(desk: Desk) -> None:
    write(desk.root / "lessons.md", f"{HEAD}- {SECRET}.\n")
    noted(desk, SECRET)
    desk.tend()
    assert forget(desk, SECRET) == ("lessons.md",)
    assert CODE in (desk.root / "lessons.md").read_text()


def test_a_line_that_a_skill_was_given_is_marked(desk: Desk) -> None:
    text = "---\nname: keys\ndescription: Keys.\n---\n# Keys\n\nMine.\n"
    with desk.vault.transaction("skills: x", Stamp("human")) as change:
        change.create("skills/keys/SKILL.md", text.encode())
    with desk.vault.transaction("rule(approved): x", Stamp("job:growth/lessons", tool="proposals")) as change:
        change.edit("skills/keys/SKILL.md", text.encode(), f"{text}\n## What runs have taught\n\n- {SECRET}\n".encode())
    forget(desk, SECRET)
    assert (desk.root / "skills/keys/SKILL.md").read_text() == f"{text}\n## What runs have taught\n\n- [forgotten]\n"


def test_a_row_of_a_table_keeps_its_other_cells() -> None:
    said = phrase("the code of the boathouse is 48213")
    row = "| 2026-11-01T12:00:00+00:00 | The boathouse has code 48213, remember | probation | agent | x |"
    assert said.redacted(row) == "| 2026-11-01T12:00:00+00:00 | [forgotten] | probation | agent | x |"
