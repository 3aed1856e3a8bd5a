"""The note has no copy of the system message: it is kept on the machine, or the session gets a new one."""

from pathlib import Path

import pytest

from agent.llm.messages import System
from agent.llm.scripted import Scripted
from agent.loop.session import load_session
from agent.vault.layout import GIVEN_TEXTS
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


def test_a_later_task_has_the_same_message_and_the_note_does_not_have_it(house: Stage) -> None:
    path = house.ask("hi").session
    before = system(house)
    assert OWNER in before and OWNER not in note(house.vault, path) and "How you work" not in note(house.vault, path)
    write(house.root / "AGENT.md", "# AGENT\n\nCall me Bo.\n")
    git(house.root, "commit", "-qam", "another name")
    house.clock.advance(2 * 86_400)
    house.ask("and now?", load_session(house.vault, path))
    assert system(house) == before, "also after the note has changed, and on another day"
    assert note(house.vault, path).count("%% vault-agent: system ") == 1


def test_where_the_text_is_not_kept_the_session_goes_on_with_a_new_message(house: Stage) -> None:
    """As on another machine, and after a forgetting."""
    path = house.ask("hi").session
    for each in (house.vault.private_folder / GIVEN_TEXTS).glob("*.jsonl"):
        each.unlink()
    write(house.root / "AGENT.md", "# AGENT\n\nCall me Bo.\n")
    git(house.root, "commit", "-qam", "another name")
    house.ask("and now?", load_session(house.vault, path))
    assert "Call me Bo." in system(house)
    assert note(house.vault, path).count("%% vault-agent: system ") == 2
    house.ask("and then?", load_session(house.vault, path))
    assert note(house.vault, path).count("%% vault-agent: system ") == 2


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"\xff\xfe\n", b'{"digest": "x", "text": 1}\n', b"[" * 100_000])
def test_a_damaged_file_of_texts_is_no_worse_than_none(house: Stage, damage: bytes) -> None:
    path = house.ask("hi").session
    (kept,) = (house.vault.private_folder / GIVEN_TEXTS).glob("*.jsonl")
    kept.write_bytes(damage)
    house.ask("and now?", load_session(house.vault, path))
    assert OWNER in system(house)
