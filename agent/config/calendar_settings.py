"""The person's calendars, which the agent only reads. Part of `settings.Settings`.

None of them may stand in a vault's own file: they name files, addresses and keys.
"""

from typing import Annotated

from agent.config.secrets import Secret
from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CalendarSettings:
    """The calendars of the person."""

    sources: Secret
    """The calendars by a name each, in a file as a mapping: `work: https://…/basic.ics`, `home: ~/home.ics`, or a
    mapping with `url`, `file` or `caldav`, `user`, `password` and `mine: true` for one in which only you write. It is
    a secret as a whole: many an address lets everybody in who knows it. Default empty: none."""

    minutes: Annotated[float, Range(1, 10_080, "minutes")]
    """The time between two looks at a calendar, in minutes. Default 15: a change is known before it matters, and a
    server is asked a hundred times a day."""
