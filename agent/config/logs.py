"""Logging: all the package's loggers use the level `log.level` and write to standard error, without known secrets."""

import logging
import sys
from typing import TextIO

from agent.config.masking import redact
from agent.escape import escape


def report_from(level: str) -> None:
    """Show messages of `level` (`debug`, `info`, `warning`, `error`) and above on standard error, escaped."""
    import logging  # 8 ms to import, which `--help` saves

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
