"""The times of a job, with offset and zone. Start reading at `next_occurrences`.

Clock changes: a time that a change skips is that day's next valid moment, a time that occurs twice counts once (as in
Debian's cron). Steps of hours and minutes (`*/15`, `every: 2h`) go by elapsed time, so an hour that occurs twice has
them twice. The times follow from the note alone, so that all machines have the same ones.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from heapq import merge
from itertools import count, groupby, takewhile
from typing import assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.schedule.triggers import At, Cron, Every, RecurrenceRule, Timed, Trigger
from agent.times.rule import rule_times

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_WAIT = 50 * 366
"""Days without a time after which an expression has none any more: 29 February on a Sunday comes within 40 years."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time of a job. `key` names it in history and in claims, the same on all machines."""

    job: str
    at: datetime
    """With the offset and the zone of the job."""

    @property
    def key(self) -> str:
        return f"{self.job}@{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def next_times(
    triggers: Iterable[Trigger], zone: ZoneInfo, after: datetime, anchor: datetime | None = None
) -> Iterator[datetime]:
    """The times after `after` (aware), in order and in the zone, each once; endless unless all triggers are moments.

    `every` counts from `anchor` (aware), the job's `created`; without it from 1970.
    """
    timed = [each for each in triggers if isinstance(each, Timed)]
    streams = [_times(each, zone, after, anchor or _EPOCH) for each in timed]
    if len(streams) == 1:
        return streams[0]
    found = merge(*streams, key=lambda at: at.timestamp())
    return (moment for _, (moment, *_) in groupby(found, key=lambda at: at.timestamp()))


def _times(trigger: Timed, zone: ZoneInfo, after: datetime, anchor: datetime) -> Iterator[datetime]:
    match trigger:
        case Cron(expression):
            yield from _cron_times(expression, zone, after)
        case RecurrenceRule(rule):
            yield from _rule_times(rule, zone, after, anchor)
        case Every(seconds):
            step = timedelta(seconds=seconds)
            start = anchor.astimezone(UTC)
            steps = (after.astimezone(UTC) - start) // step + 1
            at = start + step * max(steps, 1)
            while True:
                yield at.astimezone(zone)
                at += step
        case At(moment):
            at = moment_in(moment, zone)
            if at.timestamp() > after.timestamp():  # the same wall time may come twice
                yield at
        case _:
            assert_never(trigger)


def _cron_times(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """The minutes of a cron expression; none after the last possible one."""
    start, floor = after.astimezone(zone).date() - timedelta(days=1), after.timestamp()
    for day in cron_days(expression, start):
        times = cron_times_on(expression, zone, day)
        yield from times if day > start + timedelta(days=2) else (at for at in times if at.timestamp() > floor)


def _rule_times(rule: str, zone: ZoneInfo, after: datetime, anchor: datetime) -> Iterator[datetime]:
    """The times of an RRULE within a hundred years; without a start of its own it counts from `anchor`. A time that a
    clock change skips is the next valid one."""
    start = anchor.astimezone(zone).replace(tzinfo=None, microsecond=0)
    floor = after.astimezone(zone).replace(tzinfo=None) - timedelta(days=2)
    last = max(floor, start) + timedelta(days=2 * _LONGEST_WAIT)
    found = takewhile(lambda local: local < last, rule_times(rule, start, floor))
    moments = (moment_in(local, zone) for local in found)
    yield from (at for at in moments if at.timestamp() > after.timestamp())


def cron_days(expression: str, start: date) -> Iterator[date]:
    """The days on which a cron expression has times, from a day on; an end if there is none for many years."""
    cron, day, last = _parse_cron(expression), start, start.replace(day=1) + timedelta(days=_LONGEST_WAIT)
    while day < last:
        if day.month not in cron.months:
            day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            continue
        if cron.match_day(day):
            last = max(last, day + timedelta(days=_LONGEST_WAIT))
            yield day
        day += timedelta(days=1)


def cron_times_on(expression: str, zone: ZoneInfo, day: date) -> Sequence[datetime]:
    """The times of a cron expression on one of its days, in order."""
    cron = _parse_cron(expression)
    clock = [(hour, minute) for hour in sorted(cron.hours) for minute in sorted(cron.minutes)]
    times = [datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone) for hour, minute in clock]
    if is_ordinary(day, zone):
        return times
    if not cron.parts[1].startswith("*") and not cron.parts[2].startswith("*"):
        moved = (moment_in(at.replace(tzinfo=None), zone) for at in times)
        return list({at.timestamp(): at for at in moved}.values())
    both = (each for at in times for each in (at, at.replace(fold=1)) if _exists(each))
    return sorted({at.timestamp(): at for at in both}.values(), key=lambda at: at.timestamp())


