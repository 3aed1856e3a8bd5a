"""Leaves word of how the daemon does, in a file for `status`: written when something has changed.

What this process has logged as a warning or an error in the last day, for `status`: nobody reads a daemon's log.
"""

import json
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path

from agent.background.pool import Pool
from agent.clock import Clock
from agent.config.private import replace
from agent.dataclass import dataclass
from agent.events.types import TurnEnded

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
        """The warnings of the last day, the oldest first."""
        since = self._clock.now() - KEPT
        with self.lock:  # type: ignore[union-attr]  # typed as if a handler could have none
            while self._kept and self._kept[0].at < since:
                self._kept.popleft()
            return tuple(self._kept)


logger = logging.getLogger(__name__)


@dataclass(slots=True)
class JsonStateFile:
    """The file at `path`. `problems` says what does not work, a line for each part; `warnings` are those that were
    logged since `starting`; `masked` covers up secrets in all of them."""

    path: Path
    pool: Pool
    problems: Callable[[], Mapping[str, str]]
    masked: Callable[[str], str]
    warnings: RecentWarnings
    _seen: object = field(default=None, init=False)
    _written: dict[str, object] = field(default_factory=dict, init=False)

    def starting(self) -> None:
        """Say that the daemon is there, and not ready yet."""
        self.warnings.listen()
        self._write({"starting": True})

    def turn_ended(self, event: TurnEnded) -> None:
        """Say how it goes now."""
        work, wrong, logged = self.pool.state, self.problems(), self.warnings.recent()
        seen = event, work, wrong, logged
        if seen == self._seen and not (logged or event.problem or any(wrong.values())):  # no secret to cover up
            return
        self._seen = seen
        problems = dict.fromkeys(filter(None, (event.problem, *wrong.values())))
        self._write(
            {
                "hints": event.hints,
                "files": event.files,
                "waiting": event.waiting,
                "last_scan": event.last_scan,
                "index": wrong.get("index") or None,
                "runs": len(work.running),
                "work": {"running": list(work.running), "waiting": list(work.waiting)},
                "failures": event.failures,
                "problem": self.masked("; ".join(problems)),
                "logged": self._logged(logged),
            }
        )

    def close(self) -> None:
        """Hear no more of what is logged."""
        self.warnings.close()

    def _logged(self, found: Sequence[LoggedWarning]) -> dict[str, object] | None:
        """The number of warnings in the last day, and the last one; None for none."""
        if not found:
            return None
        last = found[-1]
        return {"count": len(found), "last": self.masked(last.message), "at": last.at.isoformat(timespec="seconds")}

    def _write(self, state: dict[str, object]) -> None:
        if state == self._written:
            return
        try:
            replace(self.path, json.dumps({"pid": os.getpid(), **state}))
        except OSError as error:  # a full disk; `status` has the last word that could be written
            logger.info("cannot leave word for status: %s", error)
        self._written = state
