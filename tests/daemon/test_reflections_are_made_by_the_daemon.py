"""The daemon reflects on runs of any process once their conversation is silent; not if growth is off."""

from pathlib import Path

import pytest

from agent.growth.lessons.reflection_notes import load_reflections
from agent.interfaces.cli.main import main
from tests.daemon.house import BRISK, hasten, living
from tests.growth.reflections.desk import JUDGES, failing, says
from tests.stories.agents import furnish, script


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    hasten(monkeypatch, "reflections", quiet=2.0)
    monkeypatch.setenv("VAULT_AGENT_REFLECTION__DEPTH", "all")
    monkeypatch.setenv("VAULT_AGENT_REFLECTION__HOUR", "23")
    return furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "s.json", says(JUDGES), *failing()))


def test_a_run_of_another_process_is_reflected_on(root: Path) -> None:
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "Read the note"]) == 0

        def on_runs() -> int:  # from 23:00 on the day is reviewed, too
            return sum(each.trigger == "task" for each in load_reflections(house.workspace.vault))

        house.until(lambda: on_runs() > 0, "a reflection stands in the note of the day", 90)
        house.for_a_while(4)
        assert on_runs() == 1, "it does not reflect on that"


def test_growth_that_is_off_reflects_on_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__ENABLED", "false")
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "Read the note"]) == 0
        house.for_a_while(6)
        assert load_reflections(house.workspace.vault) == () and not (root / "reflections").exists()


def test_a_model_that_always_fails_is_asked_three_times(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hasten(monkeypatch, "reflections", retry=1.0)
    said = script(root.parent / "s.json", {"when": JUDGES, "error": "permanent", "times": 0}, "Four.")
    assert said.exists()
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "When is tea?"]) == 0
        house.until(lambda: "is not reflected on" in caplog.text, "it is given up", 60)
        house.for_a_while(4)
        assert load_reflections(house.workspace.vault) == ()
        assert caplog.text.count("is not reflected on") == 1, "once and for all"
