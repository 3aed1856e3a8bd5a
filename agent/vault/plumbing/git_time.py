"""Times of commits, which anybody may have written: parsed here and nowhere else, and never with an error.

git keeps a time as seconds since 1970 and an offset, and takes any number for both. Times that a calendar does not have
become the nearest one that it has, so that their order stays.
"""

import re
from datetime import UTC, datetime, timedelta, timezone

RAW = "--date=raw"
"""git's option for the form that `git_time` parses."""
_FIRST, _LAST = -62_135_510_400, 253_402_214_400
"""Seconds: a day after the first time that a `datetime` can have, and a day before the last, in every zone."""
_RAW = re.compile(r"\s*([+-]?\d{1,20})(?:\s+([+-]?)(\d{2})(\d{2}))?\s*")


def at_seconds(seconds: int) -> datetime:
    """The time so many seconds after 1970, in UTC; the nearest one that a calendar has."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(seconds, _FIRST), _LAST))


def git_time(raw: str) -> datetime:
    """The time in git's raw form, such as `1764000000 +0100`; 1970 for what is no number, UTC for no real offset."""
    found = _RAW.fullmatch(raw)
    if found is None:
        return at_seconds(0)
    minutes = int(found[3] or 0) * 60 + int(found[4] or 0)
    zone = timezone(timedelta(minutes=-minutes if found[2] == "-" else minutes)) if minutes < 24 * 60 else UTC
    return at_seconds(int(found[1])).astimezone(zone)
