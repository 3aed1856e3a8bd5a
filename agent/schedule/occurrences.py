"""The times of a job, with offset and zone. Start reading at `next_occurrences`.

Clock changes: a time that a change skips is that day's next valid moment, a time that occurs twice counts once (as in
Debian's cron). Steps of hours and minutes (`*/15`, `every: 2h`) go by elapsed time, so an hour that occurs twice has
them twice. The times follow from the note alone, so that all machines have the same ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import groupby
from typing import assert_never
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agent.schedule.triggers import At, Cron, Every, Timed, Trigger

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    timed = (each for each in triggers if isinstance(each, Timed))
    streams = [_times(each, zone, after, anchor or _EPOCH) for each in timed]
    found = merge(*streams, key=lambda at: at.timestamp())
    return (moment for _, (moment, *_) in groupby(found, key=lambda at: at.timestamp()))


def _times(trigger: Timed, zone: ZoneInfo, after: datetime, anchor: datetime) -> Iterator[datetime]:
    match trigger:
        case Cron(expression):
            yield from _cron_times(expression, zone, after)
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
            if at > after:
                yield at
        case _:
            assert_never(trigger)


def _cron_times(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """The minutes of a cron expression; none after the last possible one."""
    try:
        yield from CronSim(expression, after.astimezone(zone))
    except CronSimError:
        return


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
