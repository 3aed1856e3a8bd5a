"""The contract of the engine of routines: when one begins, what it is given, and what a failure means."""

from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from agent.background.part import Hears, PartTable
from agent.background.pool import Pool, Priority
from agent.background.routine import LookEvery, On, QuietOn, Routine, RoutineRunner
from agent.clock import SystemClock
from agent.errors import Interrupted, LockHeld, Permanent
from agent.events.bus import Bus
from agent.events.types import DaemonStarted, EditsCommitted, RemoteSynced, Tick
from agent.llm.messages import Cancelled
from tests.background.at_once import AtOnce
from tests.fakes import FakeClock

QUIET, PAUSE, RETRY = 5.0, 60.0, 300.0


def wanted(mark: str) -> EditsCommitted:
    """An event that marks the routine of a scene."""
    return EditsCommitted(mark, ())


MARKS: On[EditsCommitted] = On(EditsCommitted, lambda event: (event.commit,) if event.commit else ())


@dataclass
class Scene:
    """One routine in a daemon that has only this; `fails` are the errors of the next times that it is done."""

    fails: list[BaseException] = field(default_factory=list)
    done: list[tuple[str, ...]] = field(default_factory=list)
    is_settled: bool = True
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.pool, self.bus = AtOnce(self.clock), Bus(self.clock)

    def has(self, *on: Any, **terms: Any) -> "Scene":
        """Begin with the routine of these terms."""
        routine = Routine("tidying", self.work, on=on or (MARKS,), **terms)
        self.runner = RoutineRunner(routine, self.pool, self.clock, lambda: self.is_settled)
        PartTable(self.pool, [self.runner.part()]).subscribe(self.bus)
        return self

    def work(self, marks: dict[str, None], _: Cancelled) -> None:
        self.done.append(tuple(marks))
        if self.fails:
            raise self.fails.pop(0)

    def after(self, seconds: float) -> list[tuple[str, ...]]:
        """What was done after so many more seconds, and nothing before."""
        self.done.clear()
        self.clock.advance(seconds)
        self.bus.publish(Tick(self.clock.monotonic()))
        return list(self.done)


def test_it_is_done_when_it_was_wanted_and_quiet_since() -> None:
    scene = Scene().has(quiet=QUIET)
    assert scene.after(1000) == []
    scene.bus.publish(wanted("a"))
    assert scene.after(QUIET - 1) == []
    scene.bus.publish(wanted("b"))
    scene.bus.publish(wanted("a"))
    scene.bus.publish(wanted(""))
    assert scene.after(QUIET - 1) == []
    assert scene.after(1) == [("a", "b")], "once, for all that it was wanted for"
    assert scene.after(1000) == []


def test_an_event_may_begin_the_quiet_time_anew_and_mark_nothing() -> None:
    scene = Scene().has(MARKS, QuietOn(RemoteSynced, lambda event: event.remote == "origin"), quiet=QUIET)
    scene.bus.publish(RemoteSynced("origin", (), ()))
    assert scene.after(QUIET) == []
    scene.bus.publish(wanted("a"))
    scene.after(QUIET - 1)
    scene.bus.publish(RemoteSynced("origin", (), ()))
    assert scene.after(QUIET - 1) == []
    scene.bus.publish(RemoteSynced("other", (), ()))
    assert scene.after(1) == [("a",)]


def test_a_look_is_taken_at_its_pace_and_what_it_finds_is_done_at_once() -> None:
    found = [True, False, True]
    scene = Scene().has(looks=(LookEvery(20.0, lambda: bool(found) and found.pop(0), "a"),), quiet=QUIET)
    assert scene.after(1) == [("a",)], "the first one at the start"
    assert scene.after(19) == [] and len(found) == 2
    assert scene.after(1) == [] and len(found) == 1
    assert scene.after(2000) == [("a",)], "a clock that is ahead of the looks puts nothing off"


def test_a_look_is_not_taken_during_work_nor_before_a_second_try() -> None:
    looks: list[int] = []

    def look() -> bool:
        looks.append(1)
        return True

    scene = Scene([Permanent("no")]).has(looks=(LookEvery(10.0, look),), retry=RETRY)
    scene.pool.holds = True
    scene.after(1)
    scene.after(50)
    assert len(looks) == 1
    scene.pool.let_go()
    scene.after(RETRY - 1)
    assert len(looks) == 1
    scene.after(1)
    assert len(looks) == 2 and scene.pool.begun == ["tidying"] * 2


