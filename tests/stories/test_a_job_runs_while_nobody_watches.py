"""A run that nobody asked for at that moment: what it may do, where it writes, whose name it has, what it may cost."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.app.agent import build_runs, opened_runs
from agent.app.open import open_workspace
from agent.asking.questions.question import write_answer
from agent.events.runs import Speaker
from agent.interfaces.cli.chat import last_exchanges
from agent.llm.messages import Json
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Began, RunRequest
from agent.loop.session import load_session, sessions
from agent.runs.decisions import open_questions
from agent.runs.run_course import run_trace
from agent.runs.waiting_statements import waiting_conversations
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.history.find import commits
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import git, head

ALARM = Speaker("job")
PERSON = Speaker("cli")
SAID = "I live in Lyon and I am allergic to nuts. My sister is called Vera."
"""Words of which a person's run keeps facts."""


@dataclass(frozen=True)
class House:
    """A vault whose model says its lines; each ask is a process of its own."""

    folder: Path
    root: Path

    @property
    def workspace(self) -> Workspace:
        return open_workspace(self.root)

    @property
    def own(self) -> dict[str, str]:
        return settings(self.folder, self.folder / "script.json")

    def says(self, *replies: object, **whole: object) -> None:
        script(self.folder / "script.json", *replies, **whole)

    def ask(self, asked: RunRequest, session: str = "") -> Ended:
        with opened_runs(self.workspace) as runs:
            return runs.ask(asked, session)

    def resume(self, session: str) -> Ended:
        with opened_runs(self.workspace) as runs:
            return runs.resume(session)

    def results(self, ended: Ended) -> list[str]:
        """What the tools of a run answered."""
        found = load_session(self.workspace.vault, ended.session)
        return [message.text for message in found.history if type(message).__name__ == "ToolResult"]

    def entries(self) -> list[str]:
        """The texts of all memories."""
        return [path.read_text("utf-8") for path in (self.root / "entries").rglob("2*.md")]

    def actors(self, since: str) -> set[str]:
        return set(git(self.root, "log", "--format=%(trailers:key=Vault-Actor,valueonly,separator=%x20)",
                       f"{since}..").split())  # fmt: skip


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    root = furnish(tmp_path, monkeypatch.setenv, tmp_path / "script.json")
    return House(tmp_path, root)


def job(task: str = "look what is new", **more: object) -> RunRequest:
    return RunRequest(task, ALARM, job="morning", **more)  # type: ignore[arg-type]  # each by its name


