"""Whoever takes up a conversation sees the last exchanges, and a question that was asked twice with its answer."""

from pathlib import Path

from agent.interfaces.cli.chat import last_exchanges
from agent.llm.messages import Assistant, User
from agent.loop.records import Spoken
from agent.loop.session import begin_session
from tests.vaults import make_vault


def test_a_question_that_failed_first_is_shown_with_its_answer(tmp_path: Path) -> None:
    session = begin_session(make_vault(tmp_path), "cli", "tea")
    session.add(Spoken(User("Which tea?")), Spoken(Assistant("Green.")))
    session.add(Spoken(User("Which cup?")), Spoken(User("Which  cup?")), Spoken(Assistant("The blue one.")))
    assert last_exchanges(session) == [("Which tea?", "Green."), ("Which cup?", "The blue one.")]
