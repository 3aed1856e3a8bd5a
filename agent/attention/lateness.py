"""Says of a notice that it comes late: it was to reach its person at a time, and that is over."""

from datetime import datetime, timedelta

from agent.events.notices import NoticeRaised
from agent.texts import Language, text

LATE = timedelta(minutes=2)
"""How much later than its time a notice is late: a daemon and a channel take seconds."""


def late_line(raised: NoticeRaised, now: datetime, language: Language) -> str:
    """A line that says since when it is late; empty if it is not, or was to come at no certain time."""
    due = datetime.fromisoformat(raised.due) if raised.due else None
    if due is None or now - due < LATE:
        return ""
    return text("notices.late", language, at=f"{due:%Y-%m-%d %H:%M}")
