"""What a run does is said on a terminal: the model, its next try, the tools with their subjects, and for how long."""

from collections.abc import Callable

import pytest

from agent.events.runs import IterationStarted, ModelRetry, PlanChanged, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.interfaces.cli.run_messages import event_message, parse_event
from agent.interfaces.cli.screen import ActivityLine, Screen, tool_label
from agent.tools.arguments import main_argument, schema
from tests.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def started(call: str, tool: str, subject: str = "") -> ToolCallStarted:
    return ToolCallStarted("r", "s", call, tool, subject)


def test_a_wait_of_ten_seconds_says_how_long_and_how_to_stop_it(clock: FakeClock) -> None:
    activity = ActivityLine(clock, "en")
    activity.wait_for("demo-model is thinking")
    clock.sleep(9)
    assert activity.lines() == ("demo-model is thinking",)
    clock.sleep(3)
    assert activity.lines() == ("demo-model is thinking, 12 s so far; Ctrl-C stops it",)


def test_a_pause_counts_down_with_its_reason(clock: FakeClock) -> None:
    activity = ActivityLine(clock, "en")
    activity.wait_for("demo-model is thinking")
    activity.retry(ModelRetry(7.5, "slow down"))
    assert activity.lines() == ("next try in 8 s: slow down",)
    clock.sleep(3)
    assert activity.lines() == ("next try in 5 s: slow down",)
    clock.sleep(5)
    assert activity.lines() == ("demo-model is thinking",)


def test_a_plan_stands_in_the_last_line(clock: FakeClock) -> None:
    activity = ActivityLine(clock, "en")
    activity.wait_for("demo-model is thinking")
    event = PlanChanged("r", "s", ("read",), "sort", ("link", "tell"))
    passed_on = parse_event(*event_message(event))  # by the daemon
    assert isinstance(passed_on, PlanChanged)
    activity.plan = passed_on
    assert activity.lines() == ("demo-model is thinking", "plan, 2 of 4: sort")


def test_tools_at_work_have_a_line_each_until_they_end(clock: FakeClock) -> None:
    activity = ActivityLine(clock, "en")
    activity.wait_for("demo-model is writing")
    activity.start_tool(started("c1", "vault_search", "roof"))
    activity.start_tool(started("c2", "vault_list"))
    assert activity.lines() == ('vault_search "roof"', "vault_list")
    assert activity.end_tool("c1", "vault_search") == 'vault_search "roof"'
    assert activity.lines() == ("vault_list",)


def test_a_request_to_stop_is_acknowledged(clock: FakeClock) -> None:
    activity = ActivityLine(clock, "zh", stopping=lambda: True)
    activity.wait_for("…")
    assert activity.lines() == ("正在停下；再按一次 Ctrl-C 立即离开",)


def test_a_subject_is_the_first_required_text_on_one_short_line() -> None:
    edit = schema("path", "old", "new", path={}, old={}, new={})
    assert main_argument({"old": "x", "new": "y", "path": "a.md"}, edit) == "a.md"
    assert main_argument({"limit": 3, "folder": "notes"}, schema(folder={}, limit={})) == "notes"
    assert main_argument({"limit": 3}, schema(limit={})) == ""
    assert tool_label("vault_search", "roof\nand door") == 'vault_search "roof and door"'
    assert len(tool_label("vault_search", "roof " * 90)) < 80


@pytest.mark.parametrize("dumb", [True, False])
def test_a_tool_is_shown_with_its_subject_when_it_ends(
    dumb: bool, clock: FakeClock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if dumb else "xterm")
    screen = Screen(True, model="demo-model", clock=clock)
    events: list[Callable[[], object]] = [
        lambda: screen.on_event(IterationStarted("r", "s", 1, "the roof?")),
        lambda: screen.show_text("I look."),
        lambda: screen.on_event(started("c1", "vault_search", "roof")),
        lambda: screen.on_event(ToolCompleted("r", "s", "c1", "vault_search", 0.1, 10)),
        lambda: screen.on_event(started("c2", "vault_read", "gone.md")),
        lambda: screen.on_event(ToolCallFailed("r", "s", "c2", "vault_read", 0.1, "no such note\nat all")),
        lambda: screen.on_event(started("c3", "vault_edit", "a.md")),
        lambda: screen.on_event(
            ToolCallFailed("r", "s", "c3", "vault_edit", 0.1, "vault_edit was not called:\nno argument x\nmore")
        ),
    ]
    for event in events:
        event()
    shown = [line for line in capsys.readouterr().out.split("\n") if line]
    assert shown == [
        "I look.",
        '· vault_search "roof"',
        '· vault_read "gone.md": no such note',
        '· vault_edit "a.md": vault_edit was not called: no argument x',
    ]
