"""The times of an RRULE (RFC 5545), apart from what makes one of words: whatever reads jobs needs only these."""

from collections.abc import Iterator
from datetime import datetime

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
"""The days of a week, as a rule names them."""


def rule_times(rule: str, start: datetime, after: datetime) -> Iterator[datetime]:
    """The times of a rule from `after` on, all local and without an offset; `start` is when one without a start of its
    own begins. Raises `ValueError` for a rule that cannot be understood."""
    from dateutil.rrule import rrulestr  # few jobs have such a rule

    try:
        found: Iterator[datetime] = rrulestr(rule, dtstart=start).xafter(after, inc=True)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no rule: {rule}") from error
    return found
