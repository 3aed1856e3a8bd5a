"""Runs a program with a text on its standard input, and yields its lines as they come; always ends it with all that it
has started."""

import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Interrupted, Permanent, Retryable, os_reason
from agent.llm.messages import Cancelled
from agent.platform.here import platform

_POLL = 0.1
_ENDS_ALONE = 5.0
"""Seconds for a program to end by itself after its answer: it may be renewing its sign-in."""
_GRACE = 0.3
"""Seconds from the request to end to the kill."""
MOST_BYTES = 8 * 1024 * 1024
"""The longest output in bytes."""
_MOST_ERRORS = 4_000
QUICK_SECONDS = 20.0
"""The longest time of a question that asks no model."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with the whole of its environment, in its folder."""

    arguments: Sequence[str]
    environ: Mapping[str, str]
    folder: Path


@dataclass(slots=True)
class Ending:
    """The end of a program: its exit code, and the end of what it has said on standard error."""

    code: int = 0
    errors: str = ""


@contextmanager
def output_lines(
    run: Invocation, prompt: str, clock: Clock, silence: float, cancelled: Cancelled, ending: Ending
) -> Iterator[Iterator[bytes]]:
    """The lines of the program's output, for a block; `ending` is filled in when they are over.

    Raises `Interrupted` when `cancelled` is true, `Retryable` after `silence` seconds without output, and `Permanent`
    for a program that cannot be started or says too much.
    """
    errors = run.folder / "errors.txt"
    try:
        with errors.open("wb") as heard:
            process = subprocess.Popen(
                run.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=heard,
                cwd=run.folder / "work",
                env=dict(run.environ),
                start_new_session=True,
            )
    except OSError as error:
        raise Permanent(
            "{program} cannot be started: {reason}", program=run.arguments[0], reason=os_reason(error)
        ) from None
    lines: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=_write, args=(process, prompt.encode("utf-8", "replace")), daemon=True).start()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    try:
        yield _lines(lines, clock, silence, cancelled)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDS_ALONE)
    finally:
        _end(process)
        ending.code = process.returncode
        ending.errors = errors.read_bytes()[-_MOST_ERRORS:].decode("utf-8", "replace").strip()


def output_of(run: Invocation, clock: Clock) -> tuple[int, str]:
    """The exit code of a program that ends by itself, and all that it has said; raises as `output_lines` does."""
    ending = Ending()
    with output_lines(run, "", clock, QUICK_SECONDS, lambda: False, ending) as lines:
        output = b"".join(lines).decode("utf-8", "replace")
    return ending.code, output or ending.errors


def _lines(lines: "SimpleQueue[bytes | None]", clock: Clock, silence: float, cancelled: Cancelled) -> Iterator[bytes]:
    size, heard = 0, clock.monotonic()
    while True:
        if cancelled():
            raise Interrupted("the call of the model was cancelled")
        try:
            line = lines.get(timeout=_POLL)
        except Empty:
            if clock.monotonic() - heard > silence:
                raise Retryable(
                    "the program has said nothing for {seconds:g} s",
                    hint="the setting llm.timeout_seconds raises the limit",
                    seconds=silence,
                ) from None
            continue
        if line is None:
            return
        size, heard = size + len(line), clock.monotonic()
        if size > MOST_BYTES:
            raise Permanent("the program says more than {bytes:,} bytes", bytes=MOST_BYTES)
        yield line


def _write(process: "subprocess.Popen[bytes]", prompt: bytes) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # it has ended before it has read all
        process.stdin.write(prompt)
    with suppress(OSError):
        process.stdin.close()


def _read(process: "subprocess.Popen[bytes]", lines: "SimpleQueue[bytes | None]") -> None:
    assert process.stdout is not None
    with process.stdout, suppress(OSError):
        while line := process.stdout.readline(MOST_BYTES + 1):
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program with its whole group, first politely.

    Its pipes are closed by the threads that use them: to close one meanwhile would wait for whatever has left the group
    and still holds the other end.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        platform().kill_group(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            if number == signal.SIGKILL:
                break
