"""What is reported while something runs, kept to be looked at; afterwards the log is as it was."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO


@contextmanager
def reported() -> Iterator[StringIO]:
    """Everything that the program's loggers report inside the block, tracebacks included."""
    logger = logging.getLogger("agent")
    handlers, level, propagate = logger.handlers[:], logger.level, logger.propagate
    text = StringIO()
    logger.handlers[:] = [logging.StreamHandler(text)]
    try:
        yield text
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate
