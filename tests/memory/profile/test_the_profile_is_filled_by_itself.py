"""What the person says goes into their profile within a day, without a task that anybody planned."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.http.pages.commit_words import commit_words
from agent.runs.memory_upkeep import Upkeeper
from tests.stories.agents import furnish, tell
from tests.vaults import git, write

PROFILE = "# Basic information\n\n## Person\n\n- **Name**: [to be filled]\n- **Home**: [to be filled]\n"
SAID = ("My name is Mara Lindt", "I live in Oslo", "I am allergic to nuts")


def test_upkeep_fills_what_was_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    note = root / "profile/00-basic-info.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(PROFILE, "utf-8")
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
    write(root / "profile/00-basic-info.md", PROFILE)
    tell(root, {}, "remember", "I am allergic to nuts")
    Upkeeper(open_workspace(root)).fill_profile()
    subject = git(root, "log", "-1", "--format=%s")
    assert subject.startswith("question(ask): May I note what you tell me about your health")
    assert commit_words("en", subject)[1].startswith("You were asked: May I note")


def test_what_a_later_entry_contradicts_is_not_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    note = root / "profile/00-basic-info.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(PROFILE, "utf-8")
    tell(root, {}, "remember", "I live in Oslo")
    (oslo,) = (root / "entries").rglob("*oslo*.md")
    tell(root, {}, "remember", "I have moved house")
    (moved,) = (root / "entries").rglob("*moved*.md")
    header, _, rest = moved.read_text("utf-8").partition("\n---\n")
    moved.write_text(f'{header}\ncontradicts:\n  - "[[{oslo.stem}]]"\n---\n{rest}', "utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the profile")
    Upkeeper(open_workspace(root)).fill_profile()
    assert "Oslo" not in note.read_text("utf-8")


def test_a_quotation_of_what_was_corrected_since_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    note = root / "profile/00-basic-info.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(PROFILE + "\nI lived in Oslo as a child.\n", "utf-8")
    tell(root, {}, "remember", "I live in Oslo, in a yellow house, near the fjord")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "the profile")
    Upkeeper(open_workspace(root)).fill_profile()
    assert "- “I live in Oslo, in a yellow house" in note.read_text("utf-8")
    (oslo,) = (root / "entries").rglob("*oslo*.md")
    tell(root, {}, "remember", "I have moved to Bergen")
    (moved,) = (root / "entries").rglob("*moved*.md")
    header, _, rest = moved.read_text("utf-8").partition("\n---\n")
    moved.write_text(f'{header}\nsupersedes: "[[{oslo.stem}]]"\n---\n{rest}', "utf-8")
    git(root, "commit", "-q", "-a", "-m", "what it replaces")
    Upkeeper(open_workspace(root)).fill_profile()
    text = note.read_text("utf-8")
    assert "**Home**: Bergen ([[" in text and "- “I live in Oslo" not in text
    assert "I lived in Oslo as a child." in text, "a line of the person's stays"
    assert "taken out: “I live in Oslo" in (root / "profile/_changelog.md").read_text("utf-8")


def test_a_vault_without_a_profile_is_given_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    tell(root, {}, "remember", SAID[0])
    assert Upkeeper(open_workspace(root)).fill_profile().requests == ()
    assert not (root / "profile").exists()
