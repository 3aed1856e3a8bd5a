"""Several people talk to one agent, in a group and alone: what one said in private never comes up for another, what is
said in a group stays in the group, and nobody's words become somebody else's. What counts is what reaches the model."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.asking.questions.question import write_answer
from agent.errors import UserError
from agent.events.runs import Speaker
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Model,
    OnText,
    Provider,
    Reply,
    Request,
    ToolCall,
    Usage,
    ignore,
    never,
)
from agent.loop.agent import Models
from agent.loop.outcome import RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.memory.entry import Entry, Scope, parse_entry
from agent.runs.accounts import ModelsOfRun
from agent.runs.decisions import open_questions
from agent.runs.service import RunService
from agent.runs.upkeep_jobs import Upkeeper
from agent.workspace.search_index import open_index
from tests.stories.agents import furnish, script
from tests.vaults import write

ROOM, OTHER = "lark:room", "lark:other"
SECRET = "My locker number is 4417, the one by the window on the second floor."
ASKS = "What is the number of the locker by the window?"
_NUMBERS = count()
OPEN = """\
version: 1
profiles:
  - name: guest
    match: { roles: [guest] }
    policy:
      allow: [{ tool: memory_recall }, { tool: search_vault }]
  - name: default
    match: {}
    policy: {}
"""


@dataclass
class Recorder:
    """A model that writes down all that it is given, and calls a tool as often as it is told to."""

    model_behind: Provider
    given: list[str]
    calls: list[ToolCall]

    @property
    def model(self) -> Model:
        return self.model_behind.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.given.append("\n".join(message.text for message in request.messages))
        if self.calls and request.tools:
            return Reply(Assistant("", (self.calls.pop(0),)), Usage(), "tools", self.model.name)
        return self.model_behind.chat(request, on_text, cancelled)


@dataclass
class House:
    """The agent of one vault, as one process after another would have it, and what its models were given."""

    root: Path
    given: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def opened(self) -> closing[RunService]:
        workspace = open_workspace(self.root)
        index = open_index(workspace)
        index.refresh()
        made = build_runs(workspace, index)
        made.account = replace(made.account, of_run=self._recording(made.account.of_run))
        return closing(made)

    def _recording(self, of_run: ModelsOfRun) -> ModelsOfRun:
        def recorded(run: str, job: str, spend: float | None = None, /) -> Models:
            models = of_run(run, job, spend)
            return models.wrapped(lambda each: Recorder(each, self.given, self.calls))

        return recorded

    def ask(self, text: str, who: Speaker, session: str = "", role: str = "guest") -> str:
        """Ask in a process of its own; the session. `given` is what this run's models were given."""
        self.given.clear()
        with self.opened() as agent:
            return agent.ask(RunRequest(text, who, role), session).session

    def heard(self) -> str:
        return "\n".join(self.given)

    def entries(self) -> list[Entry]:
        vault = open_workspace(self.root).vault
        found = (parse_entry(vault.read(path) or b"") for path in vault.note_paths() if path.startswith("entries/"))
        return [entry for entry in found if entry is not None]


def looks_up(tool: str) -> ToolCall:
    number = next(_NUMBERS)
    return ToolCall(f"look-{number}", tool, {"query": f"locker number 4417 window {number}"})


def alone(name: str) -> Speaker:
    return Speaker(f"lark:{name}", name)


def grouped(name: str, room: str = ROOM) -> Speaker:
    return Speaker(room, name, group=True)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", after="Noted."))
    write(tmp_path / "home" / "config" / "policy.yaml", OPEN)
    yield House(root)


def test_what_was_recalled_for_one_in_a_group_is_not_before_the_model_for_the_next(house: House) -> None:
    house.ask(SECRET, alone("anna"))
    session = house.ask(ASKS, grouped("anna"))
    assert "4417" in house.heard(), "Anna was not given her own words"
    house.ask(ASKS, grouped("ben"), session)
    assert ASKS in house.heard() and "4417" not in house.heard()
    house.ask("And what was it again?", grouped("anna"), session)
    assert "4417" in house.heard()


