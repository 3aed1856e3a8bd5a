"""A commit is told in a sentence of the reader's language where its kind has one, else as its subject says it."""

import pytest

from agent.interfaces.http.pages.commit_words import commit_words
from agent.interfaces.http.pages.frame import note_name


@pytest.mark.parametrize(
    ("subject", "area", "words"),
    [
        ("memory(entry): remember The key is with Ana", "", "Remembered: The key is with Ana"),
        ("undo(notes): the run “Buy tea”", "", "Taken back: Buy tea"),
        ("undo(notes): undo(notes): the run “Buy tea”", "", "Brought back: Buy tea"),
        ("undo(notes): memory(entry): remember Mara likes oranges", "", "Taken back: Mara likes oranges"),
        ("memory(daily): summary of 2026-11-26", "", "A day was summed up"),
        ("memory(daily): a notice", "", "Something was noted in the day"),
        ("reflection(task): Buy tea", "", "It looked back at: Buy tea"),
        ("reflection(day): The day as a whole", "", "It looked back at a day"),
        ("task(explore-topic): How tea is dried", "", "It worked on a task: How tea is dried"),
        ("jobs(missed): cleanup", "", "What became of jobs that did not run was noted: cleanup"),
        ("jobs(problem): what is wrong with their headers", "", "It was noted what keeps jobs from running"),
        ("jobs(settle): what was asked about is decided", "", "What was answered or is over was taken in"),
        ("skills(history): two uses", "skills(history)", "two uses"),
        ("a second coat of paint", "", "a second coat of paint"),
    ],
)
def test_a_commit_is_told_in_words(subject: str, area: str, words: str) -> None:
    assert commit_words("en", subject) == (area, words)
    assert area or words == subject or commit_words("zh", subject)[1] != words


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("House/Roof.md", "Roof"),
        ("entries/2026/11/2026-11-26-the-key-is-with-ana-q41s9n.md", "the key is with ana"),
        ("entries/2026/11/2026-11-26-备用钥匙在安娜那里-0282d8.md", "备用钥匙在安娜那里"),
        ("daily/2026-11-26.md", "2026-11-26"),
    ],
)
def test_a_note_has_the_name_that_people_call_it_by(path: str, name: str) -> None:
    assert note_name(path) == name
