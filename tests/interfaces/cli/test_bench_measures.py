"""The benchmarks run and report; what they find depends on the machine, so no figure is checked here."""

import json

import pytest

from agent.interfaces.cli.benches.figures import Figure, paired
from agent.interfaces.cli.main import main


@pytest.mark.parametrize("name", ["commit", "start"])
def test_it_builds_its_own_vault_and_reports_figures(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "bench", name, "--notes", "30", "--rounds", "2"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == 30
    assert all(figure["median_ms"] > 0 and figure["runs"] == 2 for figure in document["figures"])


def test_tasks_are_run_in_turn() -> None:
    calls: list[str] = []
    paired(2, [("a", lambda _: calls.append("a")), ("b", lambda _: calls.append("b"))], warm=1)
    assert calls == ["a", "b"] * 3


def test_a_figure_knows_its_middle_and_its_tail() -> None:
    figure = Figure("x", tuple(float(n) for n in range(1, 101)))
    assert (figure.median, figure.p95) == (50.5, 96.0)
