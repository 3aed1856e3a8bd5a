"""Sub-runs asked for in one reply work at the same time, and share money, taint and the vault without harm."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.errors import Interrupted
from agent.events.runs import Speaker
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Model,
    OnText,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    Usage,
    User,
    ignore,
    never,
)
from agent.llm.providers import Providers
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session, sessions
from agent.runs import accounts
from agent.runs.decisions import approvals
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.history.find import commits
from agent.workspace.search_index import open_index
from tests.stories.agents import furnish, settings

PARTS = ("north", "east", "south")
TASK = "do three things"
DONE = "All three: north is done | east is done | south is done"
Work = Callable[[str, Request, Cancelled], Assistant]
"""What the model of the sub-run with this part says to a request."""


class Killed(BaseException):
    """The process is gone: nothing after this happens."""


def results(request: Request) -> list[ToolResult]:
    return [message for message in request.messages if isinstance(message, ToolResult)]


def call(tool: str, part: str, **arguments: str) -> Assistant:
    return Assistant("", (ToolCall(f"{part}-{tool}", tool, arguments),))


@dataclass
class Three:
    """A model that delegates three parts in one reply, works on each by `work`, and then sums up."""

    work: Work
    asked: list[str] = field(default_factory=list)
    model: Model = Model("three", 100_000, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        task = next(message.text for message in reversed(request.messages) if isinstance(message, User))
        if task not in {*PARTS, TASK}:  # a question of the memory, after the run
            return self._reply(Assistant("[]"))
        self.asked.append(task)
        if task in PARTS:
            return self._reply(self.work(task, request, cancelled))
        if results(request):
            return self._reply(Assistant("All three: " + " | ".join(each.text for each in results(request))))
        return self._reply(Assistant("", tuple(ToolCall(part, "delegate", {"task": part}) for part in PARTS)))

    def _reply(self, message: Assistant) -> Reply:
        return Reply(message, Usage(100, 10), "tools" if message.calls else "end", "three")


@dataclass
class House:
    """A vault whose model is `Three`."""

    root: Path
    put: Callable[[object, str, object], None]

    @contextmanager
    def runs(self, model: Three) -> Iterator[RunService]:
        """The agent, as a new process has it."""
        self.put(accounts, "providers", lambda *_: Providers(model, model))
        workspace = open_workspace(self.root)
        with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
            yield agent

    def ask(self, model: Three, cancelled: Cancelled = never) -> Ended:
        with self.runs(model) as agent:
            return agent.ask(RunRequest(TASK, Speaker("cli")), line=RunIO(cancelled=cancelled))

    def resume(self, model: Three, path: str) -> Ended:
        with self.runs(model) as agent:
            return agent.resume(path)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    root = furnish(tmp_path, monkeypatch.setenv)
    for key, value in settings(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "openai")
    monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    return House(root, monkeypatch.setattr)


def test_three_sub_runs_are_at_work_at_once_and_their_results_are_in_the_order_of_the_calls(house: House) -> None:
    inside = threading.Barrier(3, timeout=30)

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        inside.wait()  # opens when all three are inside
        return Assistant(f"{part} is done")

    ended = house.ask(Three(work))
    assert (ended.outcome, ended.answer) == (RunOutcome.FINISHED, DONE)


def test_the_money_of_the_run_is_shared_and_reserved_before_each_call(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_SPEND__CALLS_PER_RUN", "7")

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        number = len(request.messages)
        return Assistant("", (ToolCall(f"{part}{number}", "vault_list", {"limit": number}),))

    model = Three(work)
    with house.runs(model) as agent:
        ended = agent.ask(RunRequest(TASK, Speaker("cli")))
        assert agent.account.spent(ended.run).calls == len(model.asked) == 7
    assert ended.outcome is RunOutcome.LIMIT


def test_what_one_sub_run_reads_taints_its_parent_and_not_those_beside_it(house: House) -> None:
    read = threading.Event()

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        if part == "north" and not results(request):
            return call("vault_read", part, path="tea.md")
        if part == "north":
            read.set()
            return Assistant("done")
        assert read.wait(30)
        return Assistant("done") if results(request) else call("memory_save", part, text=f"The {part} is fine.")

    with house.runs(Three(work)) as agent:
        (house.root / "tea.md").write_text("# Tea\n\nSent by a stranger.\n")
        origin = agent.recall.foreign
        origin.remember("run-1", b"# Tea\n\nSent by a stranger.\n", b"", ["https://elsewhere.test"])
        ended = agent.ask(RunRequest(TASK, Speaker("cli")))
    assert ended.outcome is RunOutcome.FINISHED, "a sub-run had to ask because of what another one read"
    vault = open_workspace(house.root).vault
    found = [load_session(vault, path) for path in sessions(vault)]
    tainted = {session.parent.rpartition("/")[2]: session.untrusted for session in found}
    assert tainted[""] and tainted["north"] and not tainted["east"] and not tainted["south"]


def test_two_that_write_the_same_note_lose_nothing_and_a_conflict_is_the_error_of_one(house: House) -> None:
    inside = threading.Barrier(3, timeout=30)

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        if not results(request):
            inside.wait()
            return call("vault_append", part, path="log.md", text=f"- {part}")
        if len(results(request)) == 1:
            return call("vault_write", part, path="same.md", content=f"{part}\n")
        return Assistant("failed" if results(request)[-1].failed else "wrote")

    ended = house.ask(Three(work))
    assert ended.outcome is RunOutcome.FINISHED
    assert sorted((house.root / "log.md").read_text().split()) == sorted(["-"] * 3 + [*PARTS])
    assert ended.answer.count("wrote") == 1 and ended.answer.count("failed") == 2
    assert (house.root / "same.md").read_text().strip() in PARTS


def approving(part: str, request: Request, cancelled: Cancelled) -> Assistant:
    """The one in the middle needs a yes; the others append to the log."""
    if results(request):
        return Assistant(f"{part} is done")
    if part == "east":
        return call("vault_edit", part, path="AGENT.md", old="Be brief.", new="Be kind.")
    return call("vault_append", part, path="log.md", text=f"- {part}")


def test_an_approval_in_one_does_not_stop_the_others_and_nothing_is_done_twice_after_it(house: House) -> None:
    model = Three(approving)
    asked = house.ask(model)
    assert asked.outcome is RunOutcome.NEEDS_APPROVAL
    before = (house.root / "log.md").read_text()
    assert sorted(before.split()) == sorted(["-", "-", "north", "south"])
    known = approvals(open_workspace(house.root))
    (waiting,) = known.pending()
    known.decide(waiting.id, yes=True)
    model.asked.clear()
    ended = house.resume(model, asked.session)
    assert ended.answer == DONE
    assert model.asked == ["east", TASK] and (house.root / "log.md").read_text() == before


def test_a_stop_reaches_all_of_them(house: House) -> None:
    inside, stopped = threading.Barrier(3, timeout=30), threading.Event()

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        inside.wait()
        stopped.set()
        assert cancelled()
        raise Interrupted("the call of the model was cancelled")

    ended = house.ask(Three(work), stopped.is_set)
    assert ended.outcome is RunOutcome.INTERRUPTED
    vault = open_workspace(house.root).vault
    assert all(load_session(vault, path).open_run for path in sessions(vault)) and len(sessions(vault)) == 4


def test_a_crash_half_way_is_taken_up_without_doing_anything_twice(house: House) -> None:
    appended, over = threading.Barrier(2, timeout=30), threading.Event()

    def work(part: str, request: Request, cancelled: Cancelled) -> Assistant:
        if not results(request):
            return call("vault_append", part, path="log.md", text=f"- {part}")
        if part == "north":
            over.set()
            return Assistant("north is done")
        assert over.wait(30)
        appended.wait()
        raise Killed

    with pytest.raises(Killed):
        house.ask(Three(work))
    again = Three(lambda part, request, cancelled: Assistant(f"{part} is done"))
    vault = open_workspace(house.root).vault
    path = next(path for path in sessions(vault) if not load_session(vault, path).parent)
    ended = house.resume(again, path)
    assert ended.answer == DONE
    assert sorted(again.asked) == [TASK, "east", "south"], "north was over"
    assert sorted((house.root / "log.md").read_text().split()) == sorted(["-"] * 3 + [*PARTS])
    vault.commit_held()  # what the killed run had done is committed with it, at the next write of another process
    made = [work.call for each in commits(vault) for work in each.work if work.tool == "vault_append"]
    assert len(made) == len(set(made)) == 3
