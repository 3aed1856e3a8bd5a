"""Whether the agent sleeps, is awake or works: what wakes it, and the lines in the day's log about what it did when.

Jobs, tasks and requests in notes tell when they begin and end. A person's `wake` and `sleep` come from other processes;
the daemon takes them in its next turn. A time awake in which nothing was done leaves nothing in the vault, and those of
a day are written together once it is over: until then they stand on this machine, outside the vault. What was done has
its own place in the log at once.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import date, datetime

from agent.background.part import PACE
from agent.background.pool import Pool
from agent.background.presence_files import PresenceOrder, order_is_done, take_order
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import JobEnded, StateChanged
from agent.memory import daily
from agent.records.database import Records
from agent.records.table import Table
from agent.schedule.agent_state import state_table
from agent.schedule.history import Outcome
from agent.schedule.states import StateMachine
from agent.texts import Language, Sentence, text
from agent.vault.change import Append, Stamp
from agent.workspace.workspace import Workspace

_NAMED = 5
"""The most pieces of work that a line names."""


@dataclass(frozen=True, slots=True)
class AwakeTime:
    """A time awake, and what was done in it, each in a few words."""

    begun: datetime
    ended: datetime
    done: tuple[str, ...]

    def line(self, language: Language) -> str:
        """It as a list item, with a line end."""
        done = list(dict.fromkeys(self.done))
        named = text("answers.comma", language).join(daily.inert(each) for each in done[:_NAMED])
        more = f" … ({len(done)})" if len(done) > _NAMED else ""
        begun, ended = f"{self.begun:%H:%M}", f"{self.ended:%H:%M}"
        return f"- {text('jobs.awake', language, begun=begun, ended=ended, done=named + more)}\n"


def load_times(records: Records) -> tuple[AwakeTime, ...]:
    """The times that are not in the vault yet, in their order; none where they are damaged."""
    return _table(records).get() or ()


def save_times(records: Records, times: Sequence[AwakeTime]) -> None:
    """Write the times that are not in the vault yet."""
    _table(records).put(tuple(times))


def _table(records: Records) -> Table[tuple[AwakeTime, ...]]:
    return Table(records, "awake-times", tuple[AwakeTime, ...], is_flushed=False)


_NOTE = "note "
"""The beginning of the pool's key of a request in a note."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Presence:
    """The state of one vault's agent. `publish` is told of each change, and of the end of each run of a job."""

    workspace: Workspace
    pool: Pool
    publish: Callable[[object], object]
    machine: StateMachine = field(init=False)
    problem: str = ""
    sent_to_sleep: datetime | None = field(default=None, init=False)
    """When its person has sent the agent to sleep; None once something has woken it."""
    _heard: list[AwakeTime] = field(default_factory=list, init=False)
    _unwritten: list[AwakeTime] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        schedule = self.workspace.settings.schedule
        table = state_table(self.workspace.vault.records)
        self.machine = StateMachine(table, schedule.idle_minutes, schedule.work_minutes, self._hear)

    def start(self, _: object) -> None:
        """Go on from what was kept; an order of before the start counts no more."""
        take_order(self.workspace.vault)
        order_is_done(self.workspace.vault)
        self.machine.start(*self._now)
        self.problem = self.machine.problem
        self._unwritten = list(load_times(self.workspace.vault.records))

    def turn(self, _: float) -> float:
        """Do what a person ordered, let time pass, and write down when it was awake on a day that is over."""
        try:
            self._obey()
            asked = next((key for key in self.pool.state.running if key.startswith(_NOTE)), "")
            if asked:
                self.wake(asked)
            self.machine.tick(*self._now)
            self._write_days_that_are_over()
        except (AgentError, OSError) as error:
            logger.info("the agent's state: %s", error)
        return PACE

    def is_awake(self) -> bool:
        """True if tasks may begin."""
        return self.machine.is_awake

    def wake(self, reason: str) -> None:
        """Wake up, from any thread."""
        self.sent_to_sleep = None
        self.machine.wake(reason, *self._now)

    @contextmanager
    def working(self, title: str, *, is_task: bool = False) -> Iterator[list[str]]:
        """Work until the end of the block, from any thread; what is put into the list was done in it.
        `is_task` counts as a task of the day."""
        done: list[str] = []
        self.sent_to_sleep = None
        self.machine.begin(title, *self._now)
        try:
            yield done
        finally:
            self.machine.end(title, *self._now, done=", ".join(done), is_task=is_task)

    def ran(self, job: str, outcome: Outcome) -> None:
        """Tell that a run of a job is over, from any thread."""
        self.publish(JobEnded(job, outcome))

    @property
    def _now(self) -> tuple[datetime, float]:
        return self.workspace.clock.now().astimezone(), self.workspace.clock.monotonic()

    def _obey(self) -> None:
        order = take_order(self.workspace.vault)
        if order is not None:
            try:
                self._carry_out(order)
            finally:
                order_is_done(self.workspace.vault)

    def _carry_out(self, order: PresenceOrder) -> None:
        if order.order == "wake":
            self.wake(order.reason)
        else:
            self.machine.sleep(order.reason, self._now[0])
            self.sent_to_sleep = self._now[0]

    def _hear(self, event: StateChanged) -> None:
        self.publish(event)
        if event.after == "sleeping" and event.done:
            self._heard.append(AwakeTime(event.woken or event.at, event.at, event.done))

    def _write_days_that_are_over(self) -> None:
        """Keep the times awake of today, and write those of each day before into its log, in one commit."""
        records, heard = self.workspace.vault.records, len(self._heard)
        if not heard and not self._unwritten:
            return
        times = [*self._unwritten, *self._heard[:heard]]
        today = self._now[0].date()
        is_over = self.machine.current.state == "sleeping"  # else a time that began on such a day may go on
        for day in sorted({each.begun.date() for each in times if is_over and each.begun.date() < today}):
            self._write(day, [each for each in times if each.begun.date() == day])
            times = [each for each in times if each.begun.date() != day]
        if times != self._unwritten:
            save_times(records, times)
        self._unwritten = times
        del self._heard[:heard]

    def _write(self, day: date, times: Sequence[AwakeTime]) -> None:
        """Add the lines that the day's log does not have: a write may be repeated, as the times are forgotten after
        it."""
        vault, language = self.workspace.vault, self.workspace.settings.vault.language
        path = vault.home.day_note(day)
        there = set((vault.read(path) or b"").decode("utf-8", "replace").splitlines())
        lines = "".join(line for each in times if (line := each.line(language)).rstrip("\n") not in there).encode()
        if not lines:
            return
        head, section = daily.beginning(vault, day), daily.section("times", language).encode()
        with vault.transaction(Sentence("memory(daily): when it was awake"), Stamp("agent", tool="daily")) as change:
            change.requests.append(Append(path, lines, head, section))
