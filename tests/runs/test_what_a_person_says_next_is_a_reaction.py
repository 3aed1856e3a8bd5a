"""A complaint is one; who corrects themselves, or wants something forgotten, does not complain."""

import pytest

from agent.runs.reactions import is_complaint, reaction_of_words


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        ("That is wrong.", True),
        ("That is not what I meant.", True),
        ("不对，重新写", True),
        ("I meant 4", False),
        ("No, I meant 4, not 5", False),
        ("Forget what I said about the boat", False),
        ("Forget it, you said that already", False),
        ("我是说四点", False),
        ("忘掉我说的那件事", False),
    ],
)
def test_who_corrects_themselves_or_wants_something_forgotten_does_not_complain(words: str, is_one: bool) -> None:
    assert is_complaint(words) is is_one
    assert (reaction_of_words("What is it?", "It is 5.", words) == "complained") is is_one
