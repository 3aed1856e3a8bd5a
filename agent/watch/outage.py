"""Outages: consecutive failures of one operation, with an increasing pause before each retry.

git may fail, or a folder may be unreadable, for a moment or for ever; a watcher that retried on each poll would do
little else. The caller decides what to do during the pause.
"""

from agent.dataclass import dataclass
from agent.errors import AgentError

FIRST = 1.0
LONGEST = 60.0


@dataclass(slots=True)
class Outage:
    """Consecutive failures of one operation. `problem` is one line, empty for none; `again_at` is the time to retry."""

    failures: int = 0
    problem: str = ""
    again_at: float = 0.0

    def may_ask(self, now: float) -> bool:
        """True if the pause is over; `now` is monotonic, in seconds."""
        return now >= self.again_at

    def failed(self, error: Exception, now: float) -> None:
        """Record a failure: pause twice as long as the last time, from one second to a minute."""
        pause = min(LONGEST, FIRST * 2 ** min(self.failures, 10))
        self.failures += 1
        said = error.message if isinstance(error, AgentError) else f"{error}" or type(error).__name__
        self.problem = said.splitlines()[0] if said else type(error).__name__
        self.again_at = now + pause

    def worked(self) -> None:
        """Record a success and end the pause."""
        self.failures, self.problem, self.again_at = 0, "", 0.0
