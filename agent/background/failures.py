"""What failed in a part of the daemon, in words for `status` and the log."""

import logging
from concurrent.futures import Future
from typing import TypeVar

from agent.errors import AgentError, UserError

_T = TypeVar("_T")


def failure_of(work: "Future[_T]") -> BaseException | None:
    """The error with which work of the pool has ended; None if it succeeded or was cancelled."""
    return None if work.cancelled() else work.exception()


def failure_text(error: BaseException) -> str:
    """An error in one line, with what a person can do; of one that nobody expected, with its type."""
    if isinstance(error, UserError) and error.hint:
        return f"{error.message}; {error.hint}"
    if isinstance(error, AgentError):
        return error.message
    return str(error) if isinstance(error, OSError) and str(error) else f"{type(error).__name__}: {error}"


def log_failure(logger: logging.Logger, name: str, error: Exception, before: str) -> str:
    """Log a failure that may repeat: aloud only if its text is not that of `before`, and with its place in the code if
    nobody expected it; returns its text."""
    what = failure_text(error)
    if what != before:
        logger.warning("%s: %s", name, what, exc_info=None if is_expected(error) else error)
    return what


def log_failed_work(logger: logging.Logger, name: str, error: BaseException) -> str:
    """Log why work of the pool has failed, with its place in the code if nobody expected it; returns its text."""
    what, expected = failure_text(error), is_expected(error)
    logger.log(
        logging.INFO if expected else logging.WARNING, "%s: %s", name, what, exc_info=None if expected else error
    )
    return what


def is_expected(error: BaseException) -> bool:
    """True for an error whose message says all there is to know; else its place in the code is wanted."""
    return isinstance(error, AgentError | OSError)
