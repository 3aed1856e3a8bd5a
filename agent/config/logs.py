"""Logging: all the package's loggers use the level `log.level` and write to standard error."""

import sys
from typing import TextIO

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
