"""What `ask` was asked to do: light to load, for whoever runs it, in this process or in the daemon."""

from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.events.runs import Speaker

if TYPE_CHECKING:
    from agent.runs.decisions import GivenDecision

SILENT = "{session} has been silent for too long and is over; this is a new session"
"""What is said of a session in which nobody goes on."""


@dataclass(frozen=True, slots=True)
class RunTask:
    """A new task of a speaker, in the session at the path `session` (empty: in a new one); or the run in the session
    `resume`, which was cut off or waits, once the decision `given` is recorded. `role` is `owner` or `guest`.

    `untrusted` names the source of text in the task that is not the speaker's own, empty if there is none.
    `patience` is how many seconds the process may take to end that is still in the session.
    """

    task: str
    speaker: Speaker
    role: str
    session: str = ""
    resume: str = ""
    given: "GivenDecision | None" = None
    patience: float = 0.0
    untrusted: str = ""

    @property
    def is_owners(self) -> bool:
        """True for a task of the owner's, who is told beside the answer what is new."""
        return self.role == "owner"
