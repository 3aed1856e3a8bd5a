"""What procedures look at: the days' logs, what the person has stated, and their notes; all of it the person's own."""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.growth.procedures.procedure import ProcedureContext
from agent.markdown.title import short_title
from agent.memory import daily
from agent.memory.daily import Logged
from agent.memory.store import StoredEntry, entry_paths_on, load_entries
from agent.runs.owner import is_stated_by_owner

QUOTED = 200
"""The most characters of a quotation."""


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """One task in the log of a day."""

    day: date
    logged: Logged


def days_before(last: date, count: int) -> tuple[date, ...]:
    """So many days up to the last one, in order."""
    return tuple(last - timedelta(days=back) for back in range(count - 1, -1, -1))


def logs(context: ProcedureContext, days: Iterable[date]) -> tuple[LoggedTask, ...]:
    """The tasks in the logs of these days."""
    return tuple(LoggedTask(day, each) for day in days for each in daily.log(context.day_note(day)))


def stated(context: ProcedureContext, days: Iterable[date]) -> tuple[StoredEntry, ...]:
    """What the person has stated on these days, newest first: not what a model concluded, what a guest said, or what
    was replaced since."""
    found = load_entries(context.vault, (path for day in days for path in entry_paths_on(context.vault, day)))
    return tuple(each for each in found if is_stated_by_owner(each, context.runs.recall.foreign))


def quote(text: str) -> str:
    """The beginning of a text as a quotation on one line that does nothing in an editor."""
    return f"“{daily.inert(daily.cut(' '.join(text.split()), QUOTED))}”"


def bullets(lines: Iterable[str]) -> str:
    """The lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def title_of(name: str) -> str:
    """A title for a note, from its name, such as `20-skills-abilities.md`."""
    words = re.sub(r"^\d+-", "", PurePosixPath(name).stem).replace("-", " ").replace("_", " ")
    return short_title(words) or words
