"""A peer's own copy of the notes, its commands and its server: each with the time, memory and disk that it takes."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Any

from agent.clock import SystemClock

PATIENCE = 600.0
"""Seconds that one command of a peer may take."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds of the clock and of the processors, and the largest process in megabytes."""

    wall: float
    cpu: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Ground:
    """A peer's own copy of the notes, and a home in which nothing else has been; `environ` is added to ours;
    `commands` is what each command took."""

    notes: Path
    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    commands: list[Usage] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        home = str(self.home)
        return {**os.environ, "HOME": home, "VAULT_AGENT_HOME": home, "BASIC_MEMORY_HOME": home, **self.environ}

    def run(self, *command: str, ok: tuple[int, ...] = (0,), given: str = "") -> str:
        """Standard output; raises `CalledProcessError` with what the program printed, `TimeoutExpired`."""
        with TemporaryFile("w+") as typed, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            typed.write(given)
            typed.seek(0)
            begin = SystemClock().monotonic()
            process = subprocess.Popen(
                command, cwd=self.notes, env=self.variables, stdin=typed, stdout=out, stderr=err, text=True
            )
            timer = Timer(PATIENCE, process.kill)
            timer.start()
            _, status, spent = os.wait4(process.pid, 0)
            timer.cancel()
            code = process.returncode = os.waitstatus_to_exitcode(status)
            wall = SystemClock().monotonic() - begin
            self.commands.append(Usage(wall, spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024))
            out.seek(0)
            err.seek(0)
            if wall >= PATIENCE:
                raise subprocess.TimeoutExpired(command, PATIENCE)
            if code not in ok:
                raise subprocess.CalledProcessError(code, command, out.read(), err.read())
            return out.read()

    def disk_mb(self) -> float:
        """What lies in the home, in megabytes."""
        files = (path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_blocks * 512 for path in files) / 1e6


def used(ground: Ground, work: Callable[[], object]) -> Usage:
    """What the commands took that some work runs; each must have waited for its own children."""
    before = len(ground.commands)
    work()
    commands = ground.commands[before:]
    peak = max((each.peak_mb for each in commands), default=0.0)
    return Usage(sum(each.wall for each in commands), sum(each.cpu for each in commands), peak)


def memory_mb(process: int) -> float:
    """The memory of a process and all below it, in megabytes; pages that several have count in parts."""
    found = 0.0
    for each in (process, *_below(process)):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text("ascii")
        except OSError:
            continue
        found += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
    return found


def _below(process: int) -> Iterator[int]:
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, thread.read_text("ascii").split()):
            yield child
            yield from _below(child)


@dataclass(slots=True)
class ToolServer:
    """An MCP server on its standard streams, as a model's program starts it."""

    process: "subprocess.Popen[str]"
    _asked: int = 0

    def call(self, method: str, parameters: Mapping[str, object]) -> Any:
        """The result of one request; raises `ValueError` for an error, `EOFError` if the server has ended."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": parameters})
        while line := _stream(self.process.stdout).readline():
            found = json.loads(line) if line.startswith("{") else {}
            if found.get("id") == self._asked and "method" not in found:
                if "error" in found:
                    raise ValueError(str(found["error"]))
                return found["result"]
        raise EOFError("the server has ended")

    def begin(self) -> None:
        """Make acquaintance, as the protocol wants it."""
        who = {"name": "bench", "version": "1"}
        self.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, arguments: Mapping[str, object]) -> Any:
        """What a tool returns: its data if it has some, else its text."""
        result = self.call("tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            raise ValueError(str(result["content"])[:200])
        return result.get("structuredContent") or result["content"][0]["text"]

    def _send(self, message: Mapping[str, object]) -> None:
        stream = _stream(self.process.stdin)
        stream.write(json.dumps(message) + "\n")
        stream.flush()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@contextmanager
def started(ground: Ground, command: Sequence[str], *, has_streams: bool = False) -> "Iterator[subprocess.Popen[str]]":
    """A process that is ended with the block, by a signal and then by force."""
    streams = subprocess.PIPE if has_streams else subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=ground.notes, env=ground.variables, stdin=streams, stdout=streams, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in filter(None, (process.stdin, process.stdout)):
            stream.close()
