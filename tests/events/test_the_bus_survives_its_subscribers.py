"""Events are told in order, to everybody, whatever one of them does."""

import threading
from collections.abc import Iterator

import pytest

from agent.events.bus import Bus, Handled, Injection, InjectionType
from agent.events.types import DaemonStarted, DaemonStopped, NoteDeleted, Origin
from tests.fakes import FakeClock

STARTED = DaemonStarted("/vault")
GONE = NoteDeleted("a.md", "0" * 40, Origin.HUMAN)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def bus(clock: FakeClock) -> Iterator[Bus]:
    bus = Bus(clock)
    yield bus
    assert bus.close()


def test_events_are_told_by_priority_and_then_in_order_of_subscribing(bus: Bus) -> None:
    heard: list[str] = []
    for name, priority in [("b", 0), ("a", 5), ("c", 0)]:

        def hear(event: DaemonStarted, name: str = name) -> None:
            heard.append(name + event.root)

        bus.subscribe(hear, DaemonStarted, name=name, priority=priority)
    bus.publish(STARTED)
    assert heard == ["a/vault", "b/vault", "c/vault"]


def test_only_those_who_asked_hear_of_an_event(bus: Bus) -> None:
    heard: list[object] = []

    def some(event: NoteDeleted | DaemonStopped) -> None:
        heard.append(event)

    bus.subscribe(some, NoteDeleted, DaemonStopped, name="some")
    bus.subscribe(heard.append, object, name="all")
    bus.publish(STARTED)
    bus.publish(GONE)
    assert heard == [STARTED, GONE, GONE]


def test_injections_come_back_highest_priority_first(bus: Bus) -> None:
    bus.subscribe(lambda _: [Injection("low", "x", -1), Injection("high", "x", 9)], DaemonStarted, name="x")
    bus.subscribe(lambda _: [Injection("middle", "y")], DaemonStarted, name="y", priority=9)
    assert [each.text for each in bus.publish(STARTED)] == ["high", "middle", "low"]


def test_each_call_is_reported_with_its_duration_and_what_it_injected(bus: Bus, clock: FakeClock) -> None:
    calls: list[Handled] = []
    bus.observer = calls.append
    warning = Injection("mind the cup", "calm", type=InjectionType.WARNING)

    def warn(event: DaemonStarted) -> list[Injection]:
        clock.advance(0.5)
        return [warning]

    def fail(event: DaemonStarted) -> Iterator[Injection]:
        clock.advance(0.25)
        yield warning
        raise RuntimeError("no good")

    bus.subscribe(warn, DaemonStarted, name="calm", priority=1)
    bus.subscribe(fail, DaemonStarted, name="bad", timeout=None)
    assert bus.publish(STARTED) == (warning,)
    bus.publish(GONE)
    assert calls == [Handled("calm", 0.5, (warning,)), Handled("bad", 0.25)]


def test_a_failing_handler_is_counted_and_stops_nobody(bus: Bus) -> None:
    heard: list[object] = []

    def fail(event: object) -> None:
        raise RuntimeError(f"no good\n{event}")

    bus.subscribe(fail, object, name="bad", priority=1)
    bus.subscribe(heard.append, object, name="good")
    bus.publish(STARTED)
    bus.publish(GONE)
    assert heard == [STARTED, GONE]
    assert bus.counts()["bad"].failed == 2
    assert bus.counts()["bad"].error == "RuntimeError: no good"
    assert bus.counts()["good"].delivered == 2


def test_a_handler_that_hangs_is_left_behind_until_it_comes_back(bus: Bus) -> None:
    heard: list[object] = []
    let_go, came_back = threading.Event(), threading.Event()

    def hang(event: object) -> None:
        if event is STARTED:
            let_go.wait(30)
            came_back.set()
        heard.append(("slow", event))

    bus.subscribe(hang, object, name="slow", priority=1, timeout=0.01)
    bus.subscribe(heard.append, object, name="good")
    bus.publish(STARTED)
    bus.publish(GONE)
    assert heard == [STARTED, GONE]
    assert (bus.counts()["slow"].late, bus.counts()["slow"].skipped) == (1, 1)
    let_go.set()
    assert came_back.wait(30)
    while bus.counts()["slow"].delivered == 0:
        bus.publish(GONE)
    assert ("slow", STARTED) in heard


def test_a_subscriber_is_not_called_faster_than_it_wants(bus: Bus, clock: FakeClock) -> None:
    heard: list[object] = []
    bus.subscribe(heard.append, object, name="calm", per_minute=2)
    for _ in range(5):
        bus.publish(STARTED)
    clock.advance(60.1)
    bus.publish(GONE)
    assert heard == [STARTED, STARTED, GONE]
    assert bus.counts()["calm"].limited == 3


def test_a_handler_may_publish(bus: Bus) -> None:
    heard: list[object] = []

    def follow(event: DaemonStarted) -> None:
        bus.publish(GONE)

    bus.subscribe(follow, DaemonStarted, name="first", priority=1)
    bus.subscribe(heard.append, object, name="second")
    bus.publish(STARTED)
    assert heard == [GONE, STARTED]


def test_publishing_without_waiting_keeps_the_order_and_loses_nothing(clock: FakeClock) -> None:
    bus = Bus(clock)
    heard: list[object] = []
    gate = threading.Event()

    def hear(event: object) -> None:
        gate.wait(30)
        heard.append(event)

    bus.subscribe(hear, object, name="slow", timeout=30)
    events = [DaemonStopped(str(number)) for number in range(50)]
    assert all(bus.publish_async(event) for event in events)
    assert heard == []
    gate.set()
    assert bus.close()
    assert heard == events


def test_closing_does_not_wait_for_ever(clock: FakeClock) -> None:
    bus = Bus(clock)
    let_go = threading.Event()

    def hang(event: object) -> None:
        let_go.wait(30)

    bus.subscribe(hang, object, name="slow", timeout=30)
    assert bus.publish_async(STARTED)
    assert not bus.close(timeout=0.01)
    let_go.set()
    assert bus.counts()["slow"].late == 0


def test_a_closed_bus_says_that_it_takes_no_more(bus: Bus) -> None:
    bus.close()
    assert not bus.publish_async(STARTED)
    assert bus.dropped == 1


def test_a_name_is_taken_once(bus: Bus) -> None:
    bus.subscribe(lambda _: None, DaemonStarted, name="x")
    with pytest.raises(ValueError, match="named x already"):
        bus.subscribe(lambda _: None, DaemonStopped, name="x")
