"""The signals that end a command which stays until it is stopped."""

import signal
from collections.abc import Callable
from types import FrameType


def on_stop(stop: Callable[[int, FrameType | None], object]) -> None:
    """Call `stop` on Ctrl-C, on SIGTERM, and when the terminal is closed, which after `nohup` ends nothing."""
    hangups = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    for each in (signal.SIGTERM, signal.SIGINT, *hangups):
        signal.signal(each, stop)
