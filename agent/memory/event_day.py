"""The day of what happened: the same words said of two days tell of two things."""

from agent.memory.entry import Entry
from agent.memory.understanding.statements import is_event


def event_day(entry: Entry) -> str:
    """The day (ISO) on which an entry tells what happened then; empty for an entry that tells anything else."""
    return entry.created.date().isoformat() if entry.type.is_stated and is_event(entry.text) else ""
