"""An occurrence whose run is to begin, goes on, or is to be tried again."""

import threading
from concurrent.futures import Future
from dataclasses import field

from agent.dataclass import dataclass
from agent.runs.job_run import JobResult
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.vault.sync.turns import Turn


@dataclass(slots=True)
class PendingRun:
    """One occurrence. `due` is the monotonic time of the next try, `since` that when it came up.

    `attempt` counts the runs, `tries` the times that it was not this machine's turn. `is_approved`: its person has said
    yes. `ended` is what a run came to and its row, until that is written. `is_over`: nothing is left to do.
    `is_triggered`: a change of the notes at `paths`, or an event, starts it.
    """

    job: Job
    occurrence: Occurrence
    since: float
    stands_for: int = 1
    due: float = 0.0
    attempt: int = 1
    tries: int = 0
    is_approved: bool = False
    is_over: bool = False
    ended: tuple[JobResult, HistoryRow] | None = None
    turn: Turn | None = None
    waits_for_turn: str = ""
    paths: tuple[str, ...] = ()
    is_triggered: bool = False
    work: "Future[None] | None" = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """True while the pool has its work."""
        return self.work is not None and not self.work.done()

    @property
    def is_waiting(self) -> bool:
        """True if a change or an event starts it, and it has not begun."""
        is_new = self.attempt == 1 and self.ended is None and not self.is_over
        return self.is_triggered and is_new and self.work is None

    @property
    def waits_to_begin(self) -> bool:
        """True if it has not begun, as another machine has the turn, or nobody knows whether one has."""
        return bool(self.waits_for_turn) and self.attempt == 1 and self.ended is None and not self.is_over

    @property
    def missed(self) -> int:
        """The number of occurrences that its row stands for, 0 for itself only."""
        return self.stands_for if self.stands_for > 1 else 0