def is_ordinary(day: date, zone: ZoneInfo) -> bool:
    """True for a day of a zone without a clock change."""
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    return start.utcoffset() == (start + timedelta(days=1)).utcoffset()


@lru_cache(maxsize=2048)
def _parse_cron(expression: str) -> CronSim:
    """The fields of an expression; its own times are not used, since it loses hours where a change is of half an hour
    (Lord Howe), and finds some that do not exist where a change is at midnight (Santiago)."""
    return CronSim(expression, datetime(2024, 1, 1))


def _exists(at: datetime) -> bool:
    """True unless a clock change skips this local time."""
    return at.astimezone(UTC).astimezone(at.tzinfo).replace(tzinfo=None) == at.replace(tzinfo=None)


def moment_in(moment: datetime, zone: ZoneInfo) -> datetime:
    """A moment in a zone: without an offset it is that zone's; one that a clock change skips is the next valid one, one
    that occurs twice the first."""
    if moment.tzinfo is not None:
        return moment.astimezone(zone)
    local = moment.replace(tzinfo=zone)
    there_and_back = local.astimezone(UTC).astimezone(zone)
    if there_and_back.replace(tzinfo=None) == moment:
        return local
    return _first_valid(moment, zone)


def _first_valid(moment: datetime, zone: ZoneInfo) -> datetime:
    """The first moment after the gap in which this local time lies."""
    before = moment.replace(tzinfo=zone, fold=0).utcoffset() or timedelta()
    after = moment.replace(tzinfo=zone, fold=1).utcoffset() or timedelta()
    low, high = sorted((moment - before, moment - after))
    low, high = low.replace(tzinfo=UTC), high.replace(tzinfo=UTC)
    offset = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0).astimezone(zone)


UTC_NAME = "UTC"
_SET_IN = (
    *("/etc/localtime", "/usr/local/etc/localtime", "/etc/timezone", "/var/db/zoneinfo"),
    *("/etc/sysconfig/clock", "/etc/conf.d/clock"),
)
"""The files that say which zone a machine is in, beside the variable TZ."""
_looks = count()
_OLD = ("Etc/", "SystemV/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/", "posix/", "right/")


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """The zone of this name, such as `Europe/Berlin`; raises `UserError`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UserError(
            "no such time zone: {name}", hint="use a name such as Europe/Berlin, Asia/Shanghai or UTC", name=name
        ) from error


def machine_zone() -> ZoneInfo:
    """The zone of this machine as it is now, UTC where it has none with a name."""
    return _zone_by((os.environ.get("TZ"), *map(_stamp, _SET_IN)))


@lru_cache(maxsize=1)
def _zone_by(signs: object) -> ZoneInfo:
    """The zone while these signs stay as they are: to look for it takes 3 ms, and each job without a zone asks."""
    from tzlocal import get_localzone_name, reload_localzone

    try:
        if next(_looks):
            reload_localzone()  # looks twice; it may have been changed since the first look
        return zone_of(get_localzone_name() or UTC_NAME)
    except (LookupError, OSError, ValueError, UserError):
        return zone_of(UTC_NAME)


def _stamp(path: str) -> tuple[int, int, int] | None:
    """The marks of a file that change when it, or a link, is written anew."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """The names that a person may choose from, sorted; without the old ones, such as `Cuba` or `Etc/GMT+3`."""
    names = sorted(each for each in available_timezones() if "/" in each and not each.startswith(_OLD))
    return (UTC_NAME, *names)
