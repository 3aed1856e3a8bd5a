"""Whether the agent sleeps, is awake or works, and what wakes it.

Jobs, tasks and requests in notes tell when they begin and end. A person's `wake` and `sleep` come from other processes;
the daemon takes them in its next turn. What was done has its place in the day's log; when the agent was awake for it is
nothing that a person looks for in their day: `status` and the API have it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime

from agent.background.part import PACE
from agent.background.pool import Pool
from agent.background.presence_files import PresenceOrder, order_is_done, take_order
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import JobEnded
from agent.schedule.agent_state import state_table
from agent.schedule.history import Outcome
from agent.schedule.states import StateMachine
from agent.workspace.workspace import Workspace

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

    def __post_init__(self) -> None:
        schedule = self.workspace.settings.schedule
        table = state_table(self.workspace.vault.records)
        self.machine = StateMachine(table, schedule.idle_minutes, schedule.work_minutes, self.publish)

    def start(self, _: object) -> None:
        """Go on from what was kept; an order of before the start counts no more."""
        take_order(self.workspace.vault)
        order_is_done(self.workspace.vault)
        self.machine.start(*self._now)
        self.problem = self.machine.problem

    def turn(self, _: float) -> float:
        """Do what a person ordered, and let time pass."""
        try:
            self._obey()
            asked = next((key for key in self.pool.state.running if key.startswith(_NOTE)), "")
            if asked:
                self.wake(asked)
            self.machine.tick(*self._now)
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
