"""The only source of time, waiting and ids, so that tests can control all three.

A clock that was set (`SetClock`) runs at another time, perhaps faster. Plans follow it: when something is due, how long
it has been quiet. What this machine needs or waits for does not go faster: the limit of a run, another process's lock.
That is measured by `in_machine_seconds(clock)`, which has the same dates, and is the clock of a vault.
"""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol, cast

from agent.dataclass import dataclass


class Clock(Protocol):
    """The source of time for the whole package; the one in `tests/fakes.py` advances only on request."""

    def now(self) -> datetime:
        """The wall-clock time, with the local offset."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        ...

    def new_id(self) -> str:
        """A new ULID: 26 characters, sortable by time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def new_id(self) -> str:
        from ulid import ULID

        return str(ULID())


class Adjusted(Protocol):
    """What a clock has that may differ from the machine's."""

    def time_at(self, seconds: float) -> float:
        """What it shows at a time of the machine; both in seconds since 1970."""
        ...

    def in_machine_seconds(self) -> Clock:
        """The clock with the same dates, and waits and durations in the machine's own seconds."""
        ...


@dataclass(frozen=True, slots=True)
class SetClock:
    """A clock that shows `start` at the moment `began` of the machine (`time.time`, `time.monotonic`), and runs `rate`
    times as fast as the machine's."""

    start: datetime
    rate: float
    began: tuple[float, float]

    @classmethod
    def from_now(cls, start: datetime | None, rate: float) -> "SetClock":
        """The clock that shows `start` now; None: the machine's time."""
        began = time.time(), time.monotonic()
        return cls(start or datetime.fromtimestamp(began[0], UTC), rate, began)

    def now(self) -> datetime:
        return self._at(time.monotonic() - self.began[1])

    def monotonic(self) -> float:
        return self.began[1] + (time.monotonic() - self.began[1]) * self.rate

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.rate)

    def new_id(self) -> str:
        from ulid import ULID

        return str(ULID.from_datetime(self.now()))

    def time_at(self, seconds: float) -> float:
        passed = seconds - self.began[0]
        return self.start.timestamp() + (passed * self.rate if passed > 0 else passed)  # no faster before it was set

    def in_machine_seconds(self) -> Clock:
        return _MachineSeconds(self)

    def _at(self, passed: float) -> datetime:
        return (self.start.astimezone(UTC) + timedelta(seconds=passed * self.rate)).astimezone()


@dataclass(frozen=True, slots=True)
class _MachineSeconds:
    """The dates and ids of a clock that was set, and the waits of the machine."""

    clock: SetClock

    def now(self) -> datetime:
        return self.clock.now()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def new_id(self) -> str:
        return self.clock.new_id()

    def time_at(self, seconds: float) -> float:
        return self.clock.time_at(seconds)

    def in_machine_seconds(self) -> Clock:
        return self


def in_machine_seconds(clock: Clock) -> Clock:
    """The clock, with waits and durations in the machine's own seconds; the same clock if it was not set."""
    adjusted = _adjusted(clock)
    return clock if adjusted is None else adjusted.in_machine_seconds()


def clock_zone(now: datetime) -> tzinfo | None:
    """The zone of the clock that shows `now`, for `datetime.astimezone`: None is this machine's, in which each moment
    has the offset of its day; a clock elsewhere has the offset of `now`."""
    return None if now.astimezone().utcoffset() == now.utcoffset() else now.tzinfo


def in_clock_zone(at: datetime, now: datetime) -> datetime:
    """The moment as the clock that shows `now` shows it, also on the other side of a clock change; without an offset,
    `at` is what it shows. A moment that no clock of this machine can show stays as it is."""
    zone = clock_zone(now)
    if at.tzinfo is None and zone is not None:
        return at.replace(tzinfo=zone)
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return at if at.tzinfo is not None else at.replace(tzinfo=now.tzinfo)


def time_on_clock(clock: Clock, seconds: float) -> float:
    """What the clock showed at a time of the machine, such as that of a file; both in seconds since 1970."""
    adjusted = _adjusted(clock)
    return seconds if adjusted is None else adjusted.time_at(seconds)


def _adjusted(clock: Clock) -> Adjusted | None:
    """The clock if it may differ from the machine's. To look for a protocol takes Python 15 µs, too much for each turn
    of a daemon."""
    return cast(Adjusted, clock) if hasattr(clock, "in_machine_seconds") else None


def rate_of(clock: Clock) -> float:
    """How many of its seconds pass in one of the machine's."""
    return time_on_clock(clock, _LATER + 1) - time_on_clock(clock, _LATER)


_LATER = 1e10
"""A time of the machine after every start of a clock."""
