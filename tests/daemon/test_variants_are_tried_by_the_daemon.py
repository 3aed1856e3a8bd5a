"""The daemon proposes a variant of a skill after a run, and ends its trial when the person edits the skill."""

from pathlib import Path

import pytest

from agent.events.runs import Speaker, TaskCompleted
from tests.daemon.house import BRISK, hasten, living
from tests.growth.mutations.lab import SKILL, WELL, answer, lab
from tests.stories.agents import script
from tests.vaults import write

RUN = TaskCompleted("r", "sessions/a.md", "plan", Speaker("cli"), "finished", "Done.", (), 1.0, 1)
NOTE = "skills/mutations/plan-week-1.md"


def test_a_variant_is_tried_and_its_trial_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "script.json", answer())
    told = {**BRISK, "VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(said)}
    for key, value in told.items():
        monkeypatch.setenv(key, value)
    made = lab(tmp_path, monkeypatch, WELL)
    hasten(monkeypatch, "variants of skills", quiet=0.1)
    with living(made.root) as house:
        house.for_a_while(1)
        assert not (made.root / NOTE).exists(), "nobody has asked for anything"
        house.live.bus.publish(RUN)
        house.until((made.root / NOTE).exists, "a variant is on trial")
        skill = made.root / SKILL
        write(skill, skill.read_text("utf-8") + "\nAnd smile.\n")
        house.until(lambda: "status: stopped" in made.text(NOTE), "the trial is over")
        assert skill.read_text("utf-8").endswith("And smile.\n")