def test_it_begins_at_most_once_in_its_pause() -> None:
    scene = Scene().has(pause=PAUSE)
    scene.bus.publish(wanted("a"))
    assert scene.after(1) == [("a",)]
    scene.bus.publish(wanted("b"))
    assert scene.after(PAUSE - 1) == []
    assert scene.after(1) == [("b",)]


@pytest.mark.parametrize("needs_settled", [True, False])
def test_it_waits_until_edits_are_recorded_if_it_needs_that(needs_settled: bool) -> None:
    scene = Scene(is_settled=False).has(needs_settled=needs_settled)
    scene.bus.publish(wanted("a"))
    assert scene.after(1) == ([] if needs_settled else [("a",)])
    scene.is_settled = True
    assert scene.after(1) == ([("a",)] if needs_settled else [])


def test_it_waits_until_it_may_begin() -> None:
    may: list[bool] = []
    scene = Scene().has(may_begin=lambda: bool(may))
    scene.bus.publish(wanted("a"))
    assert scene.after(1) == []
    may.append(True)
    assert scene.after(1) == [("a",)]


def test_one_at_a_time_and_what_comes_meanwhile_is_done_after_it() -> None:
    scene = Scene().has()
    scene.pool.holds = True
    scene.bus.publish(wanted("a"))
    scene.after(1)
    scene.bus.publish(wanted("b"))
    scene.after(1)
    assert scene.pool.begun == ["tidying"]
    scene.pool.let_go()
    scene.pool.holds = False
    assert scene.after(1) == [("b",)]


def test_what_came_during_work_that_failed_is_done_with_the_second_try() -> None:
    scene = Scene([Permanent("no")]).has(retry=RETRY, patience=7.0)
    scene.pool.holds = True
    scene.bus.publish(wanted("a"))
    scene.after(1)
    scene.bus.publish(wanted("b"))
    scene.pool.let_go()
    scene.pool.holds = False
    assert scene.after(RETRY) == [("a", "b")] and scene.pool.patience == 7.0


def test_a_failure_is_said_until_it_goes_well() -> None:
    scene = Scene([Permanent("the disk is full")]).has()
    scene.bus.publish(wanted("a"))
    scene.after(1)
    assert scene.runner.problem == "the disk is full"
    assert scene.after(10_000) == [], "without a second try it waits until it is wanted anew"
    scene.bus.publish(wanted("b"))
    assert scene.after(1) == [("b",)] and scene.runner.problem == ""


def test_a_failure_is_tried_again_later_or_with_the_next_mark() -> None:
    scene = Scene([Permanent("no"), Permanent("no")]).has(quiet=QUIET, retry=RETRY)
    scene.bus.publish(wanted("a"))
    scene.after(QUIET)
    assert scene.after(RETRY - 1) == []
    assert scene.after(1) == [("a",)]
    scene.bus.publish(wanted("b"))
    assert scene.after(QUIET) == [("a", "b")]


def test_a_mark_that_does_not_hasten_leaves_the_wait_as_it_is() -> None:
    scene = Scene([Permanent("no")]).has(On(EditsCommitted, lambda event: (event.commit,), hastens=False), retry=RETRY)
    scene.bus.publish(wanted("a"))
    scene.after(1)
    scene.bus.publish(wanted("b"))
    assert scene.after(RETRY - 1) == []
    assert scene.after(1) == [("a", "b")]


def test_what_the_work_takes_out_is_not_done_again() -> None:
    scene = Scene()
    tried: list[tuple[str, ...]] = []

    def work(marks: dict[str, None], _: Cancelled) -> None:
        tried.append(tuple(marks))
        marks.pop("a", None)
        raise Permanent("no")

    scene.work = work  # type: ignore[method-assign]
    scene.has(retry=RETRY)
    for mark in "ab":
        scene.bus.publish(wanted(mark))
    scene.after(1)
    scene.after(RETRY)
    assert tried == [("a", "b"), ("b",)]


