"""Has another process extract the text of attachments: what a file does to its reader, it does not do to this one."""

import json
import select
import subprocess
import threading
from dataclasses import field
from typing import IO, cast

from agent.attachments.limits import MOST_ANSWER, SECONDS
from agent.dataclass import dataclass
from agent.markdown.paged_text import PagedText, parse_paged_text
from agent.module_process import end_process, start_module

_PROCESS = "agent.attachments.reading_process"
_START = 20.0
"""Seconds beyond those for a file: for the process to start on a slow machine."""


@dataclass(slots=True)
class Extractor:
    """The process, started with the first file, for all threads of this one; `close` ends it."""

    _process: "subprocess.Popen[bytes] | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def extract(self, ending: str, data: bytes) -> PagedText:
        """The text of a file with this ending; without text, with the reason. Raises `OSError` if no process can be
        started."""
        with self._lock:
            try:
                return self._ask(ending, data)
            except (OSError, ValueError) as error:
                self._end()
                if isinstance(error, OSError) and not isinstance(error, BrokenPipeError | TimeoutError):
                    raise
                return PagedText(problem="its reader crashed on it")

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_process(process)

    def _ask(self, ending: str, data: bytes) -> PagedText:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = start_module(_PROCESS)
        outgoing, incoming = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        outgoing.write(json.dumps({"ending": ending, "size": len(data)}).encode() + b"\n")
        outgoing.write(data)
        outgoing.flush()
        waiting = select.poll()  # `select.select` knows no more than 1,024 open files
        waiting.register(incoming, select.POLLIN)
        if not waiting.poll((SECONDS + _START) * 1_000):
            raise TimeoutError("its reader does not answer")
        size = json.loads(incoming.readline(100))["size"]
        if not 0 <= size <= MOST_ANSWER:
            raise ValueError("no answer")
        return parse_paged_text(incoming.read(size))