def test_what_was_looked_up_for_one_reaches_nobody_else_by_any_way(house: House) -> None:
    house.ask(SECRET + " " + "I keep my skates, a spare key and the red bag in it. " * 5, alone("anna"))
    house.calls.append(looks_up("memory_recall"))
    session = house.ask(ASKS, grouped("anna"))
    assert "4417" in house.heard()
    for number in range(6):
        house.ask(f"Tell us about the number {number}.", grouped("anna"), session)
    house.given.clear()
    with house.opened() as agent:
        assert agent.compact(session) is not None
    assert len(house.given) == 1, "the model was asked what to keep for the whole chat, with a guest's own before it"
    for speaker in (grouped("ben"), alone("ben"), grouped("ben", OTHER)):
        house.calls += [looks_up(tool) for tool in ("memory_recall", "search_vault") * 2 + ("memory_recall",)]
        house.ask(ASKS, speaker, session if speaker.channel == ROOM else "")
        assert len(house.given) == 6
        assert "4417 by" not in house.heard() and "4417, the" not in house.heard(), speaker
    with house.opened() as agent:
        agent.compact(session)
    assert "4417, the" not in house.heard()
    assert {entry.sender_id for entry in house.entries() if "4417, the" in entry.text} == {"anna"}
    assert [entry.text for entry in house.entries() if "4417, the" in entry.text and entry.scope is Scope.CHAT] == []


def test_of_a_guest_s_conversation_no_summary_is_left_where_others_would_find_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_MEMORY__AUTO_RECALL", "false")
    session = house.ask(SECRET, alone("anna"))
    for number in range(8):
        house.ask(f"Tell me about the number {number}.", alone("anna"), session)
    house.given.clear()
    with house.opened() as agent:
        assert agent.compact(session) is not None
    assert len(house.given) == 1, "the model was asked what to keep of a guest"
    assert list((house.root / "sessions").rglob("*-summary-*")) == []
    house.ask(ASKS, Speaker("cli"), role="owner")
    assert "4417" not in house.heard(), "the owner was given a guest's words unasked, as a passage of a note"


def test_a_guest_cannot_go_on_in_another_s_private_conversation(house: House) -> None:
    session = house.ask(SECRET, alone("anna"))
    house.ask(ASKS, Speaker("lark:anna", "ben"), session)
    assert "4417" not in house.heard()


def test_what_was_said_in_a_group_comes_up_for_others_in_that_group_only(house: House) -> None:
    house.ask("The coffee machine takes brass tokens.", grouped("ben"))
    question = "What does the coffee machine take?"
    for speaker, known in (
        (grouped("cara"), True),
        (grouped("cara", OTHER), False),
        (alone("cara"), False),
        (Speaker(ROOM, "cara"), False),
        (grouped("ben", OTHER), True),
    ):
        house.ask(question, speaker)
        assert ("brass" in house.heard()) is known, speaker


def test_two_who_say_the_same_have_said_it_each_for_themselves(house: House) -> None:
    same = "I prefer window seats on long trains."
    session = house.ask(same, grouped("anna"))
    for name in ("ben", "anna"):
        house.ask(same, grouped(name), session)
    said = {(entry.sender_id, entry.scope): entry for entry in house.entries() if same in entry.text}
    assert len(said) == len([entry for entry in house.entries() if same in entry.text]) == 4
    assert {key: entry.slots.get("times", "1") for key, entry in said.items()} == {
        ("anna", Scope.USER): "2",
        ("anna", Scope.CHAT): "2",
        ("ben", Scope.USER): "1",
        ("ben", Scope.CHAT): "1",
    }
    with house.opened() as agent:
        Upkeeper(agent.workspace).run()
    assert {entry.sender_id for entry in house.entries() if same in entry.text} == {"anna", "ben"}


