"""What the person says goes into their profile within a day, without a task that anybody planned."""

import re
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.http.pages.commit_words import commit_words
from agent.runs.upkeep_jobs import Upkeeper
from tests.stories.agents import furnish, tell
from tests.vaults import git, write

PROFILE = "# Basic information\n\n## Person\n\n- **Name**: [to be filled]\n- **Home**: [to be filled]\n"
HEALTH = "# Health\n\n## Body\n\n- **Allergies**: [to be filled]\n"
SAID = ("My name is Mara Lindt", "I live in Oslo", "I am allergic to nuts")


def test_upkeep_fills_what_was_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    note = root / "profile/00-basic-info.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(PROFILE, "utf-8")
    write(root / "profile/32-health-wellness.md", HEALTH)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the profile")
    for words in SAID:
        tell(root, {}, "remember", words)
    upkeeper = Upkeeper(open_workspace(root))
    assert upkeeper.run_when_due() is not None
    text = note.read_text("utf-8")
    assert "**Name**: Mara Lindt ([[" in text and "**Home**: Oslo ([[" in text
    assert len(list((root / "questions").glob("*sensitive*"))) == 1, "health is asked about, and not noted"
    assert "nuts" not in "".join(path.read_text("utf-8") for path in note.parent.glob("*.md"))
    assert upkeeper.fill_profile().requests == (), "nothing is said or asked twice"


def test_where_nothing_is_filled_the_commit_says_that_the_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this, the day's page says that something went into the profile."""
    root = furnish(tmp_path, monkeypatch.setenv)
    write(root / "profile/32-health-wellness.md", HEALTH)
    tell(root, {}, "remember", "I am allergic to nuts")
    Upkeeper(open_workspace(root)).fill_profile()
    subject = git(root, "log", "-1", "--format=%s")
    assert subject.startswith("question(ask): May I note what you tell me about your health")
    assert commit_words("en", subject)[1].startswith("You were asked: May I note")


def test_what_was_replaced_or_has_ended_since_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    note = root / "profile/00-basic-info.md"
    mine = "\nI lived in Oslo as a child.\n"
    write(note, PROFILE + mine)
    tell(root, {}, "remember", "I live in Oslo")
    tell(root, {}, "remember", "My name is Mara Lindt")
    Upkeeper(open_workspace(root)).fill_profile()
    (oslo,) = (root / "entries").rglob("*oslo*.md")
    (name,) = (root / "entries").rglob("*mara*.md")
    tell(root, {}, "remember", "I have moved to Bergen")
    for old in (oslo, name):
        header, _, rest = old.read_text("utf-8").partition("\n---\n")
        old.write_text(f'{header}\nsuperseded_by: "[[another]]"\n---\n{rest}', "utf-8")
    git(root, "commit", "-q", "-a", "-m", "what it replaces")
    Upkeeper(open_workspace(root)).fill_profile()
    text = note.read_text("utf-8")
    assert "**Home**: Bergen ([[" in text and "Oslo ([[" not in text
    assert "Mara Lindt" not in text, "what has ended fills no field"
    assert "I lived in Oslo as a child." in text, "a line of the person's stays"


def body_of(note: Path) -> str:
    """The note without its header, and without the evidence in brackets."""
    return re.sub(r" \(\[\[.*?\]\]\)", "", note.read_text("utf-8").split("---\n", 2)[2])


def test_a_note_comes_with_its_first_line_and_grows_in_the_order_of_its_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    upkeeper = Upkeeper(open_workspace(root))
    assert upkeeper.fill_profile().requests == () and not (root / "profile").exists()
    tell(root, {}, "remember", "I work as a nurse")
    upkeeper.fill_profile()
    assert sorted(each.name for each in (root / "profile").iterdir()) == ["00-basic-info.md", "_changelog.md"]
    note = root / "profile/00-basic-info.md"
    assert body_of(note) == "# Basic information\n\n## Work and contact\n\n- **Work**: nurse\n"
    tell(root, {}, "remember", SAID[0])
    upkeeper.fill_profile()
    person = "## Person\n\n- **Name**: Mara Lindt\n\n"
    assert body_of(note) == f"# Basic information\n\n{person}## Work and contact\n\n- **Work**: nurse\n"
    assert "filled: Name: Mara Lindt" in (root / "profile/_changelog.md").read_text("utf-8")


def test_a_note_that_the_person_has_deleted_does_not_come_back_with_the_same_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    tell(root, {}, "remember", SAID[0])
    Upkeeper(open_workspace(root)).fill_profile()
    git(root, "rm", "-q", "profile/00-basic-info.md", "profile/_changelog.md")
    git(root, "commit", "-q", "-m", "not this")
    assert Upkeeper(open_workspace(root)).fill_profile().requests == ()
