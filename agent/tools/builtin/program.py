"""Runs one program to its end: with limits, supervised, with its output cut and all its processes ended.

The sandbox is part of the command (`sandbox`); finding the program's changes is left to `working_copy`.
"""

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Interrupted, ToolFailed
from agent.llm.messages import Cancelled
from agent.platform.here import platform
from agent.tools.builtin import reaper

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_HEAD = 6_000
_TAIL = 8_000
_LOOK = 0.05
_GRACE = 3.0
_CONTROL = re.compile(r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """The limits of a program.

    `seconds` in total; `cpu` in seconds, `memory` and `file` in bytes for each process; `processes` in addition to the
    user's other ones.
    """

    seconds: float = 60.0
    cpu: int = 60
    memory: int = 1 << 30
    file: int = 64 << 20
    processes: int = 128
    files: int = 256


LIMITS = ProgramLimits()


@dataclass(slots=True)
class ProgramOutput:
    """The beginning and the end of a program's output, with its total size."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = max(_HEAD - len(self.head), 0)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-_TAIL:]

    def text(self) -> str:
        missing = self.size - len(self.head) - len(self.tail)
        parts = [self.head, f"\n[{missing:,} bytes left out]\n".encode() if missing else b"", self.tail]
        return (
            _CONTROL.sub("", b"".join(map(bytes, parts)).decode("utf-8", "replace")).strip("\n")
            or "(it printed nothing)"
        )


@dataclass(frozen=True, slots=True)
class Program:
    """A command that runs in `folder`, with `home` for all its other files."""

    command: Sequence[str]
    folder: Path
    home: Path
    limits: ProgramLimits
    clock: Clock
    output: ProgramOutput = field(default_factory=ProgramOutput)

    def run(self, cancelled: Cancelled) -> int:
        """Run the program and return the exit code; raises `Interrupted` or `ToolFailed` if it had to be stopped."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__, self._limits(), *self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env={"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(self.home), "TMPDIR": str(self.home)},
            start_new_session=True,
        )
        assert process.stdout is not None
        with process:
            try:
                os.set_blocking(process.stdout.fileno(), False)
                self._wait(process, process.stdout.fileno(), cancelled)
            finally:
                _end(process)
            self._read(process.stdout.fileno())
        return process.returncode

    def _wait(self, process: subprocess.Popen[bytes], stdout: int, cancelled: Cancelled) -> None:
        deadline = self.clock.monotonic() + self.limits.seconds
        while process.poll() is None:
            select.select([stdout], [], [], _LOOK)
            if not self._read(stdout):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
            if cancelled():
                raise Interrupted("shell_run was cancelled; nothing that the program changed was kept")
            if self.clock.monotonic() >= deadline:
                _end(process)
                self._read(stdout)
                raise ToolFailed(
                    f"it was stopped after {self.limits.seconds:g} s, and nothing that it changed was kept. "
                    f"It had printed:\n{self.output.text()}"
                )

    def _read(self, stdout: int) -> bool:
        """Read the available data of the pipe; returns False at its end."""
        with suppress(BlockingIOError):
            for _ in range(64):
                data = os.read(stdout, 1 << 16)
                if not data:
                    return False
                self.output.add(data)
        return True

    def _limits(self) -> str:
        limits = self.limits
        values = {
            "parent": os.getpid(),
            "RLIMIT_CPU": limits.cpu,
            "RLIMIT_DATA": limits.memory,
            "RLIMIT_AS": limits.memory * 8,
            "RLIMIT_FSIZE": limits.file,
            "RLIMIT_NOFILE": limits.files,
            "RLIMIT_CORE": 0,
        }
        threads = platform().threads()
        return json.dumps({**values, "RLIMIT_NPROC": threads + limits.processes} if threads else values)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all its children: by its reaper, or by the process group if the reaper is gone."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    platform().kill_group(process.pid)
    process.wait()
