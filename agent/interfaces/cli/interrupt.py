"""Ctrl-C during a run: the first asks it to stop at its next chance, which keeps what was done; the second insists."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType


@dataclass(slots=True)
class Stop:
    """Whether somebody has asked to stop, as a function to ask."""

    signals: list[int] = field(default_factory=list)

    def __call__(self) -> bool:
        return bool(self.signals)

    @property
    def for_good(self) -> bool:
        """Whether the whole program is to end, and not this run alone."""
        return signal.SIGTERM in self.signals


@contextmanager
def stopped_by_ctrl_c() -> Iterator[Stop]:
    """Whether Ctrl-C was pressed, as a function to ask; SIGTERM counts the same."""
    stop = Stop()

    def note(number: int, frame: FrameType | None) -> None:
        if stop.signals:
            raise KeyboardInterrupt
        stop.signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
