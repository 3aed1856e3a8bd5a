"""A purge takes a text out of the messages that a chat offers again, and leaves the others as they are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.interfaces.cli.terminal.editor import open_history
from agent.memory.forgetting.forgotten_statements import phrase
from agent.memory.forgetting.private_state import forget_typed

SECRET = "Anna's locker code is kelp-4711"


def typed(path: Path, *messages: str) -> list[str]:
    history = open_history(path)
    for message in messages:
        history.append_string(message)
    return kept(path)


def kept(path: Path) -> list[str]:
    return list(open_history(path).load_history_strings())[::-1]


def test_only_the_messages_that_say_it_go(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    typed(path, "hello", f"Remember: {SECRET}.\nThank you", "# kelp\n+soup\n\n", "what is kelp?", "it was kelp-4711")
    forget_typed(path, phrase(SECRET))
    assert kept(path) == ["hello", "# kelp\n+soup\n\n", "what is kelp?"]
    assert path.read_text().count("# 2") == 3 and path.stat().st_mode & 0o777 == 0o600


def test_a_history_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    forget_typed(tmp_path / "chat_history", phrase(SECRET))
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5), st.integers(0, 5))
def test_whatever_was_typed_stays_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, messages: list[str], place: int
) -> None:
    path = tmp_path_factory.mktemp("typed") / "chat_history"
    before = typed(path, *messages)
    path.unlink(missing_ok=True)
    typed(path, *messages[:place], SECRET, *messages[place:])
    forget_typed(path, phrase(SECRET))
    assert kept(path) == before
