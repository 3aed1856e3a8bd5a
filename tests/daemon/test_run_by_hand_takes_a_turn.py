"""A note that a person has answered by a command is answered by no other machine, and the other way round."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from agent.app.open import open_workspace
from agent.background.inbox.turns import begin_turn
from agent.interfaces.cli.main import main
from agent.loop.session import sessions
from agent.workspace.machine import open_claims
from tests.daemon.pair import Pair, answers, are_quiet, make_pair, until
from tests.daemon.test_two_daemons_answer_once import QUICK
from tests.stories.agents import script
from tests.vaults import git, write

NOTE = "inbox/tea.md"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Two machines without a daemon, and a note on both that asks something."""
    said = script(tmp_path / "script.json", "Well done.")
    for key, value in {**QUICK, "VAULT_AGENT_LLM__SCRIPT": str(said)}.items():
        monkeypatch.setenv(key, value)
    found = make_pair(tmp_path, monkeypatch.setenv)
    found.arrive((), {NOTE: "Which tea?\n"})
    return found


def runs(pair: Pair, number: int, capsys: Captured, code: int = 0) -> str:
    """What `run` prints on one of the machines."""
    pair.as_machine(number)
    found = main(["--vault", str(pair.roots[number]), "run", NOTE])
    out, err = capsys.readouterr()
    assert found == code, (found, out, err)
    return out + err


def test_what_one_has_answered_the_other_one_sees_before_it_begins(pair: Pair, capsys: Captured) -> None:
    runs(pair, 0, capsys)
    assert pair.claims() == [] and answers(pair.roots[0], NOTE) == 1
    assert "nothing new is asked" in runs(pair, 1, capsys, code=2)
    assert answers(pair.roots[1], NOTE) == 1 and len(sessions(pair.machines[1].vault)) == 1
    assert pair.claims() == []


def test_while_another_machine_is_at_it_nothing_is_asked(pair: Pair, capsys: Captured) -> None:
    pair.as_machine(0)
    turn = begin_turn(open_claims(open_workspace(pair.roots[0])), pair.machines[0].vault, NOTE)
    assert "another machine is answering" in runs(pair, 1, capsys, code=75)
    assert answers(pair.roots[1], NOTE) == 0 and sessions(pair.machines[1].vault) == []
    turn.give_back()
    runs(pair, 1, capsys)
    assert answers(pair.roots[1], NOTE) == 1


def test_a_daemon_elsewhere_leaves_what_is_answered_by_hand(pair: Pair, capsys: Captured) -> None:
    runs(pair, 0, capsys)
    with pair.living(1) as (house,):
        write(house.root / NOTE, "Which tea?\n\n")
        until([house], lambda: are_quiet([house]), "it has looked")
    pair.sync()
    assert len(sessions(pair.machines[1].vault)) == 1


def test_a_remote_that_is_away_keeps_no_person_waiting(pair: Pair, capsys: Captured, tmp_path: Path) -> None:
    away = pair.remote.rename(tmp_path / "away.git")
    said = runs(pair, 0, capsys)
    assert "another machine may answer" in said and answers(pair.roots[0], NOTE) == 1
    away.rename(pair.remote)


def test_a_run_that_another_machine_has_taken_over_writes_nothing(pair: Pair, capsys: Captured, tmp_path: Path) -> None:
    script(tmp_path / "script.json", {"text": "Slowly.", "seconds": 2.0})
    with ThreadPoolExecutor(1) as beside:
        taken = beside.submit(take_over, pair)
        assert "another machine has taken it over" in runs(pair, 0, capsys)
        assert taken.result()
    assert answers(pair.roots[0], NOTE) == 0


def take_over(pair: Pair) -> bool:
    """Take the claim away once the run has begun."""
    pause = Event()
    for _ in range(600):
        if any((pair.roots[0] / "sessions").rglob("*.md")):
            return all(git(pair.remote, "update-ref", "-d", ref) == "" for ref in pair.claims())
        pause.wait(0.05)
    return False
