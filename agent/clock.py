"""The only source of time, waiting and ids, so that tests own all three."""

import time
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The source of time for the whole package; `tests/fakes.py` has one whose time only moves when told."""

    def now(self) -> datetime:
        """The wall-clock time, with the local offset."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...

    def new_id(self) -> str:
        """A fresh ULID: 26 characters, sortable by time."""
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
