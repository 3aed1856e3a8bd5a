"""The daemon proposes variants of skills once its person has been silent."""

from dataclasses import replace

from agent.background.lessons import variant_routine
from agent.background.part import PartTable
from agent.background.routine import RoutineRunner
from agent.events.bus import Bus
from agent.events.runs import Speaker, TaskCompleted
from agent.events.types import Tick
from tests.background.at_once import AtOnce
from tests.fakes import FakeClock

RUN = TaskCompleted("r", "sessions/a.md", "plan", Speaker("cli"), "finished", "Done.", (), 1.0, 1)


class Scene:
    """One proposer in a daemon that has only this."""

    def __init__(self) -> None:
        self.clock, self.begun = FakeClock(), 0
        self.bus = Bus(self.clock)
        pool = AtOnce(self.clock)
        runner = RoutineRunner(variant_routine(self.propose), pool, self.clock)
        PartTable(pool, [runner.part()]).subscribe(self.bus)

    def propose(self, _: object) -> None:
        self.begun += 1

    def after(self, minutes: float) -> int:
        """How often it has begun after so many more minutes."""
        self.clock.advance(60 * minutes)
        self.bus.publish(Tick(self.clock.monotonic()))
        return self.begun


def test_it_waits_until_the_person_has_been_silent() -> None:
    scene = Scene()
    assert scene.after(60) == 0, "nothing has been asked"
    scene.bus.publish(RUN)
    assert scene.after(9) == 0
    scene.bus.publish(RUN)
    assert scene.after(9) == 0, "they talk again"
    assert scene.after(1) == 1
    assert scene.after(120) == 1, "once is enough"


def test_many_runs_need_few_looks() -> None:
    scene = Scene()
    for _ in range(4):
        scene.bus.publish(RUN)
        scene.after(10)
    assert scene.begun == 1
    assert scene.after(60) == 2


def test_runs_of_jobs_bring_nothing() -> None:
    scene = Scene()
    scene.bus.publish(replace(RUN, job="nightly"))
    assert scene.after(10) == 0
