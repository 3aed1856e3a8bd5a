"""A filter that keeps known secrets out of all logs."""

import logging

from agent.config.masking import redact


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
