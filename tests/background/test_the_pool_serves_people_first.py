"""One pool for all work: never two of one key, people before jobs, and nothing is lost in silence."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import closing, contextmanager
from threading import Event, Semaphore

import pytest

from agent.background.pool import Pool, Priority
from agent.clock import SystemClock
from agent.llm.messages import Cancelled
from tests.fakes import FakeClock

PATIENCE = 60.0


class Gate:
    """Work that goes on until it is let go, and says when it has begun."""

    def __init__(self) -> None:
        self.begun = Event()
        self.let_go = Event()

    def __call__(self, cancelled: Cancelled) -> str:
        self.begun.set()
        assert self.let_go.wait(PATIENCE)
        return "stopped" if cancelled() else "done"


@contextmanager
def pool() -> Iterator[Pool]:
    made = Pool(SystemClock())
    yield made
    made.close()


def instant(order: list[str], name: str) -> Callable[[Cancelled], None]:
    return lambda cancelled: order.append(name)


def test_what_waits_begins_by_priority_and_then_by_age() -> None:
    order: list[str] = []
    with pool() as works:
        gates = [Gate(), Gate()]
        for number, gate in enumerate(gates):
            works.submit(gate, key=f"run {number}", priority=Priority.RESUMED)
            assert gate.begun.wait(PATIENCE)
        later = [
            works.submit(instant(order, "upkeep"), key="upkeep", priority=Priority.MAINTENANCE),
            works.submit(instant(order, "job"), key="job", priority=Priority.JOB),
            works.submit(instant(order, "first note"), key="first", priority=Priority.NOTE),
            works.submit(instant(order, "second note"), key="second", priority=Priority.NOTE),
        ]
        assert works.state.waiting == ("first", "second", "job", "upkeep") and not order
        gates[0].let_go.set()
        wait(later[2:4], PATIENCE)
        gates[1].let_go.set()
        wait(later, PATIENCE)
    assert order == ["first note", "second note", "job", "upkeep"]


def test_a_person_never_waits_behind_a_job() -> None:
    with pool() as works:
        gates = [Gate() for _ in range(4)]
        works.submit(gates[0], key="job", priority=Priority.JOB)
        works.submit(gates[1], key="note", priority=Priority.NOTE)
        works.submit(gates[2], key="ask", priority=Priority.PERSON)
        works.submit(gates[3], key="another ask", priority=Priority.PERSON)
        assert all(gate.begun.wait(PATIENCE) for gate in gates)
        for gate in gates:
            gate.let_go.set()


def test_a_note_begins_at_once_beside_jobs_that_run_away() -> None:
    with pool() as works:
        gates, slow = [Gate() for _ in range(4)], Gate()
        works.submit(slow, key="a remote far away", priority=Priority.NETWORK)
        assert slow.begun.wait(PATIENCE)
        jobs = [works.submit(gate, key=f"job {at}", priority=Priority.JOB) for at, gate in enumerate(gates)]
        assert gates[0].begun.wait(PATIENCE)
        note = Gate()
        works.submit(note, key="note", priority=Priority.NOTE)
        assert note.begun.wait(0.2), "a fifth of a second: a person is looking at the note"
        assert works.state.waiting == ("job 1", "job 2", "job 3")
        for gate in (*gates, note, slow):
            gate.let_go.set()
        wait(jobs, PATIENCE)


def test_two_of_one_key_never_go_on_together() -> None:
    order: list[str] = []
    with pool() as works:
        gate = Gate()
        works.submit(gate, key="note a.md", priority=Priority.NOTE)
        assert gate.begun.wait(PATIENCE)
        again = works.submit(instant(order, "again"), key="note a.md", priority=Priority.PERSON)
        other = works.submit(instant(order, "other"), key="note b.md", priority=Priority.NOTE)
        wait([other], PATIENCE)
        assert order == ["other"] and works.has("note a.md") and works.state.waiting == ("note a.md",)
        gate.let_go.set()
        wait([again], PATIENCE)
        assert order == ["other", "again"]


def test_a_result_and_a_failure_are_in_the_future() -> None:
    def broken(cancelled: Cancelled) -> None:
        raise KeyError("a bug of ours")

    with pool() as works:
        gate = Gate()
        gate.let_go.set()
        assert works.submit(gate, key="a", priority=Priority.NOTE).result(PATIENCE) == "done"
        with pytest.raises(KeyError):
            works.submit(broken, key="b", priority=Priority.NOTE).result(PATIENCE)
        assert works.submit(gate, key="b", priority=Priority.NOTE).result(PATIENCE) == "done"


def test_what_is_late_is_cancelled_or_asked_to_stop() -> None:
    clock = FakeClock()
    works = Pool(clock)
    gate = Gate()
    running = works.submit(gate, key="a", priority=Priority.JOB, deadline=clock.monotonic() + 60)
    waiting = works.submit(Gate(), key="b", priority=Priority.JOB, deadline=clock.monotonic() + 60)
    assert gate.begun.wait(PATIENCE)
    clock.advance(61)
    gate.let_go.set()
    assert running.result(PATIENCE) == "stopped"
    with pytest.raises(CancelledError):
        waiting.result(PATIENCE)


def test_closing_cancels_what_waits_and_asks_what_goes_on_to_stop() -> None:
    works = Pool(SystemClock())
    gate, other = Gate(), Gate()

    def until_stopped(cancelled: Cancelled) -> str:
        gate.begun.set()
        while not cancelled():
            gate.let_go.wait(0.01)
        return "stopped"

    going_on = works.submit(until_stopped, key="a", priority=Priority.JOB)
    waiting = works.submit(other, key="b", priority=Priority.JOB)
    assert gate.begun.wait(PATIENCE)
    works.close()
    assert going_on.result(PATIENCE) == "stopped" and waiting.cancelled() and not other.begun.is_set()
    assert works.submit(other, key="c", priority=Priority.PERSON).cancelled()


def test_closing_does_not_wait_for_ever() -> None:
    works = Pool(SystemClock())
    gate = Gate()
    works.submit(gate, key="a", priority=Priority.NOTE, patience=0.05)
    assert gate.begun.wait(PATIENCE)
    works.close()
    gate.let_go.set()


def test_it_says_when_nothing_goes_on_any_more() -> None:
    went_idle = Semaphore(0)
    with closing(Pool(SystemClock(), idle=went_idle.release)) as works:
        gates = [Gate(), Gate()]
        for number, gate in enumerate(gates):
            works.submit(gate, key=f"{number}", priority=Priority.PERSON)
            assert gate.begun.wait(PATIENCE)
        listening = Gate()
        works.submit(listening, key="mail", priority=Priority.LISTENING)

        gates[0].let_go.set()
        assert not went_idle.acquire(timeout=0.05)  # the other one goes on
        gates[1].let_go.set()

        assert went_idle.acquire(timeout=PATIENCE)
        listening.let_go.set()
