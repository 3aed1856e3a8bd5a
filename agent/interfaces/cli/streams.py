"""The standard streams of the process: made fit for any text, and watched for a reader or a terminal that goes away;
and the signals that end a command.
"""

import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from types import FrameType

_STANDARD = (0, 1, 2)


def prepare_streams() -> None:
    """Escape characters that the terminal cannot encode, and replace closed streams by /dev/null."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - open until the process ends
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_reader_gone() -> bool:
    """True if standard output is broken (as in `… | head`), and not a pipe to a program that we have started."""
    from select import POLLERR, poll

    try:
        descriptor = sys.stdout.fileno()
    except OSError:
        return False
    waiting = poll()
    waiting.register(descriptor, 0)
    if not any(events & POLLERR for _, events in waiting.poll(0)):
        return False
    # The interpreter flushes again when it exits, and would print an error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return True


def leave_closed_terminal(descriptors: Sequence[int] = _STANDARD) -> bool:
    """Where one of these streams was a terminal that is closed, let reading find the end, and what is shown go nowhere;
    false if none was."""
    closed = [each for each in descriptors if _is_closed_terminal(each)]
    if closed:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in closed:
            os.dup2(nothing, descriptor)
        os.close(nothing)
    return bool(closed)


def _is_closed_terminal(descriptor: int) -> bool:
    try:
        return stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor)
    except OSError:
        return False


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
