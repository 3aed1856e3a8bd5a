"""Work of the pool that fails is logged: what was expected in a line, a bug with its place in the code."""

import logging
from concurrent.futures import Future

import pytest

from agent.background.failures import failure_of, log_failed_work
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


def test_work_that_was_taken_back_has_not_failed() -> None:
    taken_back, failing, done = (Future[None]() for _ in range(3))
    taken_back.cancel()
    failing.set_exception(error := Permanent("the disk is full"))
    done.set_result(None)
    assert [failure_of(each) for each in (taken_back, failing, done)] == [None, error, None]
