"""The only source of time, waiting and ids, so that tests can control all three."""

import time
from datetime import datetime
from typing import Protocol


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
