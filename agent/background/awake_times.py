"""The times awake of the present day in which something was done, on this machine, outside the vault.

They go into the day's log together, in one commit once the day is over. What was done has its own place there at once.
"""

from collections.abc import Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.memory import daily
from agent.records.database import Records
from agent.records.table import Table
from agent.texts import Language, text

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
