"""Runs one external program to its end, with a time limit, and ends everything that it has started.

Which program does a thing is decided by the tools: the first of several that is installed.
"""

import os
import select
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from shutil import which
from threading import Thread
from typing import TypeAlias

from agent.clock import Clock
from agent.config.secrets import secrets_of
from agent.dataclass import dataclass
from agent.interfaces.node.session import NodeFailure, did_not_work
from agent.platform.here import platform
from agent.tools.builtin.program import ProgramOutput

Stopped: TypeAlias = Callable[[], bool]
"""True once the host is to end."""
_LOOK = 0.05
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class PackagedProgram:
    """A program that does a thing, with the package that brings it."""

    name: str
    package: str


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has ended: its exit code, and the beginning and end of what it printed."""

    code: int
    output: str


def environment() -> dict[str, str]:
    """The environment for programs: the host's own without the keys in it."""
    hidden = set(secrets_of(os.environ))
    return {
        name: value for name, value in os.environ.items() if value not in hidden and not name.startswith("VAULT_AGENT_")
    }


def chosen(programs: Sequence[PackagedProgram]) -> PackagedProgram | None:
    """The first of these programs that is installed; None if there is none."""
    return next((each for each in programs if which(each.name)), None)


def missing(programs: Sequence[PackagedProgram]) -> str:
    """The packages of which one has to be installed; empty if a program is there, or none is needed."""
    if not programs or chosen(programs):
        return ""
    return " / ".join(dict.fromkeys(each.package for each in programs))


def need(programs: Sequence[PackagedProgram]) -> str:
    """The name of the first program that is installed; raises `NodeFailure` that names the packages."""
    found = chosen(programs)
    if found is None:
        raise NodeFailure(
            HTTPStatus.NOT_IMPLEMENTED,
            "program_missing",
            f"none of these programs is installed: {', '.join(each.name for each in programs)}",
            f"install the package {missing(programs)}",
        )
    return found.name


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs; `stopped` ends them early."""

    clock: Clock
    stopped: Stopped

    def run(
        self, command: Sequence[str], seconds: float, folder: Path | None = None, more: Mapping[str, str] | None = None
    ) -> Ran:
        """Run a program and return what it printed; raises `NodeFailure` if it does not end in time.

        What it leaves running in its own session is ended with it.
        """
        process = self._started(command, subprocess.PIPE, folder, more)
        assert process.stdout is not None
        output = ProgramOutput()
        with process:
            os.set_blocking(process.stdout.fileno(), False)
            try:
                self._wait(process, process.stdout.fileno(), output, seconds)
            finally:
                _kill(process)
            _read(process.stdout.fileno(), output)
        return Ran(process.returncode, output.text())

    def work(self, command: Sequence[str], seconds: float) -> str:
        """What a program printed; raises `NodeFailure` with its words if it failed."""
        ran = self.run(command, seconds)
        if ran.code:
            raise did_not_work(f"{command[0]} ended with {ran.code}: {' '.join(ran.output.split())[:_SHOWN]}")
        return ran.output

    def feed(self, command: Sequence[str], data: bytes, seconds: float) -> None:
        """Give a program its input. It may stay in the background, as a program does that holds the clipboard."""
        process = self._started(command, subprocess.DEVNULL)
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(data)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired as late:
            _kill(process)
            raise _late(command, seconds) from late
        if code:
            raise did_not_work(f"{command[0]} ended with {code}")

    def leave(self, command: Sequence[str], seconds: float) -> None:
        """Start a program that goes on by itself; raises `NodeFailure` if it fails within `seconds`."""
        process = self._started(command, subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            if code := process.wait(seconds):
                raise did_not_work(f"{command[0]} ended with {code}")
            return
        Thread(target=process.wait, name="vault-agent-node-left", daemon=True).start()  # reaps it when it ends

    def _started(
        self, command: Sequence[str], out: int, folder: Path | None = None, more: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL if out == subprocess.PIPE else subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT if out == subprocess.PIPE else subprocess.DEVNULL,
                cwd=folder or Path.home(),
                env=environment() | dict(more or {}),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise did_not_work(f"{command[0]} could not be started: {error}") from error

    def _wait(self, process: "subprocess.Popen[bytes]", stdout: int, output: ProgramOutput, seconds: float) -> None:
        deadline = self.clock.monotonic() + seconds
        while process.poll() is None:
            select.select([stdout], [], [], _LOOK)
            if not _read(stdout, output):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
            if self.stopped():
                raise NodeFailure(HTTPStatus.SERVICE_UNAVAILABLE, "host_stopped", "the host was stopped meanwhile")
            if self.clock.monotonic() >= deadline:
                _kill(process)
                _read(stdout, output)
                raise _late(process.args, seconds, output.text())


def _late(command: object, seconds: float, output: str = "") -> NodeFailure:
    name = command[0] if isinstance(command, list | tuple) else command
    lines = f". It had printed:\n{output}" if output else ""
    return NodeFailure(HTTPStatus.GATEWAY_TIMEOUT, "timed_out", f"{name} was stopped after {seconds:g} s{lines}")


def _read(stdout: int, output: ProgramOutput) -> bool:
    """Read what is in the pipe now; False at its end."""
    with suppress(BlockingIOError):
        for _ in range(64):
            data = os.read(stdout, 1 << 16)
            if not data:
                return False
            output.add(data)
    return True


def _kill(process: "subprocess.Popen[bytes]") -> None:
    platform().kill_group(process.pid)
    process.wait()
