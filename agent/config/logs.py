"""Logging: all the package's loggers use the level `log.level` and write to standard error, without known secrets."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agent.clock import Clock
from agent.config.masking import redact
from agent.errors import AgentError
from agent.escape import escape
from agent.lazy import later

if TYPE_CHECKING:
    from agent.config.crashes import keep_crash
else:
    keep_crash = later("agent.config.crashes", "keep_crash")


def report_from(level: str, crashes: Path, clock: Clock) -> None:
    """Show messages of `level` (`debug`, `info`, `warning`, `error`) and above on standard error, escaped, and keep
    where unforeseen errors among them came from, in the folder `crashes`."""

    class Escaped(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return escape(super().format(record))

    class OnStandardError(logging.StreamHandler[TextIO]):
        def emit(self, record: logging.LogRecord) -> None:
            self.stream = sys.stderr  # looked up on each call: the calling program may have replaced it
            super().emit(record)

    logger = logging.getLogger("agent")
    logger.setLevel(level.upper())
    logger.propagate = False
    if not logger.handlers:
        stream = OnStandardError()
        stream.setFormatter(Escaped("%(levelname)s %(name)s: %(message)s"))
        logger.addHandler(stream)
        logger.addHandler(CrashRecorder(crashes, clock))


class CrashRecorder(logging.Handler):
    """Keeps where reported errors came from, other than those foreseen."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(logging.WARNING)
        self._folder = folder
        self._clock = clock

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, AgentError | OSError):
            keep_crash(self._folder, error, self._clock.now())


class NoSecrets(logging.Filter):
    """A log filter: secrets become `***` in messages and in their tracebacks."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self.secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), self.secrets), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text, self.secrets)
        return True


def keep_out_of_logs(secrets: tuple[str, ...], name: str = "agent") -> None:
    """Add the filter to every handler of this logger, replacing an earlier filter."""
    for handler in logging.getLogger(name).handlers:
        for earlier in [each for each in handler.filters if isinstance(each, NoSecrets)]:
            handler.removeFilter(earlier)
        handler.addFilter(NoSecrets(secrets))
