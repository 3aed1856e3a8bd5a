"""Promise 7: a runaway script costs at most the cap and one call; the same failing call is made three times at most."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ToolFailed
from agent.llm.messages import Cancelled, JsonObject, OnText, Reply, Request, ignore, never
from agent.tools.tool import RunContext, Tool, ToolOutput
from tests.loop.stage import Stage
from tests.trust.forks import forking
from tests.trust.plants import plant
from tests.trust.runaway import PLENTY, Runaway, Scenario, check, metered, run, scenarios, used


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.chaos)])
def test_no_runaway_passes_its_ceiling_by_more_than_a_call(tmp_path: Path, count: int) -> None:
    tried = scenarios(count, "runaways")
    with forking("tests.trust.runaway") as forks:
        for scenario in tried:
            folder = tmp_path / str(scenario.seed)
            run(forks, folder, scenario)
            check(folder, scenario)
    assert {scenario.ceiling for scenario in tried} == {"run", "daily", "run_tokens", "daily_tokens", "calls_per_run"}
    assert any(scenario.exceeds for scenario in tried) and any(any(scenario.deaths) for scenario in tried)


class Rambling(Runaway):
    """Asks for the same failing things again and again."""

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        reply = super().chat(request, on_text, cancelled)
        number = self.chance.randint(0, 3)
        calls = tuple(replace(call, name="web_boom", arguments={"n": number}) for call in reply.message.calls)
        return replace(reply, message=replace(reply.message, calls=calls))


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.chaos)])
def test_the_same_failing_call_is_made_three_times_at_most(tmp_path: Path, count: int) -> None:
    for seed in range(count):
        made, ended = ramble(tmp_path / str(seed), seed)
        assert made and ended == "limit", (made, ended)
        assert max(made.values()) <= 3, f"made {max(made.values())} times"


def test_forgotten_failures_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("failures are forgotten", monkeypatch.setattr)
    made, _ = ramble(tmp_path / "planted", 0)
    assert max(made.values()) > 3


@pytest.mark.parametrize("bug", ["a reservation is not written", "the ledger is not locked"])
def test_spending_without_reserving_is_caught(tmp_path: Path, bug: str) -> None:
    """There is room for one call, and several processes want it at the same time."""
    caught = False
    with forking("tests.trust.runaway") as forks:
        for seed in range(24):  # whether two want it at the same time is up to chance
            if caught:
                break
            scenario = Scenario(seed, "run_tokens", 800, 2, (0, 0, 0), exceeds=False)
            run(forks, tmp_path / str(seed), scenario, bug)
            try:
                check(tmp_path / str(seed), scenario)
            except AssertionError:
                caught = True
    assert caught


def ramble(folder: Path, seed: int) -> tuple[Counter[str], str]:
    """How often each failing call was made in a run, by the tool's own count, and how the run ended."""
    folder.mkdir()
    made: Counter[str] = Counter()

    def boom(arguments: JsonObject, context: RunContext) -> ToolOutput:
        made[str(arguments)] += 1
        raise ToolFailed(f"no answer after {made.total()} s")

    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = Tool("web_boom", "for tests", schema, boom, frozenset({"web"}), readonly=True)
    model = Rambling(folder / "book", random.Random(f"same {seed}"), fails=0.0)
    ended = Stage(folder, metered(folder, replace(PLENTY, calls_per_run=40), model), more=(tool,)).ask("do it")
    assert len(used(folder / "book")) <= 40
    return made, ended.outcome
