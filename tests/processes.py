"""Programs that tests start: none outlives its test, and no test waits for ever for one."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

SECONDS = 120.0
"""The longest that a program may take to end after it was asked to."""


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[Any]"]:
    """A program, until the end of the block: one that has not ended then is killed."""
    process: subprocess.Popen[Any] = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: "subprocess.Popen[Any]", by: signal.Signals, seconds: float = SECONDS) -> int:
    """Ask a program to end; its exit code, and nobody waits longer than that: it is killed then."""
    process.send_signal(by)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"it has not ended {seconds:g} s after {by.name}") from None


def hear_signals() -> None:
    """Let the programs that this process starts have the signals of a terminal as they are by default.

    A check that was started in the background, or by nohup, ignores them, and its children would as well; with a
    handler that does nothing it goes on to ignore them, and they do not.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)
