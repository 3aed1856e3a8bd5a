"""Without a model: what is told is named as what will be remembered, and what is asked is looked up, also in what was
said a moment ago."""

from pathlib import Path

import pytest

from tests.stories.agents import document, furnish
from tests.vaults import write


class Talk:
    """A conversation in one session."""

    def __init__(self, root: Path) -> None:
        self.root, self.session = root, ""

    def say(self, words: str) -> str:
        """The answer to these words."""
        on = ("--session", self.session) if self.session else ()
        found = document(self.root, {}, "ask", *on, words)
        self.session = found["session"]
        return str(found["answer"])


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """A talk in a vault with a person and three notes, without a model."""
    return Talk(furnish(tmp_path, monkeypatch.setenv))


def test_what_is_told_will_be_remembered_and_can_be_asked_at_once(talk: Talk) -> None:
    told = talk.say("Mia has swimming on Tuesdays at half past four.")
    assert told.startswith("Noted; this will be remembered:\n\n> Mia has swimming on Tuesdays") and "llm.preset" in told
    asked = talk.say("When does Mia have swimming?")
    assert "> Mia has swimming on Tuesdays at half past four.\n>\n> From [[" in asked
    assert "llm.preset" not in asked, "what a model needs is said once in a conversation"
    both = talk.say("Leo is allergic to peanuts. When does Mia have swimming?")
    assert "remembered:\n\n> Leo is allergic to peanuts." in both and "> Mia has swimming" in both


def test_what_ends_with_a_semicolon_is_kept_without_it(talk: Talk) -> None:
    told = talk.say("女儿小雨今年十岁，上四年级；儿子小舟六岁，刚上一年级。")
    assert "> 女儿小雨今年十岁，上四年级\n" in told and "> 儿子小舟六岁" in told


def test_a_question_is_not_told_to_be_remembered_nor_are_thanks(talk: Talk) -> None:
    talk.say("My sister Kate lives in York.")
    assert "remembered" not in talk.say("Who is Kate?")
    assert "is looked up in your notes, and “remind me" in talk.say("thanks!")
    assert "Begin with “remember”" in talk.say("peanut-free bread")
    assert "Noted; this will be remembered" in talk.say("remember peanut-free bread")


def test_what_asks_for_work_is_said_not_to_be_done(talk: Talk) -> None:
    assert "I cannot do what you ask for" in talk.say("Please write a letter to the landlord")
    assert "cannot do" not in talk.say("When does Mia have swimming?")


@pytest.mark.parametrize("wish", ["Forget that I live in Leeds", "忘掉我住在 Leeds 这件事", "不要记住 Leeds"])
def test_what_is_to_be_forgotten_is_not_remembered_anew(talk: Talk, wish: str) -> None:
    talk.say("I live in Leeds.")
    answer = talk.say(wish)
    assert "/forget" in answer and "remembered:" not in answer and "> I live in Leeds." in answer
    assert len(list(talk.root.glob("entries/**/*.md"))) == 1


def test_a_question_in_the_log_of_a_day_is_no_answer_to_itself(talk: Talk) -> None:
    talk.say("The weekly meeting is on Thursday at ten.")
    day = talk.root / "daily/2020-01-01.md"
    day.parent.mkdir(exist_ok=True)
    asked = "## Conversations\n\n### 18:13 - When is the meeting of the week?\n\n- In [[sessions/2020/01/x]]\n"
    day.write_text(f"---\ntype: daily\n---\n# 2020-01-01\n\n{asked}", "utf-8")
    answer = talk.say("When is the meeting of the week?")
    assert "> The weekly meeting is on Thursday at ten." in answer and "18:13" not in answer


def test_of_a_list_of_facts_only_lines_about_the_question_are_quoted(talk: Talk) -> None:
    lines = "- My cousin Ben is getting married ([[a]]) · said once\n- My knee hurts after running ([[b]])\n"
    (talk.root / "MEMORY.md").write_text(f"---\ntype: memory\n---\n# Long-term memory\n\n## People\n\n{lines}", "utf-8")
    answer = talk.say("What did I say about my knee?")
    assert "My knee hurts after running" in answer and "cousin" not in answer


