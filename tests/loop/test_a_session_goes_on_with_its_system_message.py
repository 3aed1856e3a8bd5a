"""The note has no copy of the system message: it is made again to the letter, or the session gets a new one."""

from pathlib import Path

import pytest

from agent.context import prompt
from agent.llm.messages import System
from agent.llm.scripted import Scripted
from agent.loop.records import Spoken
from agent.loop.session import load_session
from tests.loop.stage import Stage, note, stage
from tests.vaults import git, write

OWNER = "Call me Hettie."


@pytest.fixture
def house(tmp_path: Path) -> Stage:
    return stage(tmp_path, ["Hello.", "Hello again."], AGENT=f"# AGENT\n\n{OWNER}\n")


def system(house: Stage) -> str:
    """The system message that the model was last sent."""
    assert isinstance(house.model, Scripted)
    first = house.model.requests[-1].messages[0]
    assert isinstance(first, System)
    return first.text


def test_the_note_names_the_parts_and_a_later_task_has_the_same_message(house: Stage) -> None:
    path = house.ask("hi").session
    before = system(house)
    assert OWNER in before and OWNER not in note(house.vault, path) and "How you work" not in note(house.vault, path)
    write(house.root / "AGENT.md", "# AGENT\n\nCall me Bo.\n")
    git(house.root, "commit", "-qam", "another name")
    house.clock.advance(2 * 86_400)
    house.ask("and now?", load_session(house.vault, path))
    assert system(house) == before, "also after the note has changed, and on another day"
    assert note(house.vault, path).count("%% vault-agent: system ") == 1


def test_with_other_prompts_it_goes_on_with_a_new_message_and_records_that(
    house: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = house.ask("hi").session
    for file in prompt._OWN.glob("*.md"):
        (tmp_path / file.name).write_text(file.read_text("utf-8").replace("How you work", "How we work"), "utf-8")
    monkeypatch.setattr(prompt, "_OWN", tmp_path)
    house.ask("and now?", load_session(house.vault, path))
    assert "How we work" in system(house)
    assert note(house.vault, path).count("%% vault-agent: system ") == 2


def test_a_message_whose_parts_are_gone_is_made_new(house: Stage) -> None:
    write(house.root / "AGENT.md", "# AGENT\n\nCall me Mo.\n")
    path = house.ask("hi").session
    assert "Call me Mo." in system(house)
    write(house.root / "AGENT.md", "# AGENT\n\nCall me Bo.\n")
    house.ask("and now?", load_session(house.vault, path))
    assert "Call me Bo." in system(house), "no commit has the note as it was"


def test_a_note_of_an_earlier_version_goes_on_with_the_text_in_it(house: Stage) -> None:
    session = house.session("hi")
    session.add(Spoken(System("You are kind.")))
    house.ask("hi", session)
    house.ask("and now?", load_session(house.vault, session.path))
    assert system(house) == "You are kind."
