"""`status` says in a line what happened today, and nothing of a day on which nothing did."""

import json
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.events.runs import ContextRefreshed, MemoryCaptured, MemoryRecalled, Speaker, TaskCompleted, ToolCallFailed
from agent.interfaces.cli.main import main
from agent.llm.ledger import LedgerEntry, SpendScope
from agent.llm.messages import Usage
from agent.metrics.collect import Collector
from agent.runs.status import growth_account, ledger_of
from agent.workspace.workspace import daemon_lock
from tests.interfaces.cli.conftest import Run
from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import document, script, settings
from tests.vaults import write


def _hear(root: Path, *events: object) -> Path:
    workspace = open_workspace(root)
    collector = Collector(workspace.metrics, workspace.clock)
    for event in events:
        collector.hear(event)
    collector.save()
    return workspace.metrics


def _ended(outcome: str = "finished") -> TaskCompleted:
    return TaskCompleted("r", "s", "tea?", Speaker("cli"), outcome, "70 degrees", (), 2.5, 1)


def test_a_day_is_told_in_a_line_and_what_failed_in_another(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    _hear(
        root,
        MemoryRecalled("r", "s", 2, "hybrid", "", 0.01),
        ContextRefreshed("r", "s", 4, 1),
        _ended(),
        MemoryCaptured("r", "s", 1),
        MemoryCaptured("r", "s", 0, problem="LockHeld: busy"),
    )
    assert run("status")["events"] == {
        "proactive.memory.recalled": 1,
        "proactive.context.refresh": 1,
        "task.completed": 1,
        "proactive.memory.captured": 2,
    }
    assert main(["status"]) == 0
    told = capsys.readouterr().out
    assert "today    1 run, 1 recall, 2 captures, 1 refresh\n           failed: 1 capture;" in told
    _hear(root, ToolCallFailed("r", "s", "1", "web_fetch", 0.1, "no"), _ended("failed"))
    assert main(["status"]) == 0
    assert "failed: 1 run, 1 tool call, 1 capture;" in capsys.readouterr().out


def test_of_a_quiet_day_nothing_is_said(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    folder = open_workspace(root).metrics
    write(folder / "2020-01-01.json", '{"events": {"task.completed": 9}}')
    assert run("status")["events"] == {}
    assert main(["status"]) == 0
    assert "today  " not in capsys.readouterr().out


@pytest.mark.parametrize("damage", [b"", b"[", b'{"events": {"task.completed": "many"}}', b"\xff\xfe"])
def test_counts_that_cannot_be_read_are_said_and_stop_nothing(
    root: Path, run: Run, damage: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _hear(root, _ended())
    (file,) = folder.glob("*.json")
    file.write_bytes(damage)
    found = run("status")
    assert found["events"] == {} and found["warnings"] == ["some of today's counts cannot be read and are left out"]
    assert main(["status"]) == 0
    assert "counts cannot be read" in capsys.readouterr().err
    assert main(["metrics"]) == 0
    assert "1 day file could not be read" in capsys.readouterr().out


def test_a_file_in_the_place_of_the_counts_stops_nothing(root: Path, run: Run) -> None:
    write(open_workspace(root).metrics, "in the way")
    assert run("status")["events"] == {}


def test_what_a_real_run_has_done_is_counted_the_moment_it_is_over(tmp_path: Path, root: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "script.json", "Noted."))
    document(root, own, "ask", "The boat is blue.")
    counted = document(root, own, "status")["events"]
    assert counted["task.completed"] == 1
    assert counted["proactive.memory.recalled"] == 1
    assert counted["proactive.memory.captured"] == 1, "what comes after the run's end was not written down"


def test_a_long_line_is_cut_after_words_on_a_terminal_and_whole_in_a_pipe(
    tmp_path: Path, root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = open_workspace(root)
    why = "the disk is full, and what has changed in the notes cannot be taken in"
    with daemon_lock(workspace):
        workspace.daemon_state.write_text(json.dumps({"pid": 1, "files": 2, "problem": why}))
        assert main(["status"]) == 0
        assert f"problem  {why}\n" in capsys.readouterr().out
        with terminal(root, settings(tmp_path), "status", columns=50) as screen:
            assert screen.ends() == 0
            lines = screen.lines
    at = lines.index("problem  the disk is full, and what has changed in")
    assert lines[at + 1] == "         the notes cannot be taken in"


def document_of(run: Run) -> dict[str, object]:
    agent = run("status")["agent"]
    assert isinstance(agent, dict)
    return agent


def spent_on_growth(run: Run) -> object:
    return document_of(run)["growth"]


def test_the_cost_of_growth_is_told_and_counts_with_the_jobs(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spent_on_growth(run) == {"calls": 0, "tokens": 0, "money": 0}
    ledger = ledger_of(open_workspace(root))
    accounts = (growth_account("reflections"), growth_account("research"), "digest", "")
    for number, job in enumerate(accounts):
        entry = LedgerEntry(str(number), SpendScope("r", job), "m", Usage(100, 20), 0.001, open=False)
        with ledger.exclusive() as page:
            page.write(ledger.today(), entry)
    assert spent_on_growth(run) == {"calls": 2, "tokens": 240, "money": 0.002}
    assert ledger.totals_of_jobs(ledger.today()).calls == 3, "the limit of all jobs holds for growth too"
    assert main(["status"]) == 0
    shown = "growth   today $0.0020 in 2 calls of a model, 240 tokens: reflections $0.0010 (1), research $0.0010 (1)\n"
    assert shown in capsys.readouterr().out
    parts = document_of(run)["growth_parts"]
    assert parts == {name: {"calls": 1, "tokens": 120, "money": 0.001} for name in ("reflections", "research")}
