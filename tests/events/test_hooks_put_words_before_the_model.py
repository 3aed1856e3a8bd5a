"""Hooks: subscribers that put words before the model when a task or a step begins or a tool is done."""

import threading
from collections.abc import Iterator

import pytest

from agent.events.bus import Bus, Injection
from agent.events.runs import IterationStarted, Speaker, TaskCompleted, TaskStarted, ToolCompleted
from tests.fakes import FakeClock

ANNA = Speaker("cli")
STARTED = TaskStarted("r", "s.md", "tea?", ANNA)
STEP = IterationStarted("r", "s.md", 3, "tea?", ("search_vault",))
DONE = ToolCompleted("r", "s.md", "c1", "search_vault", 0.1, 900)
ENDED = TaskCompleted("r", "s.md", "tea?", ANNA, "finished", "70 degrees", ("search_vault",), 1.0, 3)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def bus(clock: FakeClock) -> Iterator[Bus]:
    bus = Bus(clock)
    yield bus
    assert bus.close()


class MemoryHook:
    """A hook as one would write it: recalls when a task begins, refreshes at every third step, notes the end."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def on_start(self, event: TaskStarted) -> list[Injection]:
        return [Injection(f"known of {event.task}", "memory", 5)]

    def on_step(self, event: IterationStarted) -> list[Injection] | None:
        return [Injection(f"after {event.tools[-1]}", "memory")] if event.number % 3 == 0 else None

    def on_end(self, event: TaskCompleted) -> None:
        self.ended.append(event.outcome)


def test_a_hook_hears_of_a_task_from_its_start_to_its_end(bus: Bus) -> None:
    hook = MemoryHook()
    bus.subscribe(hook.on_start, TaskStarted, name="memory start")
    bus.subscribe(hook.on_step, IterationStarted, name="memory step")
    bus.subscribe(hook.on_end, TaskCompleted, name="memory end")
    assert bus.publish(STARTED) == (Injection("known of tea?", "memory", 5),)
    assert bus.publish(STEP) == (Injection("after search_vault", "memory"),)
    assert bus.publish(IterationStarted("r", "s.md", 1, "tea?")) == ()
    assert bus.publish(DONE) == ()
    assert bus.publish(ENDED) == ()
    assert hook.ended == ["finished"]


@pytest.mark.parametrize("event", [STARTED, STEP, DONE], ids=["task", "step", "tool"])
def test_words_come_by_their_priority_and_equal_ones_by_their_hooks(bus: Bus, event: object) -> None:
    for name, priority, words in [("a", 0, 1), ("b", 9, 1), ("c", 5, 7)]:

        def speak(event: object, name: str = name, words: int = words) -> list[Injection]:
            return [Injection(name, name, words)]

        bus.subscribe(speak, object, name=name, priority=priority)
    assert [each.text for each in bus.publish(event)] == ["c", "b", "a"]


def test_a_hook_that_fails_and_one_that_hangs_cost_only_their_own_words(bus: Bus) -> None:
    let_go = threading.Event()

    def fail(event: object) -> Iterator[Injection]:
        yield Injection("half a thought", "bad")
        raise RuntimeError("no good")

    def hang(event: object) -> list[Injection]:
        let_go.wait(30)
        return [Injection("too late", "slow")]

    bus.subscribe(fail, object, name="bad", priority=9)
    bus.subscribe(hang, object, name="slow", priority=8, timeout=0.01)
    bus.subscribe(lambda _: [Injection("well", "good")], object, name="good")
    assert bus.publish(STARTED) == (Injection("well", "good"),)
    assert bus.publish(STEP) == (Injection("well", "good"),)
    let_go.set()
    counts = bus.counts()
    assert (counts["bad"].failed, counts["slow"].late, counts["good"].delivered) == (2, 1, 2)


def test_a_hook_that_wants_to_speak_seldom_is_not_asked_more_often(bus: Bus, clock: FakeClock) -> None:
    bus.subscribe(lambda _: [Injection("mind", "calm")], IterationStarted, name="calm", per_minute=2)
    assert [len(bus.publish(STEP)) for _ in range(4)] == [1, 1, 0, 0]
    assert len(bus.publish(STARTED)) == 0
    clock.advance(60.1)
    assert len(bus.publish(STEP)) == 1
    assert bus.counts()["calm"].limited == 2
