"""A command that stays until it is stopped ends well when its terminal is closed, and not at all after `nohup`."""

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from agent.interfaces.cli.streams import on_stop

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {each: signal.getsignal(each) for each in STOPPING}
    yield
    for each, then in before.items():
        signal.signal(each, then)


def test_each_of_them_asks_it_to_stop() -> None:
    heard: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        heard.append(number)

    on_stop(stop)
    for each in STOPPING:
        os.kill(os.getpid(), each)
    assert sorted(heard) == sorted(STOPPING)


def test_after_nohup_a_closed_terminal_is_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    on_stop(lambda number, frame: pytest.fail("it was to be ignored"))
    os.kill(os.getpid(), signal.SIGHUP)
