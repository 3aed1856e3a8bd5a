"""A part of the daemon has a turn when it wants one or has heard something, and is asked only then what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from agent.background.part import Hears, Part, PartTable
from agent.events.bus import Bus
from agent.events.types import DaemonStarted, EditsCommitted, Tick, TurnEnded
from tests.background.at_once import AtOnce
from tests.fakes import FakeClock

EDITS = EditsCommitted("abc", ())
TURN_ENDED = TurnEnded(hints=True, files=1, waiting=0, last_scan=None, failures=0, problem="")


@dataclass
class Scene:
    """One part in a daemon; `during` is done in its turn."""

    rest: float = 60.0
    during: Callable[[], object] = lambda: None
    turns: int = 0
    asked: int = 0
    heard: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.bus, self.pool = Bus(self.clock), AtOnce(self.clock)
        hears = Hears(EditsCommitted, self.heard.append), Hears(TurnEnded, self.heard.append)
        self.table = PartTable(self.pool, [Part("one", hears, self.turn, self.problem)])
        self.table.subscribe(self.bus)

    def turn(self, now: float) -> float:
        self.turns += 1
        self.during()
        return self.rest

    def problem(self) -> str:
        self.asked += 1
        return f"after {self.turns}"

    def after(self, seconds: float) -> int:
        """How many turns it has had after one more turn of the daemon."""
        self.clock.advance(seconds)
        self.bus.publish(Tick(self.clock.monotonic()))
        self.bus.publish(TURN_ENDED)
        return self.turns


def test_it_rests_for_as_long_as_it_said() -> None:
    scene = Scene()
    assert [scene.after(seconds) for seconds in (1, 59, 1, 60)] == [1, 1, 2, 3]
    scene.rest = 0.0
    assert [scene.after(seconds) for seconds in (60, 1, 1)] == [4, 5, 6]


def test_an_event_ends_the_rest_but_not_the_end_of_a_turn() -> None:
    scene = Scene(rest=float("inf"))
    assert [scene.after(1000) for _ in range(2)] == [1, 1]
    assert scene.heard == [TURN_ENDED] * 2
    scene.bus.publish(EDITS)
    assert scene.after(1) == 2 and EDITS in scene.heard


def test_an_event_that_comes_during_the_turn_is_not_slept_over() -> None:
    scene = Scene(rest=float("inf"))
    scene.during = lambda: scene.turns == 1 and scene.bus.publish(EDITS)
    assert [scene.after(1) for _ in range(3)] == [1, 2, 2]


def test_a_turn_that_fails_is_taken_again() -> None:
    scene = Scene()

    def fail() -> None:
        raise KeyError("a bug of ours")

    scene.during = fail
    assert [scene.after(1) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("works", [True, False])
def test_what_does_not_work_is_asked_for_when_something_has_moved(works: bool) -> None:
    scene = Scene()
    scene.after(1)
    assert scene.table.problems() == {"one": "after 1"}
    asked = scene.asked
    scene.after(1)
    scene.table.problems()
    assert scene.asked == asked, "nothing has moved"
    scene.bus.publish(EDITS)
    scene.table.problems()
    assert scene.asked == asked + 1
    scene.pool.is_busy = works
    scene.table.problems()
    scene.pool.is_busy = False
    scene.table.problems()
    assert scene.asked == asked + (3 if works else 1), "during work in the pool, and once after it"


def test_parts_hear_in_their_order_and_the_last_after_all_others() -> None:
    clock, heard = FakeClock(), list[str]()
    bus = Bus(clock)

    def part(name: str) -> Part:
        return Part(name, (Hears(DaemonStarted, lambda event: heard.append(name)),))

    bus.subscribe(lambda event: heard.append("another subscriber"), DaemonStarted, name="x", timeout=None)
    PartTable(AtOnce(clock), [part("a"), part("b")], [part("z")]).subscribe(bus)
    bus.publish(DaemonStarted("/vault"))
    assert heard == ["a", "b", "another subscriber", "z"]


def test_frequent_events_may_be_left_out() -> None:
    clock, heard = FakeClock(), list[object]()
    bus = Bus(clock)
    everything = Part("all", (Hears(object, heard.append, but=(Tick, TurnEnded)),))
    PartTable(AtOnce(clock), [everything]).subscribe(bus)
    for event in (Tick(1.0), EDITS, TURN_ENDED):
        bus.publish(event)
    assert heard == [EDITS]
