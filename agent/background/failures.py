"""What failed in a part of the daemon, in words for `status` and the log."""

import logging

from agent.errors import AgentError, UserError


def failure_text(error: BaseException) -> str:
    """An error in one line, with what a person can do; of one that nobody expected, with its type."""
    if isinstance(error, UserError) and error.hint:
        return f"{error.message}; {error.hint}"
    if isinstance(error, AgentError):
        return error.message
    return str(error) if isinstance(error, OSError) and str(error) else f"{type(error).__name__}: {error}"


def log_failure(logger: logging.Logger, name: str, error: Exception, before: str) -> str:
    """Log a failure that may repeat: aloud only if its text is not that of `before`; returns its text."""
    what = failure_text(error)
    if what != before:
        logger.warning("%s: %s", name, what)
    return what
