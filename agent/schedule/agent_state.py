"""The agent's state as a value that is kept outside the vault; `states` says how one becomes another."""

from dataclasses import replace
from datetime import date, datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table

State: TypeAlias = Literal["sleeping", "waking_up", "awake", "working", "going_to_sleep"]
MOST_TRANSITIONS = 100


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of state at a time, with its reason."""

    at: datetime
    before: State
    after: State
    reason: str


@dataclass(frozen=True, slots=True)
class AgentState:
    """The state, since when and why; `tasks_completed_today` counts from local midnight."""

    state: State
    since: datetime
    reason: str
    last_daily_reset: date
    last_wakeup: datetime | None = None
    last_sleep: datetime | None = None
    tasks_completed_today: int = 0
    transitions: tuple[Transition, ...] = ()

    def to(self, after: State, now: datetime, reason: str) -> "AgentState":
        """The next state."""
        moves = (*self.transitions, Transition(now, self.state, after, reason))[-MOST_TRANSITIONS:]
        return replace(self, state=after, since=now, reason=reason, transitions=moves)

    def on_day(self, now: datetime) -> "AgentState":
        """The state with a count of the day of `now`, in its own zone."""
        is_today = self.last_daily_reset == now.date()
        return self if is_today else replace(self, last_daily_reset=now.date(), tasks_completed_today=0)


def state_table(database: Records) -> Table[AgentState]:
    """The state that the daemon wrote last."""
    return Table(database, "agent-state", AgentState, is_flushed=False)
