"""Processes that are killed at any moment: the trial goes on, and no use is counted twice."""

import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.skills.history.usage import load_uses, merge_opinions
from agent.skills.variants.variant import parse_label
from tests.growth.mutations.lab import WELL, Lab, lab
from tests.stories.agents import call, command, document, environment, script, settings

SIZES = [2, pytest.param(25, marks=pytest.mark.chaos)]


@pytest.mark.parametrize("kills", SIZES)
def test_the_trial_goes_on_and_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    made = lab(tmp_path, monkeypatch, WELL)
    made.propose()
    slow = {"task": "plan the week, with plan-week", "seconds": 0.4}
    said = script(tmp_path / "script.json", {**slow, **call("vault_read", path="AGENT.md")}, {**slow, "text": "Done."})
    own = settings(tmp_path, said)
    dice, clock = random.Random(kills), SystemClock()
    for _ in range(kills):
        asked = subprocess.Popen(
            command(made.root, "ask", "plan the week, with plan-week"),
            env=environment(own), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        clock.sleep(dice.uniform(0.5, 4.0))
        asked.kill()
        asked.wait()
    whole = [document(made.root, own, "ask", "plan the week, with plan-week") for _ in range(2)]
    assert [each["outcome"] for each in whole] == ["finished", "finished"]
    check(made, {each["run"] for each in whole}, kills + 2)


def check(made: Lab, whole: set[str], most: int) -> None:
    """Each run counts at most once, with one version; the trial goes on."""
    rows = [use for use in load_uses(made.workspace.vault, "plan-week") if parse_label(use.trial)]
    uses = list(merge_opinions(rows))
    assert max(Counter(use.run for use in uses).values()) == 1
    versions = Counter((use.run, use.trial) for use in rows)
    assert len({run for run, _ in versions}) == len(versions), "no run has taken both"
    assert whole <= {use.run for use in uses} and len(uses) <= most
    assert made.trial().status == "trial"
    assert made.skills.trials.trials()["plan-week"].variant is not None
