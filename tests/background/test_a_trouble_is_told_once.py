"""Troubles are told once, through attention, in the language of the vault; what is over is taken back or quiet."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import get_args

import pytest

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.attention.receipt import NoticeReceipt
from agent.background.active_alerts import alert_help, alert_title, load_active_alerts
from agent.background.alerts import INTERVAL, PRIORITIES, Alerts
from agent.background.pool import Pool
from agent.background.routine import RoutineRunner
from agent.clock import SystemClock
from agent.events.bus import Bus
from agent.events.runs import NodeToolCalled, TaskStarted
from agent.events.types import FilesChanged, NoteEdited, Origin
from agent.interfaces.cli.main import main
from agent.metrics.alerts import Alert, AlertRule, load_recent
from agent.metrics.collect import Collector
from agent.runs.job_upkeep import job_shelf
from agent.schedule.history import HistoryRow, history_path, with_rows
from agent.texts import LANGUAGES
from agent.workspace.workspace import Workspace
from tests.attention.test_the_daemon_brings_notices import town as town
from tests.fakes import FakeClock
from tests.jobs.town import Town, job
from tests.metrics.test_figures_add_up import STARTED
from tests.metrics.test_what_the_agent_does_by_itself_is_counted import with_node
from tests.stories.agents import furnish
from tests.tools.node_fake import fake_node
from tests.vaults import write

NOON = {"VAULT_AGENT_ATTENTION__QUIET": "", "VAULT_AGENT_ATTENTION__INTERVAL_MINUTES": "0"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in NOON.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv)


@contextmanager
def looking(workspace: Workspace) -> Iterator[Alerts]:
    """The alerts of a daemon that has only these."""
    yield Alerts(workspace, Collector(workspace.metrics, workspace.clock), lambda: open_outbox(workspace), lambda: None)


@contextmanager
def at_work(alerts: Alerts) -> Iterator[RoutineRunner]:
    """The alerts as the daemon looks for them."""
    with closing(Pool(alerts.workspace.clock)) as pool:
        yield RoutineRunner(alerts.routine(), pool, alerts.workspace.clock)


def notices(workspace: Workspace) -> list[NoticeReceipt]:
    return list(open_outbox(workspace).ledger.all())


def fail(workspace: Workspace, root: Path, days: int, outcome: str = "failed") -> None:
    """Give the job "brief" a history."""
    write(root / "jobs/brief.md", job())
    found, now = job_shelf(workspace).load().find("brief"), workspace.clock.now().replace(microsecond=0)
    rows = [HistoryRow(now.replace(day=1 + day), "failed", reason="no such host") for day in range(days)]
    if outcome != "failed":
        rows.append(HistoryRow(now.replace(day=20), "done"))
    path = history_path(workspace.vault.home, "brief")
    write(root / path, with_rows(None, found, rows, "en").decode())


def edited(path: str, now: float) -> FilesChanged[object]:
    return FilesChanged((NoteEdited(path, "a", "b", Origin.OWN),), now)


def test_a_job_that_fails_is_told_once_and_when_it_works_again_nothing_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_JOBS__MAX_CONSECUTIVE_FAILURES", "10")
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    fail(workspace, root, 3)
    with looking(workspace) as alerts:
        for _ in range(3):
            (standing,) = alerts.look()
            clock.advance(3 * 86_400)
        (told,) = notices(workspace)
        assert told.raised.title == "The job brief has failed 3 times in a row"
        assert "vault-agent jobs history brief" in told.raised.lines[0]
        assert standing.notice == told.id and standing.since == told.at
        fail(workspace, root, 3, "done")
        alerts.changed(edited("jobs/history/brief.md", clock.monotonic()))  # type: ignore[arg-type]
        assert alerts.look() == () and load_active_alerts(workspace.vault) == ()
    assert len(notices(workspace)) == 1


def test_a_job_that_is_stopped_by_its_failures_is_told_by_that_word_alone(root: Path) -> None:
    workspace = open_workspace(root, clock=FakeClock())
    fail(workspace, root, 3)
    with looking(workspace) as alerts:
        assert alerts.look() == ()


def test_what_is_over_before_it_was_shown_is_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__QUIET", "0-24")
    monkeypatch.setenv("VAULT_AGENT_JOBS__MAX_CONSECUTIVE_FAILURES", "10")
    workspace = open_workspace(root, clock=FakeClock())
    fail(workspace, root, 4)
    with looking(workspace) as alerts:
        alerts.look()
        assert notices(workspace)[0].decision.decided == "held"
        fail(workspace, root, 4, "done")
        alerts.changed(edited("jobs/history/brief.md", 0.0))  # type: ignore[arg-type]
        alerts.look()
        (taken,) = notices(workspace)
        assert (taken.decision.decided, taken.decision.rule) == ("dropped", "over")
        fail(workspace, root, 5)
        alerts.changed(edited("jobs/history/brief.md", 0.0))  # type: ignore[arg-type]
        alerts.look()
    assert [each.decision.decided for each in notices(workspace)] == ["dropped", "held"], "it is a trouble again"


def test_a_new_daemon_does_not_tell_it_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_JOBS__MAX_CONSECUTIVE_FAILURES", "10")
    clock = FakeClock()
    for _ in range(3):
        workspace = open_workspace(root, clock=clock)
        fail(workspace, root, 4)
        with looking(workspace) as alerts:
            assert len(alerts.look()) == 1
        clock.advance(2 * 86_400)
    assert len(notices(workspace)) == 1


def test_a_handler_that_fails_again_and_again_is_told(root: Path) -> None:
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    bus = Bus(clock)

    def bad(event: TaskStarted) -> None:
        raise RuntimeError("no")

    bus.subscribe(bad, TaskStarted, name="skills", timeout=None)
    with looking(workspace) as alerts, at_work(alerts) as runner:
        alerts.metrics = Collector(workspace.metrics, clock, bus.counts)
        for _ in range(11):
            bus.publish(STARTED)
        runner.turn(clock.monotonic())
        wait(runner)
        (told,) = notices(workspace)
        assert told.raised.title == "A part of the program fails again and again: skills (11 times in a minute)"
        clock.advance(11 * 60)
        runner.turn(clock.monotonic())
        wait(runner)
        assert load_active_alerts(workspace.vault) == ()
    bus.close()


def wait(runner: RoutineRunner) -> None:
    """Until the pool has done its work."""
    clock = SystemClock()
    deadline = clock.monotonic() + 60
    while runner.pool.has("alerts"):
        assert clock.monotonic() < deadline
        clock.sleep(0.01)


def test_a_vault_without_troubles_costs_no_work(root: Path) -> None:
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with looking(workspace) as alerts, at_work(alerts) as runner:
        runner.turn(clock.monotonic())
        wait(runner)
        clock.advance(INTERVAL)
        runner.turn(clock.monotonic())
        assert not runner.pool.has("alerts")
    assert load_recent(workspace.metrics) == () and not load_active_alerts(workspace.vault)


def test_a_node_host_that_is_away_and_a_permission_that_is_denied(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    with fake_node(permissions={"microphone": "denied"}) as node:
        workspace = with_node(root, monkeypatch, node.url, clock)
        with looking(workspace) as alerts:
            assert alerts.look() == (), "it is denied, and nothing needed it"
            alerts.metrics.hear(NodeToolCalled("r", "audio_record", "denied", 0.1, "microphone"))
            assert [each.alert.rule for each in alerts.look()] == ["node_permission"]
            node.permissions = {"microphone": "granted"}
            clock.advance(60)
            assert alerts.look() == ()
            node.go()
            for minute in range(8):
                clock.advance(60)
                assert bool(alerts.look()) == (minute > 5)
            node.come()
            clock.advance(60)
            assert alerts.look() == ()
    assert [each.raised.type for each in notices(workspace)] == ["node_permission", "node_away"]
    assert "vault-agent node" in notices(workspace)[1].raised.lines[0]


@pytest.mark.parametrize("damage", ["", "{", '[{"rule": "x"}]', "[3]"])
def test_damaged_alerts_are_as_good_as_none(root: Path, damage: str) -> None:
    workspace = open_workspace(root)
    workspace.vault.records.rows("INSERT INTO record VALUES ('standing-alerts', '', ?)", damage)
    assert load_active_alerts(workspace.vault) == ()


@pytest.mark.parametrize("rule", get_args(AlertRule))
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_says_what_is_wrong_and_what_to_do(rule: AlertRule, language: str) -> None:
    alert = Alert(rule, "[[x]] <script>", 4, 2)
    said = alert_title(alert, language), alert_help(alert, language)
    assert "`vault-agent " in said[1] and "\n" not in "".join(said)
    assert "<script" not in "".join(said)
    assert set(PRIORITIES) == set(get_args(AlertRule))


def test_the_daemon_tells_of_a_job_that_fails(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_JOBS__MAX_CONSECUTIVE_FAILURES", "10")
    fail(town.workspace, town.root, 3)
    with town.daemon() as house:
        house.until(lambda: "The job brief has failed 3 times in a row" in town.daily(), "it is told", 60)
    assert main(["--vault", str(town.root), "notices", "list"]) == 0
