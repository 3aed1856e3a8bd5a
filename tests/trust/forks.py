"""Processes to be killed, from one that has their program in memory: a start costs a fork, where a fresh Python would
first load the same modules for half a second each time.

Run as `python -m tests.trust.forks MODULE`. It reads one JSON object a line, and answers each with a line: the id of a
child in which `MODULE.main(arguments)` goes on, or how a child has ended. It has one thread, so that a child begins
with nothing half done.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from agent.clock import SystemClock

PROJECT = Path(__file__).parent.parent.parent
_STEP = 0.002


@dataclass(slots=True)
class Forks:
    """The process that has the program in memory."""

    process: "subprocess.Popen[bytes]"

    def start(self, *arguments: str, errors: Path) -> "Fork":
        """Start the program in a process, and a process group, of its own; what it says about failures goes to the end
        of `errors`."""
        return Fork(self, int(self._ask({"arguments": arguments, "errors": str(errors)})))

    def ended(self, pid: int) -> int | None:
        """The exit status of a child, negative for the signal that ended it; None while it lives."""
        said = self._ask({"ended": pid})
        return None if said == "no" else int(said)

    def _ask(self, order: dict[str, object]) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()


@dataclass(slots=True)
class Fork:
    """One started process; its id is its own until `wait` or `poll` has said how it ended."""

    forks: Forks
    pid: int
    code: int | None = None

    def poll(self) -> int | None:
        """The exit status, None while it lives."""
        if self.code is None:
            self.code = self.forks.ended(self.pid)
        return self.code

    def wait(self, seconds: float) -> int:
        """The exit status, once there is one; raises `AssertionError` after so many seconds."""
        clock = SystemClock()
        deadline = clock.monotonic() + seconds
        while (code := self.poll()) is None:
            assert clock.monotonic() < deadline, f"it has not ended within {seconds:g} s"
            clock.sleep(_STEP)
        return code


@contextmanager
def forking(module: str) -> Iterator[Forks]:
    """Have the program in memory until the end of the block."""
    command = [sys.executable, "-m", "tests.trust.forks", module]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Forks(process)


def _work(program: Callable[[list[str]], None], order: dict[str, object]) -> None:
    """What a child does, as a process that was started for it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    errors = os.open(str(order["errors"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, there in enumerate((nothing, nothing, errors)):
        os.dup2(there, number)
    os.close(nothing)
    os.close(errors)
    arguments = order["arguments"]
    assert isinstance(arguments, list)
    program(arguments)


def _forked(program: Callable[[list[str]], None], order: dict[str, object]) -> int:
    child = os.fork()
    if child:
        os.setpgid(child, child)
        return child
    code = 1
    try:
        _work(program, order)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def main(program: Callable[[list[str]], None]) -> None:
    """Answer each line."""
    for line in sys.stdin:
        order = json.loads(line)
        if "ended" not in order:
            answer = str(_forked(program, order))
        else:
            pid, status = os.waitpid(order["ended"], os.WNOHANG)
            answer = str(os.waitstatus_to_exitcode(status)) if pid else "no"
        os.write(1, f"{answer}\n".encode())


if __name__ == "__main__":
    main(import_module(sys.argv[1]).main)
