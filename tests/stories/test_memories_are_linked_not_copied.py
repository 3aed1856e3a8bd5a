"""A session's note has links to the memories that its model was given, and not their words, which are kept on the
machine for whoever goes on with it. What counts is what reaches the model."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.interfaces.cli.chat_commands import COMMANDS, ChatState
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Context,
    Message,
    OnText,
    Reply,
    Request,
    Usage,
    User,
    ignore,
    never,
)
from agent.llm.providers import Providers
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.runs import accounts
from agent.runs.decisions import approvals
from agent.runs.service import RunService
from agent.tools.taint import frame
from agent.workspace.search_index import open_index
from tests.context.situations import ENTRY, Teller, call
from tests.remotes import shared_with_mallory
from tests.stories.agents import furnish, settings, tell
from tests.vaults import git, write

JASMINE = "entries/2026/11/jasmine.md"
WORDS = "Anna drinks jasmine tea in the evening."
TEA = "Which tea does Anna drink in the evening?"
OWNER = Speaker("cli")


@dataclass
class Listener(Teller):
    """A teller that keeps every request, also those without tools, as a guest's are."""

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.heard.append(request)
        said = self.replies.pop(0)
        return Reply(Assistant(said.text, tuple(map(self._named, said.calls))), Usage(10, 5), "end", "teller")


@dataclass
class House:
    """A vault whose agent is opened anew for each task, as one process after another does it."""

    root: Path
    own: dict[str, str]
    model: Listener = field(default_factory=Listener)

    def lives(self, act: Callable[[RunService], Ended], *replies: Assistant | str) -> Ended:
        self.model.heard.clear()
        self.model.replies = [Assistant(reply) if isinstance(reply, str) else reply for reply in replies]
        workspace = open_workspace(self.root)
        with closing(open_index(workspace)) as index:
            index.refresh()
            with closing(build_runs(workspace, index)) as agent:
                return act(agent)

    def ask(
        self, task: str, *replies: Assistant | str, session: str = "", who: Speaker = OWNER, role: str = "owner"
    ) -> Ended:
        return self.lives(lambda agent: agent.ask(RunRequest(task, who, role), session), *(replies or ("Done.",)))

    def resume(self, session: str, *replies: Assistant | str) -> Ended:
        return self.lives(lambda agent: agent.resume(session), *replies)

    def recall(self, task: str, session: str = "") -> str:
        """What `/recall` shows in a chat."""
        workspace = open_workspace(self.root)
        with closing(open_index(workspace)) as index:
            index.refresh()
            with closing(build_runs(workspace, index)) as agent:
                return COMMANDS["/recall"](ChatState(workspace, agent, session), task)

    def note(self, session: str) -> str:
        return (self.root / session).read_text("utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        before = (self.root / path).read_text("utf-8")
        assert old in before
        write(self.root / path, before.replace(old, new))

    def messages(self) -> tuple[Message, ...]:
        return self.model.heard[-1].messages

    def memories(self) -> str:
        """What the model was last given of what is remembered."""
        said = [each for each in self.messages() if isinstance(each, Context) and each.source == "memories"]
        return "\n\n".join(each.text for each in said)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    root = furnish(tmp_path, monkeypatch.setenv)
    chosen = {"LLM__BASE_URL": "http://127.0.0.1:9/v1", "LLM__WIRE": "openai", "MEMORY__CAPTURE": "off"}
    chosen["CONTEXT__KEEP_TURNS"] = "2"
    chosen["MEMORY__FLOOR"] = "off"  # so that a task is given several
    for key, value in chosen.items():
        monkeypatch.setenv(f"VAULT_AGENT_{key}", value)
    write(root / JASMINE, ENTRY)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "what is known")
    found = House(root, {**settings(tmp_path), **{f"VAULT_AGENT_{key}": value for key, value in chosen.items()}})
    monkeypatch.setattr(accounts, "providers", lambda *_: Providers(found.model, found.model))
    return found


def test_the_next_task_is_given_them_in_the_same_words_and_the_note_has_only_links(house: House) -> None:
    session = house.ask(TEA, "Jasmine.").session
    first = house.memories()
    assert WORDS in first and "Green tea in the morning." in first and "- buy tea" in first
    note = house.note(session)
    assert "`entries/2026/11/jasmine.md` line" in note and "`tea.md` line" in note and "[[" not in note
    assert all(words not in note for words in (WORDS, "Green tea in the morning.", "- buy tea"))

    house.ask("And who else?", session=session)
    assert first.split("\n\n")[0] in house.memories()
    assert all(house.memories().count(words) == 1 for words in (WORDS, "Green tea in the morning.", "- buy tea"))
    asked = house.messages().index(User(TEA))
    assert WORDS in house.messages()[asked - 1].text, "a memory stands before its task"


def test_recall_in_a_chat_shows_what_the_next_message_is_given(house: House) -> None:
    shown = house.recall(TEA)
    session = house.ask(TEA, "Jasmine.").session
    assert all(
        words in shown and words in house.memories() for words in (WORDS, "Green tea in the morning.", "- buy tea")
    )

    shown = house.recall(TEA, session)
    assert WORDS not in shown and JASMINE in shown, "the conversation has it already"
    write(house.root / "shelf.md", "Anna's jasmine tea for the evening stands on the shelf.\n")
    assert "on the shelf" in house.recall(TEA, session)
    house.ask(TEA, "On the shelf.", session=session)
    assert house.memories().count(WORDS) == 1 and "on the shelf" in house.memories()


