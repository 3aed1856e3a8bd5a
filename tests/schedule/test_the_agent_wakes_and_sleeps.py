"""The states: what wakes the agent, when it sleeps, and what is left of them after a kill, a sleep, a wrong clock."""

import json
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.events.types import StateChanged
from agent.records.database import Records
from agent.records.takeover import write_value
from agent.schedule.agent_state import State, state_table
from agent.schedule.states import StateMachine

BERLIN = timezone(timedelta(hours=1))
START = datetime(2026, 11, 23, 8, 0, tzinfo=BERLIN)
LEGAL = {
    ("sleeping", "waking_up"),
    ("waking_up", "awake"),
    ("awake", "working"),
    ("working", "awake"),
    ("awake", "going_to_sleep"),
    ("going_to_sleep", "sleeping"),
}


class Day:
    """The machine of one day, told by steps of time."""

    def __init__(self, folder: Path, start: datetime = START) -> None:
        self.now, self.monotonic, self.events = start, 500.0, list[StateChanged]()
        self.table = state_table(Records(folder, durable=False))
        self.start()

    def start(self) -> None:
        self.machine = StateMachine(self.table, 5, 30, self.events.append)
        self.machine.start(self.now, self.monotonic)

    def pass_time(self, minutes: float) -> list[str]:
        """Tick every half minute; returns what was asked to stop."""
        late: list[str] = []
        for _ in range(int(minutes * 2)):
            self.now += timedelta(seconds=30)
            self.monotonic += 30
            late += self.machine.tick(self.now, self.monotonic)
        return late

    def wake(self, reason: str = "morning") -> None:
        self.machine.wake(reason, self.now, self.monotonic)

    def begin(self, what: str, minutes: float | None = None) -> None:
        self.machine.begin(what, self.now, self.monotonic, minutes)

    def end(self, what: str, done: str = "", *, is_task: bool = False) -> None:
        self.machine.end(what, self.now, self.monotonic, done=done, is_task=is_task)

    @property
    def state(self) -> str:
        return self.machine.current.state

    @property
    def course(self) -> list[str]:
        return [f"{each.after}: {each.reason}" for each in self.events]


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return Day(tmp_path)


def test_it_wakes_works_and_sleeps_again(day: Day) -> None:
    day.wake()
    day.pass_time(1)
    day.begin("job night")
    assert day.state == "working"
    day.pass_time(2)
    day.end("job night", "greeted")
    assert day.pass_time(6) == []
    assert day.course == [
        "waking_up: morning",
        "awake: morning",
        "working: job night",
        "awake: job night",
        "going_to_sleep: nothing was left to do",
        "sleeping: nothing was left to do",
    ]
    asleep = day.events[-1]
    assert (asleep.done, asleep.woken) == (("greeted",), START)
    assert day.machine.current.last_wakeup == START
    assert day.machine.current.last_sleep == asleep.at == START + timedelta(minutes=8)


def test_it_is_awake_for_five_minutes_after_the_last_work(day: Day) -> None:
    day.wake()
    day.pass_time(4.5)
    assert day.machine.is_awake
    day.begin("a task")
    day.pass_time(20)
    day.end("a task")
    day.pass_time(4.5)
    assert day.machine.is_awake
    day.pass_time(0.5)
    assert not day.machine.is_awake


def test_waking_it_again_keeps_it_awake(day: Day) -> None:
    day.wake()
    day.pass_time(4)
    day.wake("a request")
    day.pass_time(4)
    assert day.machine.is_awake
    assert len(day.events) == 2


def test_what_is_due_wakes_it(day: Day) -> None:
    day.begin("job night")
    assert [each.after for each in day.events] == ["waking_up", "awake", "working"]


def test_several_at_a_time_are_one_time_of_work(day: Day) -> None:
    day.begin("one")
    day.begin("other")
    day.end("one", "this")
    assert day.state == "working"
    day.end("other", "that")
    day.pass_time(5)
    assert day.events[-1].done == ("this", "that")
    day.wake()
    day.pass_time(5)
    assert not day.events[-1].done


def test_work_that_takes_too_long_is_asked_to_stop_once(day: Day) -> None:
    day.begin("long")
    day.begin("research", 60)
    assert day.pass_time(29.5) == []
    assert day.pass_time(20) == ["long"]
    assert day.pass_time(20) == ["research"]
    assert day.state == "working"


def test_a_computer_that_sleeps_makes_no_minutes_of_work(day: Day) -> None:
    day.begin("job night")
    day.now += timedelta(hours=9)
    assert day.pass_time(1) == []
    assert day.state == "working"


