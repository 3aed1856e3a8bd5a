"""A vault of an earlier version: its rules are taken over in one commit, and nothing of them is lost."""

import pytest

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


@pytest.fixture
def old(desk: Desk) -> Desk:
    with desk.vault.transaction("rules: x", Stamp("job:growth/rules", tool="rules")) as change:
        for path, text in {f"{NOTE}.md": AGENTS, "rules/log.md": LOG}.items():
            change.create(path, text.encode())
    write(desk.root / "rules/mine.md", MINE)
    write(desk.root / "rules/broken.md", "---\nstatus: [\n---\nDo it.\n")
    desk.vault.commit_human()
    return desk


def test_one_commit_takes_all_of_it_over(old: Desk) -> None:
    old.tend()
    (commit,) = (each for each in commits(old.vault, limit=50) if each.subject.startswith("lessons(take over)"))
    assert commit.actor == "job:growth/lessons"
    assert {(each.text, each.when, each.state, each.is_persons) for each in old.book.lessons} == {
        (READ[0], "a note is changed", "probation", False),
        ("Never write into the archive.", "", "active", True),
    }
    assert (old.root / "archive/rules/mine.md").read_text() == MINE
    assert (old.root / "archive/rules/log.md").read_text() == LOG
    assert [path.name for path in (old.root / "rules").iterdir() if path.is_file()] == ["broken.md"]
    assert old.tend() == () and git(old.root, "status", "--porcelain") == ""


def test_what_was_refused_stays_refused(old: Desk) -> None:
    old.tend()
    assert old.book.log.unwanted == ("Whisper",)
    old.learn(*three("Whisper", when=""))
    assert old.asked() == []


def test_undoing_it_brings_the_notes_back_and_it_is_not_done_again(old: Desk) -> None:
    old.tend()
    assert undo(old.vault, Selection(jobs=("growth/lessons",)), confirmed=True).commit
    assert (old.root / f"{NOTE}.md").read_text() == AGENTS and (old.root / "rules/mine.md").read_text() == MINE
    old.tend()
    assert old.book.lessons == () and (old.root / "rules/log.md").read_text() == LOG
    assert (old.root / "rules/mine.md").read_text() == MINE


def test_a_rule_whose_note_was_broken_is_taken_over_once_it_is_mended(old: Desk) -> None:
    old.tend()
    write(old.root / "rules/broken.md", "---\nstatus: active\n---\nDrink tea.\n")
    old.vault.commit_human()
    old.tend()
    assert "- Drink tea. · active\n" in (old.root / "lessons.md").read_text()
    assert not (old.root / "rules/broken.md").exists()
