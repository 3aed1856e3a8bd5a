"""A separate program for each `shell_run`: sets limits, starts the command, and kills all processes that it leaves.

It becomes the parent of every orphan below it, so that a grandchild in a separate session is found and killed, too; and
it ends with the agent that started it. Run as `python -I reaper.py LIMITS COMMAND…`, where LIMITS is JSON; its exit
code is the command's, or 128 and the signal. It imports nothing from the rest of the package.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from types import FrameType

NOT_FOUND = 127
NOT_STARTED = 126
_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36
_ROUNDS = 100


def main(arguments: list[str]) -> int:
    """Run the command to its end and kill its remaining processes."""
    limits = json.loads(arguments[0])
    _end_with(int(limits.pop("parent")))
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, _stop)
    child = os.fork()
    if child == 0:
        _become(arguments[1:], limits)
    status = _wait_for(child)
    _kill_all()
    return os.waitstatus_to_exitcode(status) % 256 if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _end_with(parent: int) -> None:
    """Request a signal from Linux when the agent dies, and make this process the parent of every orphan below it."""
    if sys.platform == "linux":
        control = ctypes.CDLL(None).prctl
        control(_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        control(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(NOT_STARTED)


def _become(command: list[str], limits: dict[str, int]) -> None:
    """Replace this process by the command; never returns."""
    try:
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(name, signal.SIG_DFL)
        for kind, most in limits.items():
            _limit(getattr(resource, kind, None), most)
        os.execvpe(command[0], command, os.environ)
    except FileNotFoundError:
        os.write(2, b"there is no such program\n")
        os._exit(NOT_FOUND)
    except BaseException as error:  # noqa: BLE001 - a forked child must not continue as its parent
        os.write(2, f"it could not be started: {error}\n".encode())
        os._exit(NOT_STARTED)


def _limit(kind: int | None, most: int) -> None:
    if kind is not None:
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _wait_for(child: int) -> int:
    """Wait for the command and return its status; other children that end meanwhile are reaped."""
    while True:
        found, status = os.waitpid(-1, 0)
        if found == child:
            return status


def _stop(number: int, frame: FrameType | None) -> None:
    _kill_all()
    os._exit(128 + number)


def _kill_all() -> None:
    """Kill every process below this one until there is none; against endless forking, `_ROUNDS` rounds at most."""
    for _ in range(_ROUNDS):
        below = _below(os.getpid())
        if not below:
            return
        for process in below:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def _below(root: int) -> list[int]:
    """The living processes below one, from `/proc`; none if that folder does not exist."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != "Z" or int(parent) == root:
            parents[int(entry.parent.name)] = int(parent)
    found: list[int] = []
    wanted = {root}
    while wanted:
        wanted = {process for process, parent in parents.items() if parent in wanted}
        found += wanted
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