@pytest.mark.parametrize("hours", [9, -9])
def test_after_a_sleep_or_a_new_clock_it_sleeps_until_something_wakes_it(day: Day, hours: float) -> None:
    day.wake()
    day.now += timedelta(hours=hours)
    day.pass_time(0.5)
    assert day.state == "sleeping"
    assert day.machine.current.reason == "the computer was asleep, or its clock was set"
    assert day.machine.current.since <= day.now


def test_its_person_sends_it_to_sleep(day: Day) -> None:
    day.wake()
    assert day.machine.sleep("enough for today", day.now)
    assert day.state == "sleeping"
    day.begin("job night")
    assert not day.machine.sleep("enough for today", day.now)
    assert day.state == "working"
    day.end("job night")
    assert (day.state, day.machine.current.reason) == ("sleeping", "enough for today")


def test_tasks_are_counted_from_local_midnight(day: Day) -> None:
    for _ in range(3):
        day.begin("a task")
        day.end("a task", is_task=True)
    day.begin("job night")
    day.end("job night")
    assert day.machine.current.tasks_completed_today == 3
    day.pass_time(60 * 15.5)
    assert day.machine.current.tasks_completed_today == 3
    day.pass_time(60)
    assert (day.machine.current.tasks_completed_today, day.machine.current.last_daily_reset) == (0, date(2026, 11, 24))
    day.now += timedelta(days=2)
    day.start()
    assert day.machine.current.last_daily_reset == date(2026, 11, 26)


def test_a_killed_daemon_wakes_up_asleep_and_knows_what_was(day: Day) -> None:
    day.begin("a task")
    day.end("a task", is_task=True)
    day.begin("job night")
    day.start()
    state = day.machine.current
    assert (state.state, state.reason, state.tasks_completed_today) == ("sleeping", "the daemon was started", 1)
    assert [each.after for each in state.transitions][-2:] == ["working", "sleeping"]
    assert state == day.table.get()


def test_an_idle_day_changes_nothing(day: Day) -> None:
    before = day.table.get()
    day.pass_time(60 * 15)
    assert (day.table.get(), day.events) == (before, [])


def put(day: Day, text: str) -> None:
    day.table.database.rows("UPDATE record SET value = ? WHERE name = ?", text, day.table.name)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": "awake"}', "\0"])
def test_a_damaged_state_is_begun_anew_and_that_is_said(day: Day, damage: str) -> None:
    put(day, damage)
    assert day.table.get() is None
    day.start()
    assert day.machine.problem == "the agent's state was damaged and was begun anew"
    assert day.state == "sleeping"
    day.start()
    assert day.machine.problem == ""


@pytest.mark.parametrize("key", ["state", "since", "transitions", "last_daily_reset", "tasks_completed_today"])
def test_a_state_with_a_wrong_value_is_a_damaged_one(day: Day, key: str) -> None:
    put(day, json.dumps({**json.loads(write_value(day.table.get())), key: "soon"}))
    assert day.table.get() is None


def test_a_handler_that_wakes_it_again_is_heard(tmp_path: Path) -> None:
    heard: list[str] = []
    machine = StateMachine(state_table(Records(tmp_path, durable=False)), 5, 30, lambda event: hear(event))

    def hear(event: StateChanged) -> None:
        heard.append(event.after)
        if event.after == "sleeping" and len(heard) < 9:
            machine.wake("not yet", START, 0)

    machine.start(START, 0)
    machine.wake("morning", START, 0)
    machine.sleep("enough", START)
    assert heard == [*("waking_up", "awake", "going_to_sleep", "sleeping"), *("waking_up", "awake")]


STEPS = st.sampled_from(["wake", "begin", "end", "sleep", "minute", "ten", "suspend", "back", "kill"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(STEPS, st.sampled_from("ab")), max_size=60))
def test_every_course_keeps_to_the_drawing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    day, going = Day(tmp_path_factory.mktemp("state")), set[str]()
    for step, what in steps:
        match step:
            case "wake":
                day.wake()
            case "begin":
                day.begin(what)
                going.add(what)
            case "end":
                day.end(what, "done")
                going.discard(what)
            case "sleep":
                day.machine.sleep("asked", day.now)
            case "minute" | "ten":
                day.pass_time(1 if step == "minute" else 10)
            case "suspend" | "back":
                day.now += timedelta(hours=30 if step == "suspend" else -30)
            case "kill":
                day.start()
                going.clear()
        state = day.machine.current
        assert state.state in get_args(State)
        assert (state.state == "working") == bool(going)
        assert day.table.get() == state
    moves = [(each.before, each.after) for each in day.events]
    assert all(move in LEGAL or move[1] == "sleeping" for move in moves)
    assert all(before[1] == after[0] for before, after in zip(moves, moves[1:], strict=False))
    assert len(day.machine.current.transitions) <= 100
