"""What a person states, chooses and asks on about becomes beliefs, each with its evidence; of what is said once on
anything but texts, their own words stay the best line."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.growth.beliefs.blocks import NOTE
from agent.growth.beliefs.from_talk import choice_in, options_in, subject_of
from agent.growth.beliefs.learn import person_model
from agent.memory.entry import EntryType
from tests.growth.beliefs.house import House, house
from tests.growth.beliefs.talk import question, session
from tests.vaults import git, write


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return house(tmp_path, monkeypatch)


def put(home: House, notes: dict[str, str]) -> str:
    """Write notes as this machine's own; returns the last path."""
    for path, text in notes.items():
        write(home.root / path, text)
    git(home.root, "add", "-A")
    git(home.root, "commit", "-q", "-m", "Notes")
    return [*notes][-1]


def test_what_is_only_stated_is_remembered_and_no_belief(home: House) -> None:
    home.agent(NOTE, "# Preferences\n", tool="init")
    home.stated("I prefer short answers with a list.")
    home.stated("I prefer tea to coffee.")
    home.pass_days(9)
    home.stated("I'd rather have tea than coffee")
    home.learn()
    assert home.lines == [] and home.note == "# Preferences\n", "their own words are the better line"


def test_a_line_of_the_persons_own_is_the_belief(home: House) -> None:
    home.person(NOTE, "# Preferences\n\n- **Length**: short\n- I hate emojis\n")
    home.stated("I prefer long answers.")
    home.stated("Please never use emojis.")
    before = home.note
    home.learn()
    assert home.note == before, "what they wrote there themselves holds, and is not said twice"


def test_what_is_no_statement_of_theirs_is_none(home: House) -> None:
    home.stated("I prefer short answers.", source="model")
    home.stated("I prefer short answers.", sender_id="guest-7")
    home.stated("I prefer short answers.", untrusted=("https://example.org",))
    home.stated("I prefer short answers.", superseded_by="[[2026-11-12-newer]]")
    home.stated("I prefer short answers.", type=EntryType.REFLECTION)
    assert person_model(home.workspace).beliefs == ()


def test_three_choices_alike_are_a_belief(home: House) -> None:
    talk = put(home, session(home.clock.now(), "Write the report", "Done."))
    options = ("Markdown", "PDF")
    for day in range(3):
        at = home.clock.now()
        put(home, question(at, f"Which format for report {day}?", options, "Markdown", talk))
        home.pass_days()
        home.learn()
        assert bool(home.lines) == (day == 2), home.lines
    assert home.lines == ["chooses “Markdown” of “Markdown”, “PDF” · 0.65 · 3 signs"]
    assert "  - you chose: [[questions/2026-11-24-" in home.note


@pytest.mark.parametrize("more", [{"untrusted": ["https://example.org"]}, {"session": ""}, {"profile": "abc"}])
def test_choices_that_are_not_their_own_are_none(home: House, more: dict[str, object]) -> None:
    talk = put(home, session(home.clock.now(), "Write the report", "Done."))
    for day in range(4):
        at = home.clock.now() + timedelta(minutes=day)
        put(home, question(at, "Which format?", ("Markdown", "PDF"), "Markdown", talk, **more))
    assert home.learn().outcome.commit is None


def test_a_yes_to_different_questions_is_no_preference(home: House) -> None:
    talk = put(home, session(home.clock.now(), "Write the report", "Done."))
    for number, title in enumerate(("Shall I go on?", "Is it raining?", "May I call her?")):
        at = home.clock.now() + timedelta(minutes=number)
        put(home, question(at, title, ("Yes", "No"), "Yes", talk))
    assert home.learn().outcome.commit is None


OFFER = "Which way?\n\nA. By train — slower, but you can read\nB. By plane: faster\n"


@pytest.mark.parametrize(
    ("said", "chosen"),
    [("A", "By train"), ("the second one", "By plane"), ("I'd prefer B", "By plane"), ("by plane", "By plane"),
     ("选A吧", "By train"), ("第二个", "By plane"), ("What about a boat?", ""), ("Both are fine", "")],
)  # fmt: skip
def test_a_choice_in_few_words_is_understood(said: str, chosen: str) -> None:
    assert choice_in(said, options_in(OFFER)) == chosen


def test_what_conversations_show(home: House) -> None:
    at = home.clock.now() - timedelta(days=5)
    for day in range(3):
        began = at + timedelta(days=day)
        put(
            home,
            session(began, "Explain the lichens to me", "They are two beings.", "Why? Tell me more about lichens", "…"),
        )
        put(home, session(began + timedelta(hours=1), "How do I get to Rome?", OFFER, "A", "Fine."))
    put(home, session(at + timedelta(hours=3), "Sum up the talk", "Long words.", "shorter, please", "Words."))
    put(home, session(at + timedelta(hours=4), "Sum up the year", "Long words.", "too long", "Words."))
    home.learn()
    assert sorted(home.said) == [
        "asks for more detail on “lichens”",
        "chooses “By train” of “By plane”, “By train”",
        "prefers shorter text",
    ]
    assert person_model(home.workspace).gathered.silent == 8, "the last answer of each was left without a word"


@pytest.mark.parametrize(
    "more",
    [{"role": "guest", "sender": "eve"}, {"taint": "https://example.org"}, {"job": "nightly"}, {"pause": 7200.0}],
)
def test_conversations_of_others_and_long_afterwards_show_nothing(home: House, more: dict[str, object]) -> None:
    for day in range(4):
        at = home.clock.now() - timedelta(days=day + 1)
        put(home, session(at, "How do I get to Rome?", OFFER, "A", "Fine.", **more))  # type: ignore[arg-type]
    assert person_model(home.workspace).beliefs == ()


def test_the_subject_of_a_question_is_a_word_of_it() -> None:
    assert subject_of("Why do lichens grow?", "Explain lichens and mosses") == "lichens"
    assert subject_of("Tell me more", "Explain the herbarium") == "herbarium"
    assert subject_of("为什么护照要换？", "我的护照在哪里") == "护照"
