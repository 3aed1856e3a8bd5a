"""Outages: failures in a row of one thing are counted, put in one line, and followed by longer and longer pauses.

git may fail and a folder may be unreadable for a moment or for good; a watcher that asked each time would do little
else. The caller decides what to do meanwhile.
"""

from dataclasses import dataclass

from agent.errors import AgentError

FIRST = 1.0
LONGEST = 60.0


@dataclass(slots=True)
class Outage:
    """Failures in a row of one thing. `problem` is one line, empty while it works; `again_at` when to ask again."""

    failures: int = 0
    problem: str = ""
    again_at: float = 0.0

    def may_ask(self, now: float) -> bool:
        """Whether the pause is over; `now` is in seconds and never goes back."""
        return now >= self.again_at

    def failed(self, error: Exception, now: float) -> None:
        """It did not work: pause for twice as long as the last time, from one second to a minute."""
        pause = min(LONGEST, FIRST * 2 ** min(self.failures, 10))
        self.failures += 1
        said = error.message if isinstance(error, AgentError) else f"{error}" or type(error).__name__
        self.problem = said.splitlines()[0] if said else type(error).__name__
        self.again_at = now + pause

    def worked(self) -> None:
        """It works again."""
        self.failures, self.problem, self.again_at = 0, "", 0.0
