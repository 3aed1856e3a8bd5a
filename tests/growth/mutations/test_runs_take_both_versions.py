"""Which version of a skill a run takes while a variant is on trial: real runs of a model that speaks from a script."""

import json
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.events.runs import Speaker
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest, Tainted
from agent.loop.session import load_session
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.skills.history.usage import load_uses
from agent.texts import Sentence
from tests.growth.mutations.lab import BODY, FEWER, WELL, Lab, lab
from tests.stories.agents import call, given_texts

MARKS = {"best 5": "original", "best 3": "variant"}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"task": "plan the week", "text": "Done."}]}), "utf-8")
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "scripted")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(script))
    found = lab(tmp_path, monkeypatch, WELL)
    found.propose()
    return found


def ask(made: Lab, runs: RunService, session: str = "", task: str = "plan the week, with plan-week") -> Ended:
    made.clock.advance(60)
    return runs.ask(RunRequest(task, Speaker("cli")), session)


def arms(made: Lab) -> list[str]:
    """What the rows of the skill's history say of its trial, in their order."""
    return [use.trial for use in load_uses(made.workspace.vault, "plan-week")][len(WELL) :]


def given(made: Lab, ended: Ended) -> str:
    """Which version the model of a session was given."""
    texts = "\n".join(given_texts(made.workspace.vault, ended.session, "skills"))
    return ", ".join(arm for mark, arm in MARKS.items() if mark in texts)


def test_odd_uses_take_the_skill_and_even_ones_the_variant(made: Lab) -> None:
    found = []
    for _ in range(4):
        with opened_runs(made.workspace) as runs:
            found.append(ask(made, runs))
    assert [given(made, ended) for ended in found] == ["original", "variant", "original", "variant"]
    assert arms(made) == ["1 original", "1 variant", "1 original", "1 variant"]


def test_a_conversation_keeps_its_version(made: Lab) -> None:
    with opened_runs(made.workspace) as runs:
        first = ask(made, runs)
        runs.capturing.settle()
        ask(made, runs, first.session, "sort the shopping of Anna, with plan-week")
        runs.capturing.settle()
        other = ask(made, runs)
    assert arms(made) == ["1 original", "1 original", "1 original"], "the third is the third use, an odd one"
    assert given(made, first) == given(made, other) == "original"


def test_the_receipt_names_the_variants_note(made: Lab) -> None:
    with opened_runs(made.workspace) as runs:
        ask(made, runs)
        runs.capturing.settle()
        ended = ask(made, runs)
    note = made.text(ended.session)
    assert "skills/mutations/plan-week-1" in note
    receipt = next(each for each in ended.provided if each.path.startswith("skills/mutations/"))
    lines = made.text(receipt.path).split("\n")[receipt.lines[0] - 1 : receipt.lines[1]]
    assert "\n".join(lines) == FEWER


def test_a_run_that_read_text_by_others_judges_nothing(made: Lab) -> None:
    with opened_runs(made.workspace) as runs:
        first = ask(made, runs)
        runs.capturing.settle()
        session = load_session(made.workspace.vault, first.session)
        session.add(Tainted("a page of somebody"))
        session.save(Sentence("session: tainted"))
        ask(made, runs, first.session, "sort the shopping of Anna, with plan-week")
        runs.capturing.settle()
    assert arms(made) == ["1 original", ""]


def test_the_model_that_opens_the_skill_is_shown_its_version(made: Lab, tmp_path: Path) -> None:
    replies = [
        {"task": "something else", **call("skills", action="show", name="plan-week")},
        {"task": "something else", "text": "!"},
    ]
    (tmp_path / "script.json").write_text(json.dumps({"replies": replies}), "utf-8")
    for arm, words in (("1 original", "best 5"), ("1 variant", "best 3")):
        with opened_runs(made.workspace) as runs:
            ended = ask(made, runs, task="something else")
        assert words in made.text(ended.session)
        assert arms(made)[-1] == arm


def test_a_job_takes_the_skill_as_it_is_and_counts_for_nothing(made: Lab, tmp_path: Path) -> None:
    replies = [{"task": "look", **call("skills", action="show", name="plan-week")}, {"task": "look", "text": "Done."}]
    (tmp_path / "script.json").write_text(json.dumps({"replies": replies}), "utf-8")
    with opened_runs(made.workspace) as runs:
        runs.ask(RunRequest("look", Speaker("job"), job="nightly"))
    assert all(not each for each in arms(made))


def test_a_killed_run_goes_on_with_its_version_and_is_counted_once(made: Lab, tmp_path: Path) -> None:
    replies = [
        {"task": "plan the week", **call("vault_read", path="AGENT.md")},
        {"task": "plan the week", "text": "Done."},
    ]
    (tmp_path / "script.json").write_text(json.dumps({"replies": replies}), "utf-8")
    with opened_runs(made.workspace) as runs:
        ask(made, runs)
    asked = 0

    def stops() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with opened_runs(made.workspace) as runs:
        cut = runs.ask(RunRequest("plan the week, with plan-week", Speaker("cli")), line=RunIO(cancelled=stops))
    assert cut.outcome == "interrupted"
    assert arms(made)[0] == "1 original" and given(made, cut) == "variant"
    with opened_runs(made.workspace) as runs:
        done = runs.resume(cut.session)
    assert done.outcome == "finished"
    rows = [
        use for use in load_uses(made.workspace.vault, "plan-week") if use.run == cut.run and use.outcome == "finished"
    ]
    assert [use.trial for use in rows] == ["1 variant"]


def test_while_growth_is_off_every_use_takes_the_skill(made: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__ENABLED", "off")
    for _ in range(2):
        with opened_runs(made.workspace) as runs:
            assert given(made, ask(made, runs)) == "original"
    assert arms(made) == ["", ""]


def test_a_trial_ends_by_real_runs(made: Lab) -> None:
    """The process of a run ends a trial itself when no daemon does: the person's edit is noticed after the run."""
    skill = made.root / "skills/learned/plan-week/SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace(BODY, f"{BODY}\nMine."), "utf-8")
    with opened_runs(made.workspace) as runs:
        ask(made, runs)
    assert made.trial().status == "stopped"
