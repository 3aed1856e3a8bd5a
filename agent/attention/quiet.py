"""The hours without notices: spans of the clock on the wall, each on some days of the week.

A span belongs to the day on which it begins, so `fri 22-8` is quiet until Saturday morning. Where the clocks change,
a span begins and ends when a clock on the wall shows its hours.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from agent.config.attention_settings import QUIET_HOURS
from agent.dataclass import dataclass
from agent.errors import ConfigError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EVERY_DAY = frozenset(range(7))
_SPAN = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))? )?(\d{1,2})(?::(\d\d))?-(\d{1,2})(?::(\d\d))?")
_MOST_JOINED = 30
"""Spans that may follow on each other without a pause: more than two weeks of days that are quiet all day."""


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """From `start` to `end` minutes after the midnight at which its day begins; `days` counts from Monday as 0."""

    days: frozenset[int]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QuietHours:
    """All spans. `zone` is that of the clock on the wall; None: this machine's."""

    spans: tuple[QuietSpan, ...]
    zone: tzinfo | None

    def end_after(self, at: datetime) -> datetime | None:
        """The moment at which it is quiet no longer, in UTC; None if it is not quiet at `at`."""
        wall = self.on_the_wall(at)
        end = wall
        for _ in range(_MOST_JOINED):
            later = max((each for each in self._ends(end)), default=None)
            if later is None:
                break
            end = later
        return None if end == wall else self._moment(end, after=at)

    def holds(self, wall: datetime) -> bool:
        """True if it is quiet when the clock on the wall shows this."""
        return bool(self._ends(wall))

    def on_the_wall(self, at: datetime) -> datetime:
        """The local date and time, without a zone."""
        return at.astimezone(self.zone).replace(tzinfo=None)

    def day_of(self, at: datetime) -> date:
        """The local day."""
        return self.on_the_wall(at).date()

    def moment_on(self, day: date, hour: int) -> datetime:
        """The moment of an hour of a local day, in UTC."""
        return self._moment(datetime.combine(day, time(hour)))

    def _ends(self, wall: datetime) -> list[datetime]:
        """The ends of the spans that the clock is in; those of yesterday may reach into today."""
        found = []
        for back in (0, 1):
            midnight = datetime.combine(wall.date() - timedelta(days=back), time())
            for span in self.spans:
                start, end = midnight + timedelta(minutes=span.start), midnight + timedelta(minutes=span.end)
                if midnight.weekday() in span.days and start <= wall < end:
                    found.append(end)
        return found

    def _moment(self, wall: datetime, after: datetime | None = None) -> datetime:
        """The moment at which the clock shows this; of two, the first one that is later than `after`."""
        found = []
        for fold in (0, 1):
            moment = wall.replace(fold=fold)
            found.append((moment if self.zone is None else moment.replace(tzinfo=self.zone)).astimezone(UTC))
        return next((each for each in found if after is None or each > after.astimezone(UTC)), found[1])


def parse_quiet(text: str, zone: tzinfo | None = None) -> QuietHours:
    """The hours that a setting names, such as `22-8` or `mon-fri 22-8, sat-sun 23-10`; raises `ConfigError`.

    A span without days is for every day. One that ends before it begins ends on the next day; one that ends where it
    begins, such as `0-0`, is empty, and `0-24` is the whole day.
    """
    if re.fullmatch(QUIET_HOURS.pattern, text, re.ASCII) is None:
        raise ConfigError(
            "the quiet hours {text!r} cannot be read", hint="write them as 22-8, or as mon-fri 22-8, sat-sun 23-10",
            text=text,
        )  # fmt: skip
    return QuietHours(tuple(_span(found) for found in _SPAN.finditer(text)), zone)


def _span(found: re.Match[str]) -> QuietSpan:
    first, last, hour, minute, to_hour, to_minute = found.groups()
    start, end = int(hour) * 60 + int(minute or 0), int(to_hour) * 60 + int(to_minute or 0)
    return QuietSpan(_days(first, last), start, end if end >= start else end + 24 * 60)


def _days(first: str | None, last: str | None) -> frozenset[int]:
    """The days from the first to the last, over the end of the week if the last one comes earlier in it."""
    if first is None:
        return _EVERY_DAY
    start = _DAYS.index(first)
    count = (_DAYS.index(last or first) - start) % 7 + 1
    return frozenset((start + each) % 7 for each in range(count))
