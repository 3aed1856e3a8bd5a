"""The agent's state: sleeping → waking_up → awake → working → awake → going_to_sleep → sleeping.

`StateMachine` is told what happens, keeps the state outside the vault and publishes each transition. Tasks
run only while it is awake; whatever is due wakes it. Durations are those of the monotonic clock, so a computer that
slept, or whose clock was set, makes no minute of idleness or of work.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.events.types import StateChanged
from agent.records.table import Table
from agent.schedule.agent_state import AgentState, State
from agent.texts import Sentence

JUMP = 60.0
"""Seconds by which the wall clock leaves the monotonic one behind when the computer slept or the clock was set."""
_STARTED = Sentence("the daemon was started")
_IDLE = Sentence("nothing was left to do")
_JUMPED = Sentence("the computer was asleep, or its clock was set")
_DAMAGED = Sentence("the agent's state was damaged and was begun anew")


@dataclass(slots=True)
class _Work:
    ends_at: float
    is_asked_to_stop: bool = False


@dataclass(slots=True)
class StateMachine:
    """The agent's state in `table`. Each call has the time, local (`now`) and monotonic. Safe to use from
    several threads; `publish` is called without the lock.

    `idle_minutes` and `work_minutes` are the settings of these names. `problem` says that what was kept was damaged.
    """

    table: Table[AgentState]
    idle_minutes: float
    work_minutes: float
    publish: Callable[[StateChanged], object]
    problem: str = field(default="", init=False)
    _current: AgentState | None = field(default=None, init=False)
    _work: dict[str, _Work] = field(default_factory=dict, init=False)
    _done: list[str] = field(default_factory=list, init=False)
    _busy_at: float = field(default=0.0, init=False)
    _last: tuple[datetime, float] | None = field(default=None, init=False)
    _wish: str = field(default="", init=False)
    _events: deque[StateChanged] = field(default_factory=deque, init=False)
    _mutex: threading.RLock = field(default_factory=threading.RLock, init=False)

    def start(self, now: datetime, monotonic: float) -> AgentState:
        """Go on from what was kept: the agent sleeps after a start, whatever it did before."""
        with self._mutex:
            found = self.table.get()
            self.problem = _DAMAGED if found is None and self.table.has() else ""
            self._current = (found or AgentState("sleeping", now, _STARTED, now.date())).on_day(now)
            self._busy_at, self._last = monotonic, (now, monotonic)
            if self._current.state != "sleeping":
                self._go("sleeping", now, _STARTED)
            self._save()
        self._tell()
        return self.current

    @property
    def current(self) -> AgentState:
        """The state now; raises `RuntimeError` before `start`."""
        if self._current is None:
            raise RuntimeError("the state machine was not started")
        return self._current

    @property
    def is_awake(self) -> bool:
        """True if tasks may begin."""
        return self.current.state in ("awake", "working")

    def wake(self, reason: str, now: datetime, monotonic: float) -> None:
        """Wake up; if it is awake, it stays so for as long as it would after work."""
        with self._mutex:
            self._wish = ""
            self._busy_at = monotonic
            if not self.is_awake:
                self._go("waking_up", now, reason)
                self._go("awake", now, reason)
                self._current = replace(self.current, last_wakeup=now)
                self._save()
        self._tell()

    def begin(self, what: str, now: datetime, monotonic: float, most_minutes: float | None = None) -> None:
        """A job or task begins; several may go on at a time, each by its own name. `most_minutes` is its own limit."""
        self.wake(what, now, monotonic)
        with self._mutex:
            if not self._work:
                self._go("working", now, what)
                self._save()
            minutes = self.work_minutes if most_minutes is None else most_minutes
            self._work[what] = _Work(monotonic + minutes * 60)
        self._tell()

    def end(self, what: str, now: datetime, monotonic: float, *, done: str = "", is_task: bool = False) -> None:
        """Work has ended. `done` says in a few words what it did; empty if there was nothing to do. `is_task` counts
        as a task of the day."""
        with self._mutex:
            self._work.pop(what, None)
            self._busy_at = monotonic
            if done:
                self._done.append(done)
            if is_task:
                today = self.current.on_day(now)
                self._current = replace(today, tasks_completed_today=today.tasks_completed_today + 1)
            if not self._work and self.current.state == "working":
                self._go("awake", now, what)
            if self._wish and not self._work:
                self._fall_asleep(now, self._wish)
            self._save()
        self._tell()

    def sleep(self, reason: str, now: datetime) -> bool:
        """Go to sleep; False if work goes on: it sleeps when that ends."""
        with self._mutex:
            self._wish = reason if self._work else ""
            if self.is_awake and not self._work:
                self._fall_asleep(now, reason)
                self._save()
        self._tell()
        return not self._wish

    def tick(self, now: datetime, monotonic: float) -> tuple[str, ...]:
        """Let time pass: sleep after idle minutes or a jump of the clock, begin a new day. Returns the work that has
        gone on for too long and is to be asked to stop, each once."""
        with self._mutex:
            before = self._current
            self._current = self.current.on_day(now)
            is_jump = self._is_jump(now, monotonic)
            self._last = now, monotonic
            if self.current.since > now:  # the clock was set back
                self._current = replace(self.current, since=now)
            if self.current.state == "awake" and not self._work:
                if is_jump:
                    self._fall_asleep(now, _JUMPED)
                elif monotonic - self._busy_at >= self.idle_minutes * 60:
                    self._fall_asleep(now, _IDLE)
            late = [
                name for name, each in self._work.items() if not each.is_asked_to_stop and monotonic >= each.ends_at
            ]
            for name in late:
                self._work[name].is_asked_to_stop = True
            if self._current != before:
                self._save()
        self._tell()
        return tuple(late)

    def _is_jump(self, now: datetime, monotonic: float) -> bool:
        if self._last is None:
            return False
        before, then = self._last
        return abs((now - before) / timedelta(seconds=1) - (monotonic - then)) > JUMP

    def _fall_asleep(self, now: datetime, reason: str) -> None:
        self._wish = ""
        self._go("going_to_sleep", now, reason)
        self._go("sleeping", now, reason)
        self._current = replace(self.current, last_sleep=now)
        self._done.clear()

    def _go(self, after: State, now: datetime, reason: str) -> None:
        before = self.current
        done = tuple(self._done) if after == "sleeping" else ()
        woken = before.last_wakeup if after == "sleeping" else None
        self._events.append(StateChanged(before.state, after, reason, now, woken, done))
        self._current = before.to(after, now, reason)

    def _tell(self) -> None:
        """Publish what has happened, in order, also if a handler causes more of it."""
        while self._events:
            with self._mutex:
                event = self._events.popleft() if self._events else None
            if event is not None:
                self.publish(event)

    def _save(self) -> None:
        self.table.put(self.current)