def test_a_fact_that_stands_in_memory_and_in_the_profile_is_quoted_once(talk: Talk) -> None:
    fact = "I was an engineer on coasters"
    memory = f"---\ntype: memory\n---\n# Long-term memory\n\n## About you\n\n- {fact} ([[a]]) · said once\n"
    write(talk.root / "MEMORY.md", memory)
    write(talk.root / "profile/00-basic-info.md", f"# Basic information\n\n- “{fact}” ([[a|2026-11-02]])\n")
    assert talk.say("Which engine did I look after as an engineer?").count(fact) == 1


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("The mast is 10.2 metres long and the keel bolts are 18 mm bronze.", "how tall is the mast?"),
        ("小雨每周三下午四点半学大提琴，小舟对花生过敏。", "小雨什么时候学琴？"),
    ],
)
def test_one_word_of_the_question_is_enough_to_be_quoted(talk: Talk, told: str, asked: str) -> None:
    """Nothing here is about the person, so that memory alone would not speak up; but somebody has asked."""
    talk.say(told)
    for more in ("The cabin has two berths.", "The sails are in the loft.", "我妈住在慈溪，每个月来帮忙一个星期。"):
        talk.say(more)
    assert told in talk.say(asked)


def test_what_is_told_and_not_kept_is_said_not_to_be(talk: Talk) -> None:
    """A day that it names does not make it a question about that day."""
    talk.say("The mast is 10.2 metres long.")
    talk.say("When does Mia have swimming?")
    answer = talk.say("Today I am busy with the mast.")
    assert "no statement in this that I would remember" in answer and "Conversations" not in answer
    assert "> The mast is 10.2 metres long." in answer, "what comes close is quoted all the same"


def test_a_correction_of_one_half_takes_nothing_from_the_other(talk: Talk) -> None:
    talk.say("My neighbour Des lent me his band saw; he wants it back by the end of the month.")
    talk.session = ""  # on another day
    talk.say("Actually Des wants the band saw back by the 20th.")
    asked = talk.say("Who lent me the band saw?")
    assert "> My neighbour Des lent me his band saw" in asked and "Des wants the band saw back by the 20th" in asked


def test_of_a_day_that_is_asked_for_all_is_told(talk: Talk) -> None:
    """The day's note has what was said only when the day was summed up, and then without what is quoted beside it."""
    told = ("My sister Kate lives in York.", "The cabin has two berths.", "I am allergic to nuts.")
    for each in told:
        talk.say(each)
    talk.say("Where does Kate live?")
    write(talk.root / "boat.md", "Kittiwake\n")
    document(talk.root, {}, "commit")
    answer = talk.say("What did I tell you today?")
    assert all(f" {each}\n" in answer for each in told), answer
    assert "[[boat]]" in answer and "asked: “Where does Kate live?”" in answer
    assert "Conversations" not in answer and "upkeep" not in answer.lower()


def test_of_a_day_without_a_log_nothing_is_guessed(talk: Talk) -> None:
    talk.say("My sister Kate lives in York.")
    asked = talk.say("上周二我做了什么？")
    assert "> " not in asked and "Nothing in your notes fits" in asked


def test_what_has_no_word_of_the_question_is_said_to_be_near_by_chance(talk: Talk) -> None:
    talk.say("My sister Kate lives in York and works as a vet.")
    talk.say("My goal is a half marathon under two hours.")
    asked = talk.say("What is my blood type?")
    assert "no passage with the words of the question" in asked or "Nothing in your notes fits" in asked
    assert asked.count("> From [[") <= 2


def test_a_strangers_words_in_quotation_marks_are_not_the_persons(talk: Talk) -> None:
    assert "remembered:" not in talk.say('"Dear customer, your account is locked. I am Tom and I live in Lagos."')
    assert not [each for each in talk.root.glob("entries/**/*.md") if "Lagos" in each.read_text("utf-8")]


def test_what_was_answered_in_a_note_is_not_quoted_as_what_it_says(talk: Talk) -> None:
    """Without this, each answer quotes the one before."""
    for name in ("one", "two", "three"):
        write(talk.root / f"{name}.md", f"The harbour of {name} is deep.\n\n- [ ] @agent how deep is the harbour?\n")
        document(talk.root, {}, "run", f"{name}.md")
    last = (talk.root / "three.md").read_text("utf-8")
    assert "The harbour of" in last.partition("%% vault-agent: answer")[2]
    assert last.count("No language model") <= 1 and "> >" not in last
    assert "%% vault-agent" not in str(talk.say("How deep is the harbour?"))
