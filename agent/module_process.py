"""A process that runs one module of this program, and talks through pipes with whoever started it."""

import subprocess
import sys
from contextlib import suppress

from agent.platform.here import platform


def start_module(module: str) -> "subprocess.Popen[bytes]":
    """Start a module, quiet, with pipes to its input and output; raises `OSError` if that is not possible.

    In a session of its own: a Ctrl-C at the terminal ends this process, which then ends the other one. With `-P`, since
    a package of this name in the working folder is not ours.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and those that it has started, wait for it, and close what leads to it."""
    if process.returncode is None:
        platform().kill_group(process.pid)
        process.kill()
    with suppress(OSError), process:
        pass
