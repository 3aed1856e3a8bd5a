"""Profiles, the node host, jobs, notices, patterns and help that nobody asked for: each has its figure."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.app.agent import counting
from agent.app.figures import all_figures, present_figures
from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.attention.notice_counts import counts_by_day
from agent.events.growth import PatternDetected
from agent.events.notices import NoticeRaised, NotificationSent, NotificationSuppressed
from agent.events.runs import NodeToolCalled, ProfileSelected
from agent.events.types import JobEnded
from agent.growth.patterns.pattern_notes import INSIGHTS, pattern_opinions
from agent.metrics.collect import Collector
from agent.metrics.families import FAMILIES, MetricFamily, MetricInput, PresentFigures
from agent.metrics.figures import MetricFigure
from agent.metrics.totals import load_days, load_totals
from agent.runs.job_upkeep import job_shelf
from agent.runs.node_host import node_state
from agent.schedule.history import HistoryRow, history_path, with_rows
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.jobs.town import job
from tests.metrics.test_figures_add_up import ENDED
from tests.tools.node_fake import TOKEN, fake_node
from tests.vaults import write

PLANNED = (
    "tool_policy_denied_total", "tool_policy_profile_selected_total", "event_bus_publish_total",
    "event_bus_handler_error_total", "event_bus_handler_latency_seconds", "memory_flush_saved_total",
    "memory_flush_skipped_dedup_total", "memory_daily_summary_generated_total", "memory_longterm_facts_count",
    "scheduler_job_run_total", "scheduler_job_consec_failures", "nodehost_connection_status",
    "nodehost_tool_call_total", "nodehost_tool_latency_seconds", "nodehost_permission_status",
)  # fmt: skip
"""The plan's figures."""
NOTHING = PresentFigures()


def family(name: str) -> MetricFamily:
    return next(each for each in FAMILIES if each.name == name)


def samples(name: str, folder: Path, present: PresentFigures = NOTHING) -> dict[tuple[str, ...], float]:
    """The samples of a metric without a special end, by the values of their labels."""
    found = family(name).samples(MetricInput(load_totals(folder), present))
    return {tuple(labels.values()): value for end, labels, value in found if not end}


def shown(workspace: Workspace) -> dict[str, MetricFigure]:
    totals = load_totals(workspace.metrics)
    return {each.name.strip(): each for each in all_figures(workspace, totals, present_figures(workspace))}


def test_every_figure_of_the_plan_has_a_metric_and_each_metric_one_name() -> None:
    names = [each.name for each in FAMILIES]
    assert set(PLANNED) <= set(names) and len(set(names)) == len(names)
    assert all((each.kind == "counter") == each.name.endswith("_total") for each in FAMILIES)


def test_each_sample_has_the_labels_that_the_table_says(tmp_path: Path) -> None:
    collector = Collector(tmp_path, FakeClock())
    for event in (ProfileSelected("r", "s", "lark"), NodeToolCalled("r", "clipboard", "ok", 0.2), ENDED):
        collector.hear(event)
    present = PresentFigures(3, {"brief": 2}, True, {"microphone": "denied"}, {"node_away": 1}, 1, 0, 0.5, 5.0)
    given = MetricInput(load_totals(tmp_path), present)
    for each in FAMILIES:
        for _, labels, _ in each.samples(given):
            assert set(labels) <= set(each.labels), each.name


def test_what_is_not_known_has_no_sample(tmp_path: Path) -> None:
    given = MetricInput(load_totals(tmp_path), PresentFigures())
    assert [each.name for each in FAMILIES if list(each.samples(given))] == []


def test_calls_of_the_node_host_are_counted_by_tool_and_status(tmp_path: Path) -> None:
    collector = Collector(tmp_path, FakeClock())
    called = NodeToolCalled("r", "screen_capture", "ok", 0.4)
    for event in (called, called, replace(called, status="late", seconds=30.0), replace(called, tool="clipboard")):
        collector.hear(event)
    assert samples("nodehost_tool_call_total", tmp_path) == {
        ("clipboard", "ok"): 1,
        ("screen_capture", "late"): 1,
        ("screen_capture", "ok"): 2,
    }
    assert load_totals(tmp_path).node_seconds["screen_capture"].count == 3


def test_profiles_jobs_notices_and_patterns_are_counted(tmp_path: Path) -> None:
    collector = Collector(tmp_path, FakeClock())
    for event in (
        ProfileSelected("r", "s", "default"),
        JobEnded("brief", "done"),
        JobEnded("brief", "failed"),
        JobEnded("tidy", "failed"),
        NotificationSent("n", "task_due", "daily", "daily/x.md"),
        NotificationSuppressed("n", "task_due", "held", "quiet"),
        NotificationSuppressed("m", "task_due", "dropped", "duplicate"),
        PatternDetected("1a", "abandoned_task", "x", 0.8, 1),
    ):
        collector.hear(event)
    assert collector.save()
    assert samples("tool_policy_profile_selected_total", tmp_path) == {("default",): 1}
    assert samples("scheduler_job_run_total", tmp_path) == {("done",): 1, ("failed",): 2}
    assert samples("notices_sent_total", tmp_path) == {("daily",): 1}
    assert samples("notices_suppressed_total", tmp_path) == {("held",): 1, ("dropped",): 1}
    assert samples("patterns_found_total", tmp_path) == {("abandoned_task",): 1}