@pytest.mark.parametrize("task", ["What is the derivative of x squared?", "Thanks!"])
def test_recall_in_a_chat_is_silent_where_a_run_is_given_nothing(
    house: House, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_MEMORY__FLOOR", "normal")
    house.ask(task)
    assert house.memories() == ""
    assert house.recall(task).startswith("nothing more is given for it")


def test_a_run_that_waited_for_a_yes_goes_on_with_its_memories(house: House) -> None:
    edit = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be kind.")
    asked = house.ask(TEA, edit)
    assert asked.outcome is RunOutcome.NEEDS_APPROVAL and WORDS not in house.note(asked.session)
    waiting = approvals(open_workspace(house.root))
    waiting.decide(waiting.pending()[-1].id, yes=True)
    assert house.resume(asked.session, "Jasmine.").outcome is RunOutcome.FINISHED
    assert WORDS in house.memories()


@pytest.mark.parametrize("how", [(), ("--purge",)])
def test_what_was_forgotten_since_is_neither_in_the_note_nor_given(house: House, how: tuple[str, ...]) -> None:
    session = house.ask(TEA).session
    tell(house.root, house.own, "forget", JASMINE, *how, "--yes")
    assert "jasmine" not in house.note(session)
    house.ask("And who else drinks tea?", session=session)
    assert "jasmine" not in "\n".join(each.text for each in house.messages()).casefold()
    assert "Green tea in the morning." in house.memories()


def test_what_was_given_stays_as_it_was_when_a_person_changes_the_note(house: House) -> None:
    session = house.ask(TEA).session
    house.edit("plan.md", "- buy tea", "- buy coffee")
    house.edit(JASMINE, "jasmine", "mint")
    house.ask("Thanks", session=session)
    assert "- buy tea" in house.memories() and "jasmine tea" in house.memories(), "what was sent stays as it was"


def test_a_strangers_passage_is_framed_and_taints_again(house: House, tmp_path: Path) -> None:
    shared_with_mallory(house.root, tmp_path).pushes({"evening.md": "# Tea in the evening\n\nAnna drinks rum.\n"})
    git(house.root, "pull", "-q", "--no-rebase", "--no-edit")
    session = house.ask(TEA).session
    framed = frame("x", "evening.md").split("evening.md")[0]
    assert f"{framed}evening.md" in house.memories() and "rum" in house.memories()
    assert "rum" not in house.note(session)
    save = call("memory_save", text="The party is on Sunday.")
    ended = house.ask("Thanks", save, session=session)
    inside = house.memories().partition(f"{framed}evening.md")[2].partition("</untrusted>")[0]
    assert "Anna drinks rum." in inside
    assert ended.outcome is RunOutcome.NEEDS_APPROVAL


def test_in_a_group_each_is_given_their_own_again_and_a_guest_no_note_of_the_owners(house: House) -> None:
    anna, bo = (Speaker("lark:tea", name, group=True) for name in ("Anna", "Bo"))
    theirs = ENTRY.replace("scope: user", "scope: user\nsender_id: Anna").replace("AAAA\n", "AAAB\n")
    write(house.root / "entries/2026/11/oolong.md", theirs.replace("jasmine tea in", "oolong tea in"))
    question = "Which tea do I, Anna, drink in the evening?"
    session = house.ask(question, who=anna, role="guest").session
    assert "oolong" in house.memories()
    house.ask("And I?", session=session, who=bo, role="guest")
    assert "oolong" not in "\n".join(each.text for each in house.messages())
    house.ask("And on Sunday?", session=session, who=anna, role="guest")
    assert house.memories().count("drinks oolong") == 1
    assert "oolong" in house.messages()[house.messages().index(User(question, "Anna")) - 1].text


def test_what_a_summary_has_replaced_is_not_read_again_and_comes_up_anew(house: House) -> None:
    session = house.ask(TEA).session
    for number in range(3):
        house.ask(f"Write a haiku about snow, number {number}: {'white, ' * 60}", session=session)
    replies = ["Goal: tea\nDecisions: none\nCompleted: haikus\nPending: none\nConstraints: none"] * 2
    house.model.replies = list(map(Assistant, replies))
    workspace = open_workspace(house.root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        assert agent.compact(session) is not None
    assert any(WORDS in each.text for each in house.model.heard[-2].messages), "the flush is asked with the memories"
    house.ask("Thanks", session=session)
    assert WORDS not in house.memories()
    house.ask(TEA, session=session)
    assert house.memories().count(WORDS) == 1


def test_a_note_from_before_with_the_words_in_it_is_read_as_it_is(house: House) -> None:
    session = house.ask("Thanks").session
    old = '%% vault-agent: context {"at": "2026-11-20T09:00:00+00:00", "source": "memories"} %%\n'
    before = house.note(session)
    at = before.index("%% vault-agent: user ")
    added = f"{old}### 09:00 Given to the model: memories\n\n```text\nBo drinks mate.\n```\n\n- [[tea]] line 1\n\n"
    write(house.root / session, before[:at] + added + before[at:])
    house.ask("Thanks", session=session)
    assert house.memories() == "Bo drinks mate."