def test_what_others_repeat_does_not_become_the_owner_s_long_term_memory(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anna", "ben", "cara", "dora"):
        house.ask("I am allergic to walnuts.", grouped(name))
        house.ask("I am allergic to walnuts.", alone(name))
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LIFECYCLE", "on")
    for _ in range(4):
        house.ask("I drink oolong tea every morning.", Speaker("cli"), role="owner")
        house.ask(f"Something else, number {len(house.entries())}.", Speaker("cli"), role="owner")
    with house.opened() as agent:
        Upkeeper(agent.workspace).run()
    text = (house.root / "MEMORY.md").read_text("utf-8")
    assert "oolong" in text and "walnuts" not in text


def test_without_a_model_a_guest_is_quoted_nothing_that_is_not_theirs(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.ask(SECRET, alone("anna"))
    house.ask("I had green tea for breakfast.", alone("ben"))
    monkeypatch.delenv("VAULT_AGENT_LLM__WIRE")
    with house.opened() as agent:
        for who, question in (("ben", "green tea"), ("ben", ASKS), ("anna", "green tea"), ("anna", ASKS)):
            for speaker in (alone(who), grouped(who)):
                answer = agent.ask(RunRequest(question, speaker, "guest")).answer
                assert "Green tea in the morning" not in answer, "a guest was quoted the owner's notes"
                assert "breakfast" not in answer if who == "anna" else "4417" not in answer
                if (question == ASKS) is (who == "anna"):  # it is about what is theirs
                    assert ("4417" if who == "anna" else "breakfast") in answer
        assert "Green tea in the morning" in agent.ask(RunRequest("green tea", Speaker("cli"))).answer


def test_a_guest_without_a_name_is_refused_and_given_nothing(house: House) -> None:
    with pytest.raises(UserError, match="no name"):
        RunRequest("Who am I?", Speaker("webhook"), "guest")
    assert RunRequest("Who am I?", Speaker("webhook", "x"), "guest").speaker.sender == "x"


def test_a_run_that_waits_in_a_group_is_not_lost_when_somebody_else_speaks(house: House) -> None:
    house.calls.append(ToolCall("q1", "human_ask", {"question": "Which locker?"}))
    session = house.ask("Open my locker.", grouped("olga"), role="owner")
    with house.opened() as agent:
        assert [mark.session for mark in agent.marks.waiting()] == [session]
    elsewhere = house.ask("Good morning!", grouped("ben"), session)
    assert elsewhere != session and "Good morning!" in house.heard() and "locker" not in house.heard()
    assert house.ask("And good night.", grouped("ben"), elsewhere) == elsewhere
    with house.opened() as agent:
        assert [mark.session for mark in agent.marks.waiting()] == [session], "olga's question is forgotten"
        (question,) = open_questions(agent.workspace)
        write_answer(agent.workspace.vault, question, "The red one.", "en")
        house.given.clear()
        assert agent.resume(session).outcome is RunOutcome.FINISHED
        assert "the person answered: The red one." in house.heard()
    assert house.ask("Good morning again!", grouped("ben"), session) == session, "nobody has to wait here any more"


def test_who_is_waited_for_may_say_something_else_in_their_session(house: House) -> None:
    house.calls.append(ToolCall("q1", "human_ask", {"question": "Which locker?"}))
    session = house.ask("Open my locker.", grouped("olga"), role="owner")
    assert house.ask("Leave it.", grouped("olga"), session, role="owner") == session
    with house.opened() as agent:
        assert agent.marks.waiting() == ()
        assert not load_session(agent.workspace.vault, session).waits


def test_a_session_that_waits_on_another_machine_is_left_to_its_person(house: House) -> None:
    house.calls.append(ToolCall("q1", "human_ask", {"question": "Which locker?"}))
    session = house.ask("Open my locker.", grouped("olga"), role="owner")
    with house.opened() as agent:
        agent.marks.drop(load_session(agent.workspace.vault, session).id)
    assert house.ask("Good morning!", grouped("ben"), session) != session


def test_the_last_session_is_the_same_person_s_or_the_group_s(house: House) -> None:
    shared, room = "lark", Speaker("lark", "anna", group=True)
    begun = {
        who: house.ask(f"I am {who.sender or 'olga'}.", who, role="guest" if who.sender else "owner")
        for who in (Speaker(shared, "anna"), Speaker(shared, "ben"), Speaker(shared), room)
    }
    with house.opened() as agent:
        for who, session in begun.items():
            found = agent.last_session(who)
            assert found is not None and found.path == session, who
        ben = agent.last_session(Speaker(shared, "ben", group=True))
        assert ben is not None and ben.path == begun[room], "a group has its session together"
        for nobody in (Speaker(shared, "cara"), Speaker("cli"), Speaker("cli", "anna")):
            assert agent.last_session(nobody) is None


def test_a_guest_s_words_do_not_come_up_for_the_owner_by_the_day_s_log(house: House) -> None:
    house.ask(SECRET, alone("anna"))
    house.ask(ASKS, grouped("olga"), role="owner")
    assert "4417" not in house.heard()
    assert "4417" not in "".join(path.read_text("utf-8") for path in (house.root / "daily").glob("*.md"))