def test_each_day_has_its_own_figures(tmp_path: Path) -> None:
    clock = FakeClock()
    collector = Collector(tmp_path, clock)
    for number in (1, 2):
        for _ in range(number):
            collector.hear(JobEnded("brief", "done"))
        clock.advance(86_400)
    days = load_days(tmp_path, clock.start.date())
    assert [(str(day), totals.job_statuses) for day, totals in days.items()] == [
        ("2026-11-21", {"done": 1}),
        ("2026-11-22", {"done": 2}),
    ]
    assert list(load_days(tmp_path, clock.now().date())) == []


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return open_workspace(root)


def test_a_job_that_fails_is_a_figure_of_now(workspace: Workspace, root: Path) -> None:
    write(root / "jobs/brief.md", job())
    rows = [HistoryRow(datetime(2026, 11, day, tzinfo=UTC), "failed", reason="no") for day in (20, 21)]
    found = job_shelf(workspace).load().find("brief")
    write(root / history_path(workspace.vault.home, "brief"), with_rows(None, found, rows, "en").decode())
    assert present_figures(workspace).job_failures == {"brief": 2}


def test_what_the_person_says_of_patterns_is_a_figure(workspace: Workspace, root: Path) -> None:
    block = "- Asked often. ^pattern-{id}\n  - [{yes}] helpful\n  - [{no}] not helpful\n"
    note = block.format(id="0000000a", yes="x", no=" ") + block.format(id="0000000b", yes=" ", no="x")
    write(root / INSIGHTS, "# Patterns\n\n" + note + block.format(id="0000000c", yes=" ", no=" "))
    assert pattern_opinions(workspace.vault) == ("helpful", "not_helpful")
    found = shown(workspace)
    assert (found["you found helpful"].value, found["you did not find helpful"].value) == (1, 1)


def test_notices_are_counted_by_their_first_decision_whichever_process_raised_them(workspace: Workspace) -> None:
    outbox = open_outbox(workspace)
    for title in ("one", "one", "two"):
        outbox.take(NoticeRaised("house", 0.9, title))
    outbox.take(NoticeRaised("house", 0.1, "three"))
    (counts,) = counts_by_day(outbox.ledger.all(), workspace.clock.now().tzinfo).values()
    assert (counts.raised, counts.dropped, counts.digest, counts.sent + counts.held) == (4, 1, 1, 2)
    assert shown(workspace)["notices raised"].value == 4
    suppressed = samples("notices_suppressed_total", workspace.metrics)
    assert sum(suppressed.values()) == counts.raised - counts.sent and suppressed[("dropped",)] == 1


def test_an_action_outside_of_runs_is_counted(workspace: Workspace) -> None:
    with counting(workspace) as publish:
        publish(JobEnded("brief", "done"))
    assert load_totals(workspace.metrics).job_statuses == {"done": 1}


def with_node(root: Path, monkeypatch: pytest.MonkeyPatch, url: str, clock: FakeClock) -> Workspace:
    token = root.parent / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    for key, value in {"ENABLED": "true", "BASE_URL": url, "TOKEN_FILE": str(token)}.items():
        monkeypatch.setenv(f"VAULT_AGENT_NODE__{key}", value)
    return open_workspace(root, clock=clock)


def test_the_node_host_is_looked_at_once_a_minute_by_whoever_asks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    assert node_state(open_workspace(root, clock=clock)) is None, "it is switched off, so nothing is known of it"
    with fake_node(permissions={"microphone": "denied", "accessibility": "granted"}) as node:
        workspace = with_node(root, monkeypatch, node.url, clock)
        present = present_figures(workspace)
        assert present.node_connected is True
        assert samples("nodehost_permission_status", workspace.metrics, present) == {
            ("accessibility",): 1,
            ("microphone",): 0,
        }
        node.go()
        assert present_figures(workspace).node_connected is True, "it was looked at just now"
        clock.advance(60)
        present = present_figures(workspace)
        assert (present.node_connected, present.node_permissions) == (False, {})
        away = node_state(workspace)
        assert away is not None and "no node host answers" in away.problem and away.permissions
        began = away.since
        clock.advance(120)
        away = node_state(workspace)
        assert away is not None and away.since == began
        clock.advance(3600)
        away = node_state(workspace)
        assert away is not None and away.since == clock.now(), "nobody looked: since when is not known"
