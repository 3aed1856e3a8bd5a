"""The measured gate: past tasks are done again without and with a change, and nothing of the person's is touched."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.replays import gate_context
from agent.errors import Interrupted
from agent.events.runs import Speaker
from agent.growth.gate.change import ChangedNote, GateReport, ProposedChange
from agent.growth.gate.measure import GateContext, measure_change
from agent.growth.gate.past_tasks import PastTask, held_out_tasks
from agent.growth.gate.recorded_tools import NotMeasurable, RecordedResults
from agent.growth.gate.replay import ACCOUNT, share_kept
from agent.index.embedder import EmbedderChoice
from agent.llm.messages import Assistant, Reply, Request, ToolCall, ToolResult, Usage
from agent.llm.provider import Cancelled, Model, OnText, ignore, never
from agent.llm.script import MODEL
from agent.loop.agent import Models
from agent.loop.records import Tainted
from agent.loop.request import RunRequest
from agent.loop.session import load_session, sessions
from agent.tools.tool import RunContext
from tests.growth.work import NOW, Office, office
from tests.stories.agents import call
from tests.vaults import git

LEARNED = "skills/learned/plan-week/SKILL.md"
ANSWER = "The plan says: buy tea, call Ida, and water the garden on Friday."
TEA = {"task": "plan the week", "text": ANSWER}
NOTES = {
    "plan.md": "# Plan\n\n- buy tea\n",
    LEARNED: "---\nname: plan-week\ndescription: Plans a week.\ntriggers:\n  intent_patterns: [plan the week]\n---\n"
    "1. `vault_read` plan.md\n2. Say what is in it.\n",
}
READ = {"task": "plan the week", **call("vault_read", path="plan.md")}
GOOD, BAD = "Say it kindly.", "Say nothing of it."
"""What a changed skill says."""


def ask(made: Office, *tasks: str) -> None:
    """The person's runs, each in a conversation of its own."""
    for task in tasks:
        with opened_runs(made.workspace) as runs:
            runs.ask(RunRequest(task, Speaker("cli")))


def changed(body: str, **more: object) -> ProposedChange:
    text = NOTES[LEARNED].rpartition("---\n")[0] + f"---\n{body}\n"
    return replace(ProposedChange("plan-week", (ChangedNote(LEARNED, text),)), **more)  # type: ignore[arg-type]


@dataclass
class Obedient:
    """A model that reads the plan, then says what it found, unless its skill forbids it. Counts its calls."""

    asked: int = 0
    model: Model = MODEL

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.asked += 1
        has_read = any(isinstance(each, ToolResult) for each in request.messages)
        is_silent = any(BAD in each.text for each in request.messages)
        asks = (ToolCall("c1", "vault_read", {"path": "plan.md"}),)
        said = Assistant("Nothing." if is_silent else ANSWER) if has_read else Assistant("", asks)
        return Reply(said, Usage(10, 10), "end" if has_read else "tools", "obedient")


def obeying(context: GateContext, model: Obedient) -> GateContext:
    account = replace(context.account, of_run=lambda run, job, spend=None: Models(model, model))
    return replace(context, account=account)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    found = office(tmp_path, monkeypatch, NOTES, READ, TEA)
    with opened_runs(found.workspace) as runs:
        skills = runs.following.skills
        (skill,) = [each for each in skills.library.snapshot().skills if each.name == "plan-week"]
        skills.review(skill, "test")
    ask(found, "Please plan the week")
    found.clock.advance(60)
    ask(found, "Again, plan the week!")
    return found


def context(made: Office) -> GateContext:
    return gate_context(made.workspace, lambda: EmbedderChoice(None))


def state(made: Office) -> tuple[str, str, str]:
    root = made.root
    return git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"), git(root, "worktree", "list")


def test_a_harmless_change_is_not_below(made: Office) -> None:
    before = state(made)
    report = measure_change(context(made), changed(GOOD))
    assert (report.verdict, report.before, report.after, report.tasks) == ("not_below", 1.0, 1.0, 2)
    assert "came out well" in report.text and "It cannot show" in report.text
    assert state(made) == before, "nothing of the person's is touched"
    assert not list(made.workspace.cache.glob("replays/*")), "the scratch vaults are gone"


def test_the_change_is_in_the_replay_and_the_person_s_skill_in_the_other(made: Office) -> None:
    seen: list[str] = []
    real = context(made)

    def watched(scratch: object) -> object:
        inner = real.open_replays(scratch)  # type: ignore[arg-type]
        seen.append((scratch.vault.place.root / LEARNED).read_text())  # type: ignore[attr-defined]
        return inner

    measure_change(replace(real, open_replays=watched), changed(BAD))  # type: ignore[arg-type]
    assert [BAD in each for each in seen] == [False, True, False, True]
    assert {"plan.md" in each for each in seen if BAD not in each} == {True}


def test_the_same_measurement_says_the_same_twice(made: Office) -> None:
    assert measure_change(context(made), changed(GOOD)) == measure_change(context(made), changed(GOOD))


