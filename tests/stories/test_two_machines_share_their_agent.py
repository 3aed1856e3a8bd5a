"""What the agent of one machine knows of another one with the same vault: its note, its runs, its spend, its person."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.background.machine_contact import MachineContact
from agent.errors import UserError
from agent.events.runs import Speaker
from agent.llm.ledger import SpendTotals
from agent.llm.spend_elsewhere import parse_spend, spent_elsewhere
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.runs.decisions import approvals, arrived_decisions, open_questions, ready
from agent.runs.machines import known_machines, note_machine, other_machines
from agent.runs.service import RunService
from agent.runs.sessions_elsewhere import sessions_elsewhere
from agent.runs.status import SPEND
from agent.vault.provenance.remotes import Writers, plain_address
from agent.workspace.machine import this_machine
from agent.workspace.workspace import Workspace
from tests.daemon.pair import Pair, make_pair
from tests.fakes import FakeClock
from tests.stories.agents import call, document, script, settings, ticked
from tests.vaults import git, make_vault

ASKS_FIRST = [call("vault_write", path="AGENT.md", content="# Obey\n"), "Done."]


def a_pair(folder: Path, monkeypatch: pytest.MonkeyPatch, *replies: object) -> Pair:
    said = script(folder / "script.json", *(replies or ["Well done."]))
    for key, value in settings(folder, said).items():
        monkeypatch.setenv(key, value)
    return make_pair(folder, monkeypatch.setenv)


def workspace_of(pair: Pair, number: int, **more: str) -> Workspace:
    pair.as_machine(number, **more)
    return open_workspace(pair.roots[number])


@contextmanager
def runs_of(pair: Pair, number: int) -> Iterator[RunService]:
    with opened_runs(workspace_of(pair, number)) as runs:
        yield runs
        assert runs.capturing.settle()


def ask(pair: Pair, number: int, task: str = "Change your rules.") -> Ended:
    with runs_of(pair, number) as runs:
        return runs.ask(RunRequest(task, Speaker("cli")))


def tick(root: Path, path: str, box: str) -> None:
    note = root / path
    note.write_text(ticked(note.read_text("utf-8"), box), "utf-8")


def distrust(pair: Pair, number: int) -> None:
    answers = pair.machines[number].vault.provenance.answers
    answers.answer(plain_address(str(pair.remote)), Writers.OTHERS)


def test_each_machine_has_a_note_and_status_names_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = a_pair(tmp_path, monkeypatch)
    one = workspace_of(pair, 0)
    assert note_machine(one, has_daemon=True) and not note_machine(one, has_daemon=True)
    assert note_machine(one, has_daemon=False), "it runs something else now"
    pair.sync()
    other = workspace_of(pair, 1)
    (seen,) = other_machines(other.vault)
    assert (seen.name, seen.has_daemon, seen.last_seen) == ("anna", False, one.clock.now().date())
    assert other_machines(one.vault) == ()
    found = document(pair.roots[1], {**settings(tmp_path), "VAULT_AGENT_HOME": str(tmp_path / "bert")}, "status")
    assert [each["name"] for each in found["machines"]["others"]] == ["anna"]
    assert this_machine(workspace_of(pair, 1, MACHINE__NAME="anna")).name.startswith("anna-")
    assert note_machine(workspace_of(pair, 0, MACHINE__NAME="Büro 1"), has_daemon=False)
    assert [each.name for each in known_machines(one.vault)] == ["Büro-1"], "the note follows the name"


def test_a_machine_s_note_is_written_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = a_pair(tmp_path, monkeypatch)
    clock = FakeClock(start=datetime(2026, 11, 23, 1, 0, tzinfo=UTC))
    pair.as_machine(0)
    one = open_workspace(pair.roots[0], clock=clock)
    written = 0
    for _ in range(30):
        written += note_machine(one, has_daemon=True)
        clock.advance(3_600)
    assert written == 2
    assert git(pair.roots[0], "log", "--format=%s", "--", "machines").count("machine: anna") == 2


def test_a_vault_that_is_not_synced_has_no_note_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    workspace = open_workspace(make_vault(tmp_path, {"tea.md": "# Tea\n"}).place.root)
    assert not note_machine(workspace, has_daemon=True) and known_machines(workspace.vault) == ()


def test_a_run_on_another_machine_is_shown_and_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = a_pair(tmp_path, monkeypatch, *ASKS_FIRST)
    ended = ask(pair, 0)
    assert ended.outcome is RunOutcome.NEEDS_APPROVAL
    pair.sync()
    assert sessions_elsewhere(workspace_of(pair, 0)) == ()
    (found,) = sessions_elsewhere(workspace_of(pair, 1))
    assert (found.path, found.waits) == (ended.session, True)
    with runs_of(pair, 1) as runs, pytest.raises(UserError, match="goes on on another machine"):
        runs.resume(ended.session)
    pair.as_machine(1)
    late = FakeClock(start=datetime.now(UTC) + timedelta(hours=7))  # noqa: TID251 - the session's records are of now
    assert sessions_elsewhere(open_workspace(pair.roots[1], clock=late)) == ()


def test_a_yes_given_on_one_machine_releases_the_run_on_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = a_pair(tmp_path, monkeypatch, *ASKS_FIRST)
    ended = ask(pair, 0)
    pair.sync()
    tick(pair.roots[1], ended.waits_for, "approve")
    assert ready(workspace_of(pair, 1)) == (), "it is not this machine's run"
    pair.machines[1].synced()
    assert ready(workspace_of(pair, 0)) == ()
    pair.machines[0].synced()
    (mark,) = ready(workspace_of(pair, 0))
    assert mark.session == ended.session
    with runs_of(pair, 0) as runs:
        assert runs.resume(ended.session).outcome is RunOutcome.FINISHED
    assert (pair.roots[0] / "AGENT.md").read_text("utf-8") == "# Obey\n"


def test_a_yes_to_another_call_releases_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = a_pair(tmp_path, monkeypatch, *ASKS_FIRST)
    ended = ask(pair, 0)
    pair.sync()
    note = pair.roots[1] / ended.waits_for
    note.write_text(note.read_text("utf-8").replace("# Obey", "# Shout"), "utf-8")
    tick(pair.roots[1], ended.waits_for, "approve")
    pair.machines[1].synced()
    pair.machines[0].synced()
    found = approvals(workspace_of(pair, 0)).find(ended.waits_for)
    assert found is not None and found.status == "outdated"


def test_where_others_write_a_yes_has_to_be_given_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = a_pair(tmp_path, monkeypatch, *ASKS_FIRST)
    distrust(pair, 0)
    ended = ask(pair, 0)
    pair.sync()
    tick(pair.roots[1], ended.waits_for, "approve")
    pair.machines[1].synced()
    pair.machines[0].synced()
    one = workspace_of(pair, 0)
    assert ready(one) == () and arrived_decisions(one) == (ended.waits_for,)
    found = document(pair.roots[0], {**settings(tmp_path), "VAULT_AGENT_HOME": str(tmp_path / "anna")}, "status")
    assert found["machines"]["decided"] == [ended.waits_for]
    approvals(one).decide(ended.waits_for, True)
    assert len(ready(one)) == 1 and arrived_decisions(one) == ()


def test_where_others_write_a_yes_that_the_other_machine_has_signed_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = a_pair(tmp_path, monkeypatch, *ASKS_FIRST)
    distrust(pair, 0)
    key = pair.machines[1].vault.signing_key.turn_on()
    ended = ask(pair, 0)
    pair.sync()
    tick(pair.roots[1], ended.waits_for, "approve")
    pair.machines[1].synced()
    pair.machines[0].synced()
    one = workspace_of(pair, 0)
    assert ready(one) == () and arrived_decisions(one) == (ended.waits_for,)
    one.vault.provenance.add_key(key.fingerprint)
    assert len(ready(one)) == 1 and arrived_decisions(one) == ()


@pytest.mark.parametrize("is_mine", [True, False])
def test_a_question_may_be_answered_on_the_other_machine_if_only_the_person_writes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_mine: bool
) -> None:
    asks = [call("human_ask", question="Which tea?", options=["green", "black"]), "Done."]
    pair = a_pair(tmp_path, monkeypatch, *asks)
    if not is_mine:
        distrust(pair, 0)
    ended = ask(pair, 0)
    pair.sync()
    tick(pair.roots[1], ended.waits_for, "green")
    pair.machines[1].synced()
    pair.machines[0].synced()
    one = workspace_of(pair, 0)
    assert (len(ready(one)), len(open_questions(one))) == ((1, 0) if is_mine else (0, 1))
    assert arrived_decisions(one) == (() if is_mine else (ended.waits_for,))


def spent_on_others(workspace: Workspace) -> SpendTotals:
    """What is known of today's cost on the person's other machines."""
    day = workspace.clock.now().astimezone(UTC).date()
    return spent_elsewhere(workspace.directories.state / SPEND, day)


def test_the_limit_of_a_day_counts_what_the_other_machine_has_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = a_pair(tmp_path, monkeypatch)
    one, other = (MachineContact(workspace_of(pair, number)) for number in (0, 1))
    assert ask(pair, 0, "Which tea?").outcome is RunOutcome.FINISHED
    heads = git(pair.remote, "rev-parse", "main"), git(pair.roots[0], "rev-parse", "HEAD")
    for each in (one, other, one, other):
        each.share_spend()
    assert heads == (git(pair.remote, "rev-parse", "main"), git(pair.roots[0], "rev-parse", "HEAD")), "no commit"
    spent = spent_on_others(other.workspace)
    assert spent.calls > 0 and spent.tokens > 0
    assert spent_on_others(one.workspace).calls == 0, "its own is not counted twice"
    monkeypatch.setenv("VAULT_AGENT_SPEND__DAILY_TOKENS", str(spent.tokens + 100))
    ended = ask(pair, 1, "Which tea?")
    assert ended.outcome is RunOutcome.LIMIT and "daily_tokens" in ended.hint, ended


def test_a_stranger_cannot_use_the_day_s_limit_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = a_pair(tmp_path, monkeypatch)
    one, other = (MachineContact(workspace_of(pair, number)) for number in (0, 1))
    ask(pair, 0, "Which tea?")
    one.share_spend()
    distrust(pair, 1)
    other.share_spend()
    assert spent_on_others(other.workspace).calls == 0


@pytest.mark.parametrize("money", [-1.0, float("inf"), float("nan"), "x", None])
def test_a_number_that_is_none_is_not_counted(money: object) -> None:
    said = {"ledger": "x", "day": "2026-11-23", "calls": 1, "tokens": 2, "money": money}
    assert parse_spend(json.dumps(said)) is None
    assert parse_spend(json.dumps({**said, "money": 1.0})) is not None
