"""Formats times for output."""

from datetime import datetime
from math import inf

from agent.clock import in_clock_zone
from agent.interfaces.cli.language import tr

_DAY = 86_400
_AGES = (
    (3_600, "1 minute ago", "{count} minutes ago", 60),
    (_DAY, "1 hour ago", "{count} hours ago", 3_600),
    (14 * _DAY, "1 day ago", "{count} days ago", _DAY),
    (61 * _DAY, "1 week ago", "{count} weeks ago", 7 * _DAY),
    (730 * _DAY, "1 month ago", "{count} months ago", 30 * _DAY),
    (inf, "1 year ago", "{count} years ago", 365 * _DAY),
)
"""Ages below so many seconds: how one and more of a unit are said, and the unit in seconds."""


def format_ago(when: datetime, now: datetime) -> str:
    """The time since `when` in one unit, as in "2 hours ago"."""
    seconds = int((now - when).total_seconds())
    if seconds < 0:
        return tr("in the future")
    if seconds < 60:
        return tr("just now")
    one, more, size = next(unit[1:] for unit in _AGES if seconds < unit[0])
    count = seconds // size
    return tr(one) if count == 1 else tr(more, count=count)


def format_time(when: datetime, now: datetime) -> str:
    """Date and time to the minute, in the reader's time zone."""
    return f"{in_clock_zone(when, now):%Y-%m-%d %H:%M}"
