"""The signals that end a command: of one which stays until it is stopped, and a closed terminal for any other."""

import signal
from collections.abc import Callable
from types import FrameType

from agent.interfaces.cli.streams import leave_closed_terminal


def hear_hangup() -> None:
    """Let a closed terminal end this process as Ctrl-C does; after `nohup` it ends nothing."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _hang_up)


def _hang_up(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # the kernel and the shell each send one
    leave_closed_terminal()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def on_stop(stop: Callable[[int, FrameType | None], object]) -> None:
    """Call `stop` on Ctrl-C, on SIGTERM, and when the terminal is closed, which after `nohup` ends nothing."""
    hangups = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    for each in (signal.SIGTERM, signal.SIGINT, *hangups):
        signal.signal(each, stop)
