"""The daemon proposes variants of skills once its person has been silent, and stops when the daemon does."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.background.experiments import KEY, PAUSE, STILL, Experiments
from agent.background.pool import Pool
from agent.clock import SystemClock
from agent.errors import LockHeld
from agent.events.runs import Speaker, TaskCompleted
from agent.events.types import DaemonStarted, Tick
from agent.llm.provider import Cancelled
from tests.fakes import FakeClock

RUN = TaskCompleted("r", "sessions/a.md", "plan", Speaker("cli"), "finished", "Done.", (), 1.0, 1)


class Scene:
    """One proposer whose work does what it is told."""

    def __init__(self, work: Callable[[Cancelled], object] = lambda cancelled: None) -> None:
        self.clock = FakeClock()
        self.pool = Pool(self.clock)
        self.begun = 0
        self.tidied = 0
        self.is_settled = True

        def propose(cancelled: Cancelled) -> object:
            self.begun += 1
            return work(cancelled)

        def tidy() -> None:
            self.tidied += 1

        self.parts = Experiments(self.pool, self.clock, lambda: self.is_settled, propose, tidy)

    def after(self, seconds: float) -> int:
        """How often it has begun after so many more seconds."""
        self.clock.advance(seconds)
        self.parts.tick(Tick(self.clock.monotonic()))
        clock = SystemClock()
        until = clock.monotonic() + 60
        while self.pool.has(KEY) and clock.monotonic() < until:
            clock.sleep(0.01)
        return self.begun


def test_it_waits_until_the_person_has_been_silent() -> None:
    scene = Scene()
    assert scene.after(PAUSE) == 0, "nothing has been asked"
    scene.parts.run_ended(RUN)
    assert scene.after(STILL - 1) == 0
    scene.parts.run_ended(RUN)
    assert scene.after(STILL - 1) == 0, "they talk again"
    scene.is_settled = False
    assert scene.after(2) == 0, "what they did by hand is not recorded yet"
    scene.is_settled = True
    assert scene.after(0) == 1
    assert scene.after(2 * PAUSE) == 1, "once is enough"


def test_many_runs_need_few_looks() -> None:
    scene = Scene()
    for _ in range(4):
        scene.parts.run_ended(RUN)
        scene.after(STILL)
    assert scene.begun == 1
    assert scene.after(PAUSE) == 2


def test_runs_of_jobs_bring_nothing() -> None:
    scene = Scene()
    scene.parts.run_ended(replace(RUN, job="nightly"))
    assert scene.after(STILL) == 0


def test_a_failure_is_named_until_it_goes_well() -> None:
    fails = [True]

    def work(cancelled: Cancelled) -> None:
        if fails.pop() if fails else False:
            raise LockHeld("somebody writes")

    scene = Scene(work)
    scene.parts.run_ended(RUN)
    scene.after(STILL)
    assert "somebody writes" in scene.parts.problem
    scene.parts.run_ended(RUN)
    scene.after(PAUSE + STILL)
    assert scene.parts.problem == ""


def test_the_start_removes_what_killed_processes_have_left() -> None:
    scene = Scene()
    scene.parts.start(DaemonStarted("/vault"))
    assert scene.tidied == 1


@pytest.mark.parametrize("closing", [True, False])
def test_it_is_told_when_the_daemon_stops(closing: bool) -> None:
    said: list[bool] = []
    scene = Scene(lambda cancelled: said.append(cancelled()))
    scene.parts.run_ended(RUN)
    if closing:
        scene.pool.close()
    scene.after(STILL)
    assert said == ([] if closing else [False])
