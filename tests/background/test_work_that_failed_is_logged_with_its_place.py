"""Work of the pool that fails is logged: what was expected in a line, a bug with its place in the code."""

import logging

import pytest

from agent.background.failures import log_failed_work
from agent.errors import Permanent

logger = logging.getLogger("test")


def failed(error: Exception) -> Exception:
    """The error as a future holds it, after it was raised."""
    try:
        raise error
    except type(error) as raised:
        return raised


def test_a_bug_is_logged_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    assert log_failed_work(logger, "rules", failed(ZeroDivisionError("by zero"))) == "ZeroDivisionError: by zero"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "in failed" in caplog.text


def test_what_is_expected_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert log_failed_work(logger, "rules", failed(Permanent("the disk is full"))) == "the disk is full"
    (record,) = caplog.records
    assert (record.levelno, record.exc_info) == (logging.INFO, None)
