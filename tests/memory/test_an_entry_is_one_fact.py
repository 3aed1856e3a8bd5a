"""What is kept of a conversation: each fact that its person states as one entry, and what a correction does to it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.load import load_settings
from agent.events.runs import Speaker, TaskCompleted
from agent.memory.capture.dedupe import Resolution
from agent.memory.capture.facts import CaptureConfig, RunTrace, ToolUse, Utterance, entries_of_run, fact_entries
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import Entry, EntryType, Scope, parse_entry
from agent.memory.store import StoredEntry, load_entries
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import make_vault

RUN = TaskCompleted("run-1", "sessions/2026/11/talk.md", "", Speaker("cli"), "finished", "Noted.", (), 1.0, 1)
SETTINGS = load_settings(environ={}).settings.memory


def stated(*messages: str, before: Sequence[str] = ()) -> list[str]:
    """The texts of the entries of messages in one run, after those said before it."""
    said = (*(Utterance(text, is_earlier=True) for text in before), *map(Utterance, messages))
    return [entry.text for entry in fact_entries(RUN, said, FakeClock())]


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("My sister Mara lives in Porto.", ["My sister Mara lives in Porto."]),
        ("Book a table near the office, I work at the bakery now", ["I work at the bakery now"]),
        ("the spare key is under the blue pot, can you note that?", ["the spare key is under the blue pot"]),
        ("我吃芒果会起疹子，帮我想个夏天的甜品", ["我吃芒果会起疹子"]),
        ("外婆今年八十九了，刚才还在啃甘蔗", ["外婆今年八十九了"]),
        ("the gate code has changed, it's 4471 from today", ["the gate code has changed, it's 4471 from today"]),
        ("大门密码换了，从今天起是4471", ["大门密码换了，从今天起是4471"]),
        ("以后写对比的时候用表格；不要写长段落。", ["以后写对比的时候用表格；不要写长段落。"]),
        ("以后回答简短一点；别用表格；附近有药店吗？", ["以后回答简短一点；别用表格"]),
        ("顺便提一下，我妈妈住在杭州。", ["我妈妈住在杭州。"]),
        ("以后回答简短一点；我住在上海。", ["以后回答简短一点", "我住在上海。"]),
        ("My dog is called Rex. He is afraid of trams.", None),
        ("Remember that the bins go out on Tuesday", ["the bins go out on Tuesday"]),
        ("Make a note: the bins go out on Tuesday", None),
        ("Please write down that the bins go out on Tuesday", None),
        ('The bank writes: "Dear customer, your account is locked. I am Tom and I live in Lagos."', []),
        ("“尊敬的客户，您的贷款已逾期，我住在北京，请联系我。”", []),
        (
            'My boat is called "The Lady of the Northern Lakes".',
            ['My boat is called "The Lady of the Northern Lakes".'],
        ),
        ("我老板是谁", []),
        ("团子几岁了", []),
        ("团子上周做了绝育手术，下周三复查", ["团子上周做了绝育手术，下周三复查"]),
        ("note to self: the key has moved, it's in the shed now", ["the key has moved, it's in the shed now"]),
    ],
)
def test_a_statement_is_kept_in_the_person_s_words(message: str, facts: list[str] | None) -> None:
    found = stated(message)
    assert found if facts is None else found == facts
    assert all(part in message for text in found for part in text.splitlines())


@pytest.mark.parametrize(
    "message",
    [
        "What is the name of my sister?",
        "thanks, that helps!",
        "I'm so tired today",
        "Write me a limerick about rain",
        "Make a note with a packing list for Lyon",
        "Write down a poem about autumn",
        "Save this as a draft",
        "Is it going to rain",
        "Then add a line to the plan: bring the tea",
        "大理哪天走？顺便在大理行程里加一行：带妈妈的龙井",
        "另外妈妈那篇加上：喜欢散步",
        "你好",
        "谢谢，明白了",
        "今天好累",
        "帮我写一封信",
        "这句话什么意思",
        "My key is [secret] and it does not work",
        "File the meeting notes of [[Notes/Budget]]",
        "读 http://example.org/tea ，告诉我价格",
        "不对，我问的不是这个",
        "No, that's not what I asked for.",
    ],
)
def test_trifles_questions_requests_and_secrets_make_no_entry(message: str) -> None:
    assert stated(message) == []


def test_a_pronoun_keeps_the_sentence_that_says_whom_it_means() -> None:
    assert stated("My dog is called Rex. He is afraid of trams.")[-1] == (
        "My dog is called Rex. He is afraid of trams."
    )


def test_asked_to_remember_it_never_expires_and_in_a_group_it_is_the_chat_s_too() -> None:
    told = replace(RUN, speaker=Speaker("lark:room", "anna", group=True))
    found = fact_entries(told, (Utterance("Remember: the bins go out on Tuesday"),), FakeClock())
    assert [(entry.type, entry.scope, entry.sender_id) for entry in found] == [
        (EntryType.USER_EXPLICIT, Scope.USER, "anna"),
        (EntryType.USER_EXPLICIT, Scope.CHAT, "anna"),
    ]


def test_the_header_is_flat_and_names_session_and_line() -> None:
    (entry,) = fact_entries(RUN, (Utterance("Hello.\nMy sister Mara lives in Porto.", line=12),), FakeClock())
    note = entry.note().decode()
    for row in ("type: fact", "kind: person", "line: 13", "run: run-1", '- "[[sessions/2026/11/talk]]"'):
        assert row in note
    assert "slots:" not in note
    assert parse_entry(entry.note()) == replace(entry, created=entry.created.replace(microsecond=0))


def capture(capture: str, tools: tuple[str, ...] = ()) -> list[EntryType]:
    settings = replace(SETTINGS, capture=capture)  # type: ignore[arg-type]
    config = CaptureConfig(settings, FakeClock(), str, lambda: str)
    event = replace(RUN, task="My sister Mara lives in Porto.", tools=tools)
    trace = RunTrace(tuple(map(ToolUse, tools)), utterances=(Utterance(event.task),))
    return [entry.type for entry in entries_of_run(event, trace, config)]


def test_an_entry_says_the_kind_of_task_and_has_no_empty_keys() -> None:
    config = CaptureConfig(SETTINGS, FakeClock(), str, lambda: str)
    trace = RunTrace(utterances=(Utterance("My sister Mara lives in Porto."),), task_type="planning")
    (entry,) = entries_of_run(RUN, trace, config)
    assert b"\ntask_type: planning\n" in entry.note() and b"keywords" not in entry.note()


def test_capture_has_two_ways() -> None:
    assert capture("facts") == [EntryType.FACT]
    assert capture("facts", ("vault_read",)) == [EntryType.FACT]
    assert capture("facts", ("search_vault", "vault_read")) == [EntryType.FACT]
    assert capture("off", ("search_vault", "vault_read")) == []


class Talk:
    """A vault in which statements are kept one after another, each in a run of its own."""

    def __init__(self, folder: Path) -> None:
        self.vault: Vault = make_vault(folder, clock=FakeClock())
        self.keeper = EntryWriter(self.vault, lambda entry: [each.path for each in self.entries()], "en")
        self.last: tuple[str, ...] = ()
        self.runs = 0

    def entries(self) -> tuple[StoredEntry, ...]:
        return load_entries(self.vault, [path for path in self.vault.note_paths() if path.startswith("entries/")])

    def say(self, text: str, *, run: str = "") -> list[Resolution]:
        """Keep what is stated in a message, in the same conversation as the one before."""
        self.runs += 1
        event = replace(RUN, run=run or f"run-{self.runs}", session=f"sessions/2026/11/{self.runs}.md")
        said = (*(Utterance(each, is_earlier=True) for each in self.last), Utterance(text))
        entries = fact_entries(event, said, self.vault.clock)
        self.last = (text,)
        return [each.resolution for each in self.keeper.keep(entries, "keep", Stamp("agent"))]

    def current(self) -> list[str]:
        return sorted(each.entry.text.splitlines()[0] for each in self.entries() if not each.entry.superseded_by)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def test_the_full_stop_of_an_abbreviation_ends_no_sentence() -> None:
    assert stated("Our dentist is Dr. Okafor on Mill Street. We meet at 5 p.m. on Mondays.") == [
        "Our dentist is Dr. Okafor on Mill Street.",
        "We meet at 5 p.m. on Mondays.",
    ]


def test_what_is_no_plain_statement_waits_for_a_model(talk: Talk) -> None:
    asked = ("What is the capital of Portugal?", "车险到期了没有", "吃药了没")
    for message in ("The timetable switched over, anyway", "No, actually Lisbon", *asked):
        assert talk.say(message) == []
    assert talk.entries() == ()


def test_said_again_it_is_counted_and_renewed_and_one_run_says_it_once(talk: Talk) -> None:
    talk.say("My sister Mara lives in Porto.", run="one")
    assert talk.say("My sister Mara lives in Porto.", run="one") == [Resolution.AGAIN]
    (each,) = talk.entries()
    assert each.times == 1
    talk.vault.clock.sleep(86_400.0)
    assert talk.say("My sister Mara lives in Porto", run="two") == [Resolution.AGAIN]
    (each,) = talk.entries()
    assert each.times == 2 and len(each.entry.evidence) == 2
    assert each.entry.last_stated > each.entry.created


@given(st.lists(st.text(max_size=300), max_size=5))
def test_any_message_gives_entries_that_are_notes_in_its_words(messages: list[str]) -> None:
    for entry in fact_entries(RUN, tuple(map(Utterance, messages)), FakeClock()):
        assert entry.text.strip()
        found = parse_entry(entry.note())
        assert found is not None and found.type in {EntryType.FACT, EntryType.USER_EXPLICIT}


def test_a_guess_does_not_count_for_what_was_said(talk: Talk) -> None:
    talk.say("My sister Mara lives in Porto.")
    guess = Entry("01HZZZZZZZ0000000000099999", talk.vault.clock.now(), "My sister Mara lives in Porto.",
                  EntryType.AUTO_FLUSH, source="model")  # fmt: skip
    assert [each.resolution for each in talk.keeper.keep([guess], "keep", Stamp("agent"))] == [Resolution.NONE]
    (each,) = talk.entries()
    assert each.times == 1