@pytest.mark.parametrize("error", [Interrupted("the daemon stops"), LockHeld("somebody writes")])
def test_what_passes_by_itself_is_no_problem(error: BaseException) -> None:
    scene = Scene([error]).has(reports_retryable=False)
    scene.bus.publish(wanted("a"))
    assert scene.after(1) == [("a",)] and scene.runner.problem == ""


def test_an_error_that_nobody_expected_is_a_problem_too() -> None:
    scene = Scene([KeyError("a bug of ours")]).has(names_problem=True, trouble=lambda: "it rains")
    scene.bus.publish(wanted("a"))
    scene.after(1)
    assert scene.runner.problem == "it rains; tidying: KeyError: 'a bug of ours'"


def test_without_a_priority_it_is_done_in_the_turn() -> None:
    scene = Scene([Permanent("no")]).has(priority=None, retry=RETRY)
    scene.pool.holds = True
    scene.bus.publish(wanted("a"))
    assert scene.after(1) == [("a",)] and scene.runner.problem == "no" and scene.pool.begun == []
    assert scene.after(RETRY) == [("a",)] and scene.runner.problem == ""


def test_other_events_are_only_told() -> None:
    heard: list[object] = []
    scene = Scene().has(hears=(Hears(DaemonStarted, heard.append),))
    scene.bus.publish(DaemonStarted("/vault"))
    assert len(heard) == 1 and scene.after(1) == []


def test_the_daemon_stops_work_after_its_patience() -> None:
    clock, began, ended = SystemClock(), Event(), Event()

    def work(marks: dict[str, None], cancelled: Cancelled) -> None:
        began.set()
        while not cancelled():
            clock.sleep(0.01)
        ended.set()

    pool, bus = Pool(clock), Bus(clock)
    with closing(pool):
        routine = Routine("tidying", work, on=(MARKS,), priority=Priority.MAINTENANCE, patience=60.0)
        runner = RoutineRunner(routine, pool, clock)
        PartTable(pool, [runner.part()]).subscribe(bus)
        bus.publish(wanted("a"))
        bus.publish(Tick(clock.monotonic()))
        assert began.wait(60)
    assert ended.is_set()
    bus.publish(wanted("b"))
    bus.publish(Tick(clock.monotonic()))
    assert runner.problem == "", "what a pool that has closed cancels is no failure"


class AnyDay(RuleBasedStateMachine):
    """A daemon with one routine that is marked, done, and fails at any time: no mark is lost, and nothing is done
    before its quiet time is over, twice at once, or while edits are not recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.scene, self.open_marks, self.new, self.fails = Scene(), set[str](), set[str](), False
        self.marked_at = -QUIET
        self.scene.work = self.work  # type: ignore[method-assign]
        self.scene.has(quiet=QUIET, retry=RETRY)

    def work(self, marks: dict[str, None], _: Cancelled) -> None:
        fails, self.fails = self.fails, False
        if fails:
            raise Permanent("no")
        self.open_marks -= set(marks)

    @rule(name=st.sampled_from("abc"))
    def mark(self, name: str) -> None:
        self.marked_at = self.scene.clock.monotonic()
        self.open_marks.add(name)
        self.new |= {name} if self.scene.pool.waiting else set()
        self.scene.bus.publish(wanted(name))

    @rule(seconds=st.floats(0.0, 2 * QUIET))
    def a_turn(self, seconds: float) -> None:
        begun, is_busy = len(self.scene.pool.begun), bool(self.scene.pool.waiting)
        self.scene.after(seconds)
        if len(self.scene.pool.begun) > begun:
            assert not is_busy and self.scene.is_settled
            assert self.scene.clock.monotonic() >= self.marked_at + QUIET

    @rule(is_settled=st.booleans())
    def edits(self, is_settled: bool) -> None:
        self.scene.is_settled = is_settled

    @rule()
    def a_failure_comes(self) -> None:
        self.fails = True

    @rule(holds=st.booleans())
    def the_pool(self, holds: bool) -> None:
        self.scene.pool.holds = holds
        self.scene.pool.let_go()
        self.open_marks, self.new = self.open_marks | self.new, set()  # those since it began are for the next time

    def teardown(self) -> None:
        self.fails = False
        self.the_pool(False)
        self.scene.is_settled = True
        self.scene.after(RETRY + QUIET)
        assert self.open_marks == set(), "each was given to work that went well after it"


TestAnyDay = AnyDay.TestCase