def test_it_reads_and_writes_but_runs_nothing_reaches_nothing_and_starts_nobody(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_TOOLS__SHELL", "true")
    house.says(after="Nothing new.")
    with opened_runs(house.workspace) as runs:
        _, _, mine = runs.explain(RunRequest("look", PERSON))
        _, _, theirs = runs.explain(job())
    assert {"shell_run", "web_fetch", "delegate"} <= set(mine)
    assert set(mine) - set(theirs) - {"tool_search"} == {"shell_run", "web_fetch", "delegate"}
    assert {"vault_read", "vault_write", "search_vault", "memory_save", "human_ask"} <= set(theirs)


def test_it_writes_only_where_it_may_also_when_it_goes_on_after_an_answer(house: House) -> None:
    house.says(
        call("vault_write", path="garden/beds.md", content="# Beds\n"),
        call("human_ask", question="Go on?"),
        call("vault_append", path="plan.md", text="- more tea\n"),
        call("vault_write", path="garden.md", content="# No\n"),
        call("vault_move", path="garden/beds.md", to="beds.md"),
        call("memory_save", text="The beds are sown."),
        call("vault_append", path="garden/beds.md", text="peas\n"),
        "Done.",
    )
    ended = house.ask(job(writes=("garden/", "tea.md")))
    assert ended.outcome is RunOutcome.QUESTION_ASKED
    write_answer(house.workspace.vault, open_questions(house.workspace)[0], "yes", "en")
    ended = house.resume(ended.session)
    assert ended.outcome is RunOutcome.FINISHED, ended
    beds, _, *others, last = house.results(ended)
    assert beds.startswith("done") and last.startswith("done")
    assert len(others) == 4 and all(
        "is not for this run to change: it may write garden/, tea.md" in each for each in others
    )
    assert (house.root / "garden/beds.md").read_text("utf-8") == "# Beds\npeas\n"
    assert not (house.root / "garden.md").exists() and not house.entries()


def test_a_sub_run_is_bound_as_its_parent_is(house: House) -> None:
    house.says(
        call("delegate", task="sow the peas"),
        {"task": "sow the peas", **call("vault_write", path="plan.md", content="# Peas\n")},
        {"task": "sow the peas", **call("vault_write", path="garden/peas.md", content="# Peas\n")},
        {"task": "sow the peas", "text": "Sown."},
        "All done.",
    )
    before = head(house.root)
    ended = house.ask(RunRequest("the garden", PERSON, job="spring", writes=("garden/",), spend=2.0, purpose="care"))
    assert ended.outcome is RunOutcome.FINISHED, ended
    assert (house.root / "garden/peas.md").exists()
    assert (house.root / "plan.md").read_text("utf-8") == "# Plan\n\n- buy tea\n"
    assert house.actors(before) == {"job:spring"}
    (path,) = (each for each in sessions(house.workspace.vault) if each != ended.session)
    sub = load_session(house.workspace.vault, path)
    (began,) = [each.event for each in sub.records if isinstance(each.event, Began)]
    assert (began.job, began.writes, began.spend, began.purpose) == ("spring", ("garden/",), 2.0, "care")


def test_a_tool_of_one_purpose_is_there_for_that_only(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(arguments: Json, context: RunContext) -> ToolOutput:
        return ToolOutput("planned")

    planning = Tool("plan_next", "Plan.", {"type": "object"}, perform, frozenset({"schedule"}),
                    only_for=frozenset({"reflection"}))  # fmt: skip
    monkeypatch.setattr("agent.runs.toolbox.skill_tools", lambda *_: (planning,))
    house.says(call("plan_next"), "Done.", model={"name": "planner"})
    assert house.results(house.ask(job(purpose="reflection"))) == ["planned"]
    (refused,) = house.results(house.ask(job(purpose="gardening")))
    assert "there is no tool plan_next" in refused
    with opened_runs(house.workspace) as runs:
        assert "plan_next" in runs.explain(job(purpose="reflection"))[2]
        assert "plan_next" not in runs.explain(job())[2]


def test_everything_it_does_is_in_the_name_of_the_job_and_goes_back_by_it(house: House) -> None:
    house.says(
        call("vault_write", path="news.md", content="# News\n"),
        call("memory_save", text="The shop has new tea."),
        call("human_ask", question="Buy it?"),
        "Bought.",
    )
    before = head(house.root)
    ended = house.ask(job())
    assert house.actors(before) == {"job:morning"}
    write_answer(house.workspace.vault, open_questions(house.workspace)[0], "yes", "en")
    before = head(house.root)
    assert house.resume(ended.session).outcome is RunOutcome.FINISHED
    assert house.actors(before) == {"job:morning"}
    rows = document(house.root, house.own, "log", "--job", "morning")["commits"]
    assert rows == document(house.root, house.own, "log", "--actor", "job:morning")["commits"] and len(rows) >= 2
    tell(house.root, house.own, "undo", "--job", "morning", "--since", "tomorrow", code=2)
    nothing = document(house.root, house.own, "undo", "--job", "morning", "--since", "2999-01-01")
    assert nothing["undone"] == [] and (house.root / "news.md").exists()
    document(house.root, house.own, "undo", "--job", "morning", "--since", "1h")
    assert not (house.root / "news.md").exists() and not house.entries()
    assert (house.root / ended.session).exists(), "the record stays"


def test_what_a_job_is_told_are_nobodys_words(house: House) -> None:
    house.says(call("search_vault", query="tea"), call("vault_read", path="tea.md"), f"{SAID} Noted.", after="Noted.")
    ended = house.ask(job(SAID))
    note = (house.root / ended.session).read_text("utf-8")
    assert "The job morning" in note and " You\n" not in note
    assert not house.entries() and not list((house.root / "daily").glob("2*.md"))
    assert not list(waiting_conversations(house.workspace))
    totals = document(house.root, house.own, "metrics")
    assert totals["job_outcomes"] == {"finished": 1} and not totals["outcomes"]
    assert totals["events"]["job.completed"] == 1 and "task.completed" not in totals["events"]


def test_what_a_job_remembers_replaces_nothing_that_the_person_has_said(house: House) -> None:
    tell(house.root, house.own, "remember", "My favourite tea is green tea.")
    house.says(
        call("memory_save", text="My favourite tea is black tea."),
        call("memory_save", text="My favourite tea is green tea."),
        call("memory_save", text="My favourite tea is black tea."),
        "Done.",
    )
    assert not any("failed" in each for each in house.results(house.ask(job())))
    entries = house.entries()
    (said,) = [each for each in entries if "type: user_explicit" in each]
    assert "green tea" in said and "superseded_by" not in said and "contradicts" not in said
    assert all("source: model" in each for each in entries if each != said) and len(entries) == 3


def test_in_the_persons_own_session_only_the_persons_words_are_theirs(house: House) -> None:
    house.says(after="Noted.")
    first = house.ask(RunRequest("My cat is called Momo.", PERSON))
    house.ask(job(SAID), first.session)
    last = house.ask(RunRequest("My dog is called Rex.", PERSON), first.session)
    assert first.session == last.session
    kept = " ".join(house.entries())
    assert "Momo" in kept and "Rex" in kept
    assert "Lyon" not in kept and "nuts" not in kept and "Vera" not in kept
    day = next((house.root / "daily").glob("2*.md")).read_text("utf-8")
    assert "Momo" in day and "Lyon" not in day
    note = (house.root / first.session).read_text("utf-8")
    assert note.count(" You\n") == 2 and note.count("The job morning") == 1
    shown = last_exchanges(load_session(house.workspace.vault, first.session))
    assert [asked for asked, _ in shown] == ["My cat is called Momo.", "My dog is called Rex."]
    said = run_trace(house.workspace.vault, first.session, last.run).utterances
    assert [each.text for each in said] == ["My cat is called Momo.", "My dog is called Rex."]


def test_a_small_run_is_one_commit_with_what_it_writes(house: House) -> None:
    house.says("Nothing new.")
    before = head(house.root)
    ended = house.ask(job())
    assert git(house.root, "log", "--format=%s", f"{before}..").splitlines() == ["session: finished: look what is new"]
    (record,) = commits(house.workspace.vault, job="morning")
    assert (record.run, record.session) == (ended.run, ended.session)
    house.says(call("search_vault", query="tea"), call("vault_write", path="news.md", content="# News\n"), "Written.")
    before = head(house.root)
    house.ask(job("write what is new"))
    rows = git(house.root, "log", "--format=%s", f"{before}..").splitlines()
    assert rows == ["session: finished: write what is new"]
    assert git(house.root, "status", "--porcelain") == ""


def test_a_run_that_is_killed_has_left_its_session(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """The process is gone."""

    def dies(arguments: Json, context: RunContext) -> ToolOutput:
        raise Killed

    deadly = Tool("fall_down", "Fall.", {"type": "object"}, dies, frozenset({"search"}), timeout=0)
    monkeypatch.setattr("agent.runs.toolbox.skill_tools", lambda *_: (deadly,))
    house.says(call("vault_list"), call("fall_down"), "Never.")
    workspace = house.workspace
    with closing(open_index(workspace)) as index, pytest.raises(Killed):
        build_runs(workspace, index).ask(job())
    (note,) = (house.root / "sessions").rglob("2*.md")
    text = note.read_text("utf-8")
    assert "look what is new" in text and "tea.md" in text and "fall_down" in text


@pytest.mark.parametrize(
    ("key", "value", "spend", "told"),
    [
        ("SPEND__JOBS", "0.02", None, "spend.jobs "),
        ("SPEND__JOBS_TOKENS", "60000", None, "spend.jobs_tokens "),
        ("SPEND__JOBS", "5", 0.02, "the job itself"),
    ],
)
def test_a_runaway_job_stops_at_its_cap_and_the_persons_ask_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch, key: str, value: str, spend: float | None, told: str
) -> None:
    monkeypatch.setenv(f"VAULT_AGENT_{key}", value)
    monkeypatch.setenv("VAULT_AGENT_SPEND__DAILY", "1000")
    more = [call("vault_list", limit=number) for number in range(1, 45)]
    priced = {"name": "gpt-4.1-mini", "max_output": 1000}
    house.says(*more, model=priced, after="Here.")
    last = house.ask(job("everything again and again", spend=spend))
    assert last.outcome is RunOutcome.LIMIT or house.ask(job("more", spend=spend)).outcome is RunOutcome.LIMIT
    for _ in range(3):
        last = house.ask(job("and once more", spend=spend))
    assert last.outcome is RunOutcome.LIMIT and told in f"{last.hint} ", last
    with opened_runs(house.workspace) as runs:
        spent = runs.account.ledger.totals(runs.account.ledger.today(), job="morning")
    assert 0 < spent.money <= 0.02 + 1e-9 if told != "spend.jobs_tokens " else 0 < spent.tokens <= 60_000
    house.says(model=priced, after="Here.")
    assert house.ask(RunRequest("where is the tea?", PERSON)).outcome is RunOutcome.FINISHED
    if spend is not None:
        other = RunRequest("look", ALARM, job="evening", spend=spend)
        assert house.ask(other).outcome is RunOutcome.FINISHED, "each job has a purse of its own"