def test_runs_that_the_change_came_from_are_no_tasks(made: Office) -> None:
    (newest, oldest) = held_out_tasks(made.workspace.vault, changed(GOOD), 9)
    assert [newest.task, oldest.task] == ["Again, plan the week!", "Please plan the week"]
    report = measure_change(context(made), changed(GOOD, derived_from=frozenset({newest.run})))
    assert report.tasks == 1
    none = measure_change(context(made), changed(GOOD, fits=lambda task: "garden" in task))
    assert (none.verdict, none.before) == ("not_measurable", None)


def test_a_call_that_was_never_recorded_is_not_measurable(made: Office, tmp_path: Path) -> None:
    script = [{"task": "plan the week", **call("vault_read", path="other.md")}, TEA]
    (tmp_path / "script.json").write_text(json.dumps({"replies": script}), "utf-8")
    report = measure_change(context(made), changed(GOOD))
    assert (report.verdict, report.tasks) == ("not_measurable", 0)
    assert "none could be measured" in report.text


def test_a_change_that_spoils_the_answer_is_below(made: Office) -> None:
    report = measure_change(obeying(context(made), Obedient()), changed(BAD))
    assert (report.verdict, report.before, report.after, report.tasks) == ("below", 1.0, 0.0, 2)
    assert "only 0 with it" in report.text
    assert measure_change(obeying(context(made), Obedient()), changed(GOOD)).verdict == "not_below"


def test_a_rule_is_measured_as_runs_are_given_it(made: Office) -> None:
    rule = ChangedNote("rules/silent.md", f"---\ntype: rule\n---\n# A rule\n\n{BAD}\n")
    report = measure_change(obeying(context(made), Obedient()), ProposedChange("silent", (rule,)))
    assert (report.verdict, report.before, report.after) == ("below", 1.0, 0.0)


def test_no_more_tasks_are_done_again_than_the_settings_say(made: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__GATE__TASKS", "1")
    model = Obedient()
    assert measure_change(obeying(context(made), model), changed(GOOD)).tasks == 1
    assert model.asked == 4, "two answers without the change, and two with it"
    monkeypatch.setenv("VAULT_AGENT_GROWTH__GATE__TASKS", "0")
    assert "growth.gate.tasks" in measure_change(obeying(context(made), model), changed(GOOD)).text
    assert model.asked == 4


def test_what_it_costs_is_on_an_account_of_its_own(made: Office) -> None:
    gate = context(made)
    today = gate.account.ledger.today()
    assert gate.account.ledger.totals(today, job=ACCOUNT).calls == 0
    measure_change(gate, changed(GOOD))
    assert gate.account.ledger.totals(today, job=ACCOUNT).calls == 8


def test_a_stop_ends_it(made: Office) -> None:
    with pytest.raises(Interrupted):
        measure_change(replace(context(made), cancelled=lambda: True), changed(GOOD))


def test_what_a_stranger_wrote_measures_nothing(made: Office) -> None:
    (path,) = [path for path in sessions(made.workspace.vault) if "Again" in path]
    session = load_session(made.workspace.vault, path)
    session.add(Tainted("a page of somebody's"))
    session.save("tainted")
    (task,) = held_out_tasks(made.workspace.vault, changed(GOOD), 9)
    assert task.task == "Please plan the week"


def test_an_effect_that_is_not_asked_for_again_is_no_good_end(made: Office) -> None:
    (task, _) = held_out_tasks(made.workspace.vault, changed(GOOD), 9)
    done = replace(
        task, calls=((ToolCall("c", "vault_write", {"path": "x.md"}), ToolResult("c", "vault_write", "ok")),)
    )
    recorded = RecordedResults(done)
    assert not recorded.is_all_done({"vault_read"})
    (tool,) = recorded.tools(())
    assert tool.perform({"path": "x.md"}, RunContext("r", "s")).text == "ok"
    assert recorded.is_all_done({"vault_read"})
    with pytest.raises(NotMeasurable):
        tool.perform({"path": "y.md"}, RunContext("r", "s"))


def test_equal_calls_get_their_results_in_turn() -> None:
    calls = [ToolCall(f"c{number}", "vault_read", {"path": "a.md"}) for number in range(2)]
    results = tuple((each, ToolResult(each.id, each.name, f"reading {each.id}")) for each in calls)
    task = PastTask("r", "s", NOW, "t", results, "", "")
    (tool,) = RecordedResults(task).tools(())
    assert [tool.perform({"path": "a.md"}, RunContext("r", "s")).text for _ in range(3)] == [
        "reading c0",
        "reading c1",
        "reading c1",
    ]


@pytest.mark.parametrize(
    ("now", "least", "most"),
    [
        (ANSWER, 1.0, 1.0),
        ("Buy tea and water the garden on Friday; call Ida.", 0.6, 1.0),
        ("I found nothing.", 0.0, 0.2),
    ],
)
def test_an_answer_in_other_words_is_as_good(now: str, least: float, most: float) -> None:
    assert least <= share_kept(ANSWER, now) <= most


def test_a_chinese_answer_is_compared_by_its_words() -> None:
    assert share_kept("周五给花园浇水，买茶", "买茶，然后周五给花园浇水。") >= 0.5
    assert share_kept("周五给花园浇水，买茶", "没有找到任何东西") < 0.2


def test_without_a_model_nothing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, NOTES)
    report = measure_change(context(made), changed(GOOD))
    assert report == GateReport("not_measurable", None, None, 0, report.text)
    assert "without a model" in report.text
