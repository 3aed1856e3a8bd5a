"""In the evening a model says in a few lines what the day was; later talks come in; without one there are titles."""

import json
from pathlib import Path

import pytest

from agent.context.budget import estimate
from agent.memory import daily
from agent.runs.accounts import open_accounts
from agent.runs.evening import Evening
from agent.vault.change import Stamp
from agent.vault.waiting import waiting_notes
from tests.growth.reflections.desk import says
from tests.stories.agents import script
from tests.stories.life import Life, life
from tests.vaults import git


def line(part: str, text: str, quote: str, *keys: str) -> dict[str, object]:
    return {"part": part, "text": text, "from": list(keys), "quote": quote}


LINES = [
    line("decided", "Lisbon, not Porto, in May 2027.", "We go to Lisbon in May 2027", "K1"),
    line("done", "The [[plan]] has 12 trains.", "We go to Lisbon", "K1"),
    line("open", "Somebody has to call the hotel.", "the hotel never called", "K1"),
    line("promised", "Vera brings the tickets.", "Vera brings", "K9"),
    line("met", "The trip was talked about.", "We go to Lisbon", "K1"),
]
"""The first rests on what was said; the others have a number, a quotation, a piece or a kind that does not exist."""


def evening(lived: Life) -> Evening:
    workspace = lived.workspace.unasked
    return Evening(workspace, lambda: open_accounts(workspace, estimate), lambda event: None)


def at(lived: Life, day: int, hour: int, minute: int = 30) -> None:
    lived.morning_of(day)
    lived.later(60 * (hour - 9) + minute)


def worded(lived: Life, *lines: dict[str, object]) -> None:
    """The model words the day with these lines from now on."""
    script(lived.root.parent / "script.json", says("It is evening", json.dumps(lines)), after="Noted.")


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Life:
    made = life(tmp_path, monkeypatch.setenv)
    made.morning_of(1)
    return made


def summary(lived: Life, day: int = 0) -> str:
    notes = sorted((lived.root / "daily").glob("*.md"))
    return daily.summary_of(notes[day].read_text("utf-8")) or ""


def test_the_lines_that_rest_on_the_day_are_in_its_note_each_with_a_link(lived: Life) -> None:
    worded(lived, *LINES)
    lived.talk("We go to Lisbon in May 2027")
    assert not evening(lived).is_due(), "not before the evening"
    at(lived, 1, 22)
    assert evening(lived).is_due()
    evening(lived).keep()
    (row,) = [each for each in summary(lived).splitlines() if each.startswith("- ")]
    assert row.startswith("- Decided: Lisbon, not Porto, in May 2027. [[sessions/")
    assert not evening(lived).is_due() and waiting_notes(lived.workspace.vault) == ()
    assert git(lived.root, "status", "--porcelain") == ""


def test_what_comes_later_is_worded_with_it_in_the_first_turn_of_the_next_day(lived: Life) -> None:
    worded(lived, LINES[0])
    lived.talk("We go to Lisbon in May 2027")
    at(lived, 1, 22)
    evening(lived).keep()
    worded(lived, LINES[0], line("open", "The cat has no place yet.", "Who takes the cat", "K2"))
    lived.talk("Who takes the cat?")
    assert not evening(lived).is_due(), "the day goes on"
    lived.morning_of(2)
    assert evening(lived).is_due()
    evening(lived).keep()
    assert "Lisbon" in summary(lived) and "- Open: The cat has no place yet. [[sessions/" in summary(lived)
    assert not evening(lived).is_due(), "once"


def test_without_words_of_a_model_the_titles_stand_there_and_it_is_asked_once_more(lived: Life) -> None:
    said = {"when": "It is evening", "error": "permanent", "times": 0}
    script(lived.root.parent / "script.json", said, after="Noted.")
    lived.talk("Who takes the cat?")
    at(lived, 1, 22)
    evening(lived).keep()
    (note,) = (lived.root / "daily").glob("*.md")
    assert "Who takes the cat?" in note.read_text("utf-8") and "- Open" not in summary(lived)
    worded(lived, line("open", "The cat has no place yet.", "Who takes the cat", "K1"))
    lived.morning_of(2)
    assert evening(lived).is_due()
    evening(lived).keep()
    assert "- Open: The cat has no place yet. [[sessions/" in summary(lived) and not evening(lived).is_due()


def test_an_evening_without_a_daemon_is_made_up_for(lived: Life) -> None:
    worded(lived, LINES[0])
    lived.talk("We go to Lisbon in May 2027")
    lived.morning_of(2)
    assert evening(lived).is_due()
    evening(lived).keep()
    assert "Lisbon" in summary(lived) and not evening(lived).is_due()


def test_what_the_person_wrote_in_its_place_stays(lived: Life) -> None:
    worded(lived, LINES[0])
    lived.talk("We go to Lisbon in May 2027")
    at(lived, 1, 22)
    evening(lived).keep()
    (note,) = (lived.root / "daily").glob("*.md")
    note.write_text(note.read_text("utf-8").replace("Lisbon, not Porto,", "Porto after all,"), "utf-8")
    lived.talk("Who takes the cat?")
    lived.morning_of(2)
    evening(lived).keep()
    assert "Porto after all" in summary(lived)


def test_a_day_without_anything_asks_nobody_and_commits_nothing(lived: Life) -> None:
    before = git(lived.root, "rev-list", "--count", "HEAD")
    at(lived, 1, 23)
    assert not evening(lived).is_due()
    evening(lived).keep()
    assert git(lived.root, "rev-list", "--count", "HEAD") == before and not (lived.root / "daily").exists()


def test_what_git_was_too_busy_for_is_committed_as_soon_as_it_is_free(lived: Life) -> None:
    worded(lived, LINES[0])
    lived.talk("We go to Lisbon in May 2027")
    with lived.workspace.vault.unasked.transaction("reflection(day): a day", Stamp("agent")) as change:
        change.create("reflections/day.md", b"# A day\n")
    at(lived, 1, 22)
    merging = lived.root / ".git/MERGE_HEAD"
    merging.write_text(f"{lived.workspace.vault.head}\n")
    evening(lived).keep()
    assert waiting_notes(lived.workspace.vault) and evening(lived).is_due(), "it is not over"
    merging.unlink()
    evening(lived).keep()
    assert waiting_notes(lived.workspace.vault) == () and not evening(lived).is_due()
    assert "reflections/day.md" in git(lived.root, "ls-files")
