"""MEMORY.md quotes entries and links to them: what was to be remembered is there at once, and a line goes with its
entry, in the same commit."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import EntryType
from agent.memory.forgetting.forget import carry_out, plan_text
from agent.memory.remember import remember
from agent.memory.store import load_entries
from agent.vault.change import CAPTURE, Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.memory.days import Days, days
from tests.vaults import git

PHONE = "My phone number is 5550100."


@pytest.fixture
def home(tmp_path: Path) -> Days:
    return days(tmp_path)


def changed(home: Days) -> set[str]:
    """The folders and notes of the last commit."""
    return {path.partition("/")[0] for path in git(home.root, "show", "--name-only", "--format=", "HEAD").split("\n")}


def replaced(home: Days, path: str, text: str) -> None:
    """Keep a fact in the place of the entry at this path."""
    (known,) = load_entries(home.vault, [path])
    entry = replace(home.entry(text, EntryType.FACT), supersedes=known.link)
    EntryWriter(home.vault, lambda each: (), "en").keep([entry], "facts", Stamp("agent", tool=CAPTURE), known=(known,))


def test_what_was_to_be_remembered_is_there_at_once_with_a_link(home: Days) -> None:
    entry, outcome, _ = remember(home.vault, PHONE)
    assert f"- {PHONE} ({entry.link})" in home.memory
    assert changed(home) - {""} == {"entries", "MEMORY.md"}
    assert home.tend()[0].report.is_empty, "the upkeep has nothing to add"
    undo(home.vault, Selection((outcome.commit or "",)))
    assert "5550100" not in home.memory


def test_it_is_said_once_and_a_line_of_the_person_s_counts(home: Days) -> None:
    remember(home.vault, PHONE)
    remember(home.vault, PHONE)
    assert home.memory.count(f"- {PHONE}") == 1
    (home.root / "MEMORY.md").write_text(f"{home.memory}\n- The boat is called Albatross.\n", "utf-8")
    remember(home.vault, "The boat is called Albatross.")
    assert home.memory.count("Albatross") == 1


@pytest.mark.parametrize("theirs", [False, True])
def test_what_takes_the_place_of_an_entry_takes_that_of_its_line(home: Days, theirs: bool) -> None:
    entry, _, _ = remember(home.vault, PHONE)
    if theirs:
        (home.root / "MEMORY.md").write_text(home.memory.replace(PHONE, "Phone: 5550100"), "utf-8")
        home.vault.commit_human()
    replaced(home, entry.path, "My phone number has been 5550199 since December 2026.")
    assert ("5550100" in home.memory) is theirs, "a line of the person's stays"
    assert ("5550199" in home.memory) is not theirs
    assert changed(home) - {""} == ({"entries"} if theirs else {"entries", "MEMORY.md"})


def test_what_is_not_in_it_does_not_come_into_it_by_a_change(home: Days) -> None:
    path = home.keep(home.entry("The plumber comes on Tuesday.", EntryType.FACT))
    replaced(home, path, "The plumber comes on Wednesday.")
    assert "plumber" not in home.memory


def test_forgetting_takes_the_line_with_the_entry(home: Days) -> None:
    remember(home.vault, PHONE)
    carry_out(home.vault, plan_text(home.vault, PHONE), "en")
    assert "5550100" not in home.memory


def test_a_document_is_no_line(home: Days) -> None:
    remember(home.vault, "# Notes\n\n" + "The tide table says this and that of the harbour " * 20)
    assert "tide" not in home.memory
