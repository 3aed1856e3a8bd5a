"""What this process has logged as a warning or an error in the last day, for `status`: nobody reads a daemon's log."""

import logging
from collections import deque
from datetime import datetime, timedelta

from agent.clock import Clock
from agent.dataclass import dataclass

KEPT = timedelta(days=1)
_MOST = 1_000
"""Warnings that are kept at most, so that one that comes again and again takes no memory."""
_LONGEST = 300
"""Characters of a message that are kept."""


@dataclass(frozen=True, slots=True)
class LoggedWarning:
    """The message of a record, without its traceback."""

    at: datetime
    message: str


class RecentWarnings(logging.Handler):
    """Keeps the warnings and errors of the package's loggers, between `listen` and `close`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(logging.WARNING)
        self._clock = clock
        self._kept: deque[LoggedWarning] = deque(maxlen=_MOST)

    def listen(self) -> None:
        """Hear what is logged from now on."""
        logging.getLogger("agent").addHandler(self)

    def close(self) -> None:
        """Hear no more."""
        logging.getLogger("agent").removeHandler(self)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # its values do not fit its text; the work that logs it goes on
            message = str(record.msg)
        self._kept.append(LoggedWarning(self._clock.now(), " ".join(message.split())[:_LONGEST]))

    def recent(self) -> tuple[LoggedWarning, ...]:
        """Those of the last day, the oldest first."""
        since = self._clock.now() - KEPT
        with self.lock:  # type: ignore[union-attr]  # typed as if a handler could have none
            while self._kept and self._kept[0].at < since:
                self._kept.popleft()
            return tuple(self._kept)
