"""A reminder that comes while a chat is open stands in it, above what its person is typing, and only once."""

from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.events.notices import NoticeRaised
from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import furnish, settings


def test_it_stands_above_the_line_that_is_being_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    outbox = open_outbox(open_workspace(root))
    outbox.take(NoticeRaised("reminder", 0.8, "Water the fern", urgent=True))
    with terminal(root, settings(tmp_path), "chat") as person:
        person.sees("> ")
        person.type("My sister Kate ")
        outbox.take(NoticeRaised("pattern", 0.1, "Something for the digest"))
        outbox.take(NoticeRaised("reminder", 0.8, "Call Anna", ("She is at home.",), urgent=True))
        person.shows("She is at home.\n\n> My sister Kate ")
        person.type("lives in York.\n")
        person.shows("> My sister Kate lives in York.")
        person.sees("llm.api_key")
        person.sees("> ")
        person.type("\x04")
        assert person.ends() == 0
        assert person.seen.count("Call Anna") == 1
        assert "Water the fern" not in person.seen and "digest" not in person.seen
