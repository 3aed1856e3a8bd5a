"""Prepares many notes in several processes at once, since one interpreter uses one core.

The results are the same as in one process, and in the same order. A process that cannot be started, fails or is killed
costs nothing but time: its group is prepared here.
"""

import logging
import os
import pickle
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field
from queue import SimpleQueue
from typing import IO, TypeAlias, cast

from agent.dataclass import dataclass
from agent.index.embedder import Embedder, EmbedderChoice
from agent.index.ingest import Prepare
from agent.index.prepare import NoteBytes, PreparedGroup, prepare
from agent.module_process import end_process, start_module

MANY = 600
"""Notes from which processes are started: each takes half a second to start, the time of about 50 notes."""
MOST = 4
"""The most processes: each holds about 100 MB."""
_PROCESS = "agent.index.prepare_process"

LoadEmbedder: TypeAlias = Callable[[], Embedder | None]

logger = logging.getLogger(__name__)


@contextmanager
def preparing(notes: int, chosen: EmbedderChoice, fields: Mapping[str, float]) -> Iterator[Prepare]:
    """What prepares so many notes: in processes of their own if that is quicker, which end with this block.

    `fields` is the weight of a term in each field.
    """

    def here(groups: Iterable[Sequence[NoteBytes]]) -> Iterator[PreparedGroup]:
        return (prepare(group, chosen.embedder, fields) for group in groups)

    count = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if notes < MANY or count < 2 or chosen.load is None:
        yield here
        return
    processes = PrepareProcesses(chosen.load, chosen.embedder, fields)
    try:
        processes.start(count)
        yield processes.prepare
    finally:
        processes.close()


@dataclass(slots=True)
class PrepareProcesses:
    """Processes with the same embedder as this one; used by one thread, and closed by it."""

    load: LoadEmbedder
    embedder: Embedder | None
    fields: Mapping[str, float]
    _started: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    _idle: "SimpleQueue[subprocess.Popen[bytes] | None]" = field(default_factory=SimpleQueue)
    _threads: ThreadPoolExecutor | None = None

    def start(self, count: int) -> None:
        """Start so many processes; they load their embedder while the first notes are read."""
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="prepare")
        for _ in range(count):
            try:
                process = start_module(_PROCESS)
            except OSError as error:
                logger.warning("notes are prepared in one process: %s", error)
                self._idle.put(None)
                continue
            self._started.append(process)
            self._threads.submit(self._greet, process)

    def prepare(self, groups: Iterable[Sequence[NoteBytes]]) -> Iterator[PreparedGroup]:
        """The groups prepared, in order; only a few more than there are processes are held in memory."""
        assert self._threads is not None
        waiting: deque[Future[PreparedGroup]] = deque()
        for group in groups:
            waiting.append(self._threads.submit(self._prepare, group))
            if len(waiting) > len(self._started) + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """End the processes; they have nothing to save."""
        for process in self._started:
            process.kill()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for process in self._started:
            end_process(process)

    def _greet(self, process: "subprocess.Popen[bytes]") -> None:
        """Hand a new process its embedder; one that has loaded another embedder is not used."""
        try:
            name = _ask(process, (self.load, dict(self.fields)))
        except Exception as error:  # noqa: BLE001 - whatever another process fails with, its work is done here
            self._give_up(error)
            return
        if name == (self.embedder.name if self.embedder is not None else ""):
            self._idle.put(process)
        else:
            self._give_up(f"it has loaded {name}")

    def _prepare(self, group: Sequence[NoteBytes]) -> PreparedGroup:
        process = self._idle.get()
        if process is not None:
            try:
                found = cast(PreparedGroup, _ask(process, group))
            except Exception as error:  # noqa: BLE001 - the same
                self._give_up(error)
            else:
                self._idle.put(process)
                return found
        else:
            self._idle.put(None)
        return prepare(group, self.embedder, self.fields)

    def _give_up(self, why: object) -> None:
        """Note that a process is not there any more: who waits for one works without."""
        logger.warning("a process that prepares notes has ended: %s", why or type(why).__name__)
        self._idle.put(None)


def _ask(process: "subprocess.Popen[bytes]", message: object) -> object:
    """The answer of a process."""
    outgoing, incoming = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
    pickle.dump(message, outgoing, protocol=pickle.HIGHEST_PROTOCOL)
    outgoing.flush()
    return pickle.load(incoming)
