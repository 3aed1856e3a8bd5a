"""The engine for all that the daemon does by itself: a `Routine` says what makes it due and what is done then.

A mark by an event, or by a look at a fixed pace, says what a routine is wanted for. It begins once no further mark has
come for its quiet time, all edits by hand are recorded, and its last work is over. The marks of work that has failed
are kept where it is to be tried again.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import field
from functools import partial
from math import inf
from typing import Any, Generic, TypeVar

from agent.background.failures import failure_of, log_failed_work
from agent.background.part import Hears, Part
from agent.background.pool import Pool, Priority
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Interrupted, Retryable
from agent.events.types import FilesChanged, NoteMoved
from agent.llm.messages import Cancelled, never
from agent.markdown.changes import NoteChange
from agent.vault.folders import AgentFolder
from agent.watch.classify import VaultEvent

E = TypeVar("E")

PATIENCE = 20.0
"""Seconds that work of a few commits gets when the daemon stops: each of them is whole or not there."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class On(Generic[E]):
    """Events that mark a routine: `marks` returns what it is wanted for, in a word or a path each; nothing if the event
    does not concern it.

    The quiet time begins anew with each. Marks that do not `hasten` leave the wait after a failure as long as it is.
    """

    kind: type[E]
    marks: Callable[[E], Iterable[str]]
    hastens: bool = True


@dataclass(frozen=True, slots=True)
class QuietOn(Generic[E]):
    """Events that begin the quiet time of a routine anew, if they concern it, and mark nothing."""

    kind: type[E]
    concerns: Callable[[E], bool]


@dataclass(frozen=True, slots=True)
class LookEvery:
    """A look in the daemon's turn every so many seconds, but not during work or the wait for a second try: if
    `is_due`, the routine is wanted for `mark`, at once."""

    seconds: float
    is_due: Callable[[], bool] = lambda: True
    mark: str = "due"


@dataclass(frozen=True, slots=True)
class Routine:
    """Something that the daemon does by itself; all times are in seconds.

    `work` is given the marks, the oldest first, and a check whether to stop; the marks that it takes out are done, also
    if it fails later. It is work for the pool with this `key` (else the name), `priority` and `patience`, or is done in
    the daemon's turn if there is no priority. It begins `pause` after its last begin at the earliest, and only while
    `may_begin` is true. After a failure it is tried again in `retry`; None: only when it is wanted anew. `hears` is
    called with events that do not mark it; `trouble` returns what else does not work, in one line.
    """

    name: str
    work: Callable[[dict[str, None], Cancelled], object]
    on: "tuple[On[Any] | QuietOn[Any], ...]" = ()
    looks: tuple[LookEvery, ...] = ()
    hears: tuple[Hears[Any], ...] = ()
    quiet: float = 0.0
    pause: float = 0.0
    retry: float | None = None
    reports_retryable: bool = True
    """False: an error that passes by itself (`Retryable`) is no problem that the person hears of."""
    needs_settled: bool = True
    may_begin: Callable[[], bool] = lambda: True
    key: str = ""
    priority: Priority | None = Priority.MAINTENANCE
    patience: float = 4.0
    names_problem: bool = False
    """The problem begins with the name, as others of the same kind may have one, too."""
    trouble: Callable[[], str] = lambda: ""


@dataclass(slots=True, eq=False)
class RoutineRunner:
    """A routine in one daemon. `settled` says whether what people did by hand is recorded."""

    routine: Routine
    pool: Pool
    clock: Clock
    settled: Callable[[], bool] = lambda: True
    _wanted: dict[str, None] = field(default_factory=dict, init=False)
    _begin_at: float = field(default=0.0, init=False)
    _paused_until: float = field(default=0.0, init=False)
    _look_at: list[float] = field(init=False)
    _is_at_work: bool = field(default=False, init=False)
    _failed: str = field(default="", init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._look_at = [0.0] * len(self.routine.looks)

    def part(self) -> Part:
        """The routine as a part of the daemon."""
        kinds = dict.fromkeys(each.kind for each in self.routine.on)
        heard = (Hears(kind, partial(self._hear, kind)) for kind in kinds)
        return Part(self.routine.name, (*self.routine.hears, *heard), self.turn, lambda: self.problem)

    @property
    def problem(self) -> str:
        """The problem, in one line; empty if the last work went well."""
        return "; ".join(filter(None, (self.routine.trouble(), self._failed)))

    def _hear(self, kind: type, event: object) -> None:
        """Take in an event of a kind."""
        for on in self.routine.on:
            if on.kind is not kind:
                continue
            marks = tuple(on.marks(event)) if isinstance(on, On) else ()
            if marks or (isinstance(on, QuietOn) and on.concerns(event)):
                begin = self.clock.monotonic() + self.routine.quiet
                with self._lock:
                    self._wanted |= dict.fromkeys(marks)
                    is_patient = isinstance(on, On) and not on.hastens
                    self._begin_at = max(begin, self._begin_at) if is_patient else begin

    def turn(self, now: float) -> float:
        """Look at what is due, and begin it; returns for how many seconds nothing is, unless an event comes."""
        routine = self.routine
        if self._is_at_work:
            return 0.0
        if now < self._begin_at:
            return self._begin_at - now
        for number, look in enumerate(routine.looks):
            if now >= self._look_at[number]:
                self._look_at[number] = now + look.seconds
                if look.is_due():
                    with self._lock:
                        self._wanted[look.mark] = None
        if not self._wanted:
            return min(self._look_at, default=inf) - now
        if now < self._paused_until:
            return self._paused_until - now
        if (self.settled() or not routine.needs_settled) and routine.may_begin():
            self._begin(now)
        return 0.0

    def _begin(self, now: float) -> None:
        routine = self.routine
        with self._lock:
            marks, self._wanted = self._wanted, {}
            self._is_at_work = True
        self._paused_until = now + routine.pause
        work, key = partial(routine.work, marks), routine.key or routine.name
        if routine.priority is None:
            future = _done_now(work)
        else:
            future = self.pool.submit(work, key=key, priority=routine.priority, patience=routine.patience)
        future.add_done_callback(partial(self._end, marks))

    def _end(self, marks: dict[str, None], future: "Future[object]") -> None:
        """Keep the marks of work that is to be tried again, and say what has failed."""
        routine, error = self.routine, failure_of(future)
        problem = log_failed_work(logger, routine.name, error) if error is not None else ""
        with self._lock:
            if error is not None and routine.retry is not None and not isinstance(error, Interrupted):
                self._wanted = marks | self._wanted
                self._begin_at = self.clock.monotonic() + routine.retry
            is_reported = not isinstance(error, Interrupted if routine.reports_retryable else Interrupted | Retryable)
            problem = f"{routine.name}: {problem}" if routine.names_problem else problem
            self._failed = problem if error is not None and is_reported else ""
            self._is_at_work = False


def _done_now(work: Callable[[Cancelled], object]) -> "Future[object]":
    """The result of work that is done here and now, as that of work of the pool."""
    future = Future[object]()
    try:
        future.set_result(work(never))
    except Exception as error:  # noqa: BLE001 - as the pool does
        future.set_exception(error)
    return future


def paths_of(event: VaultEvent) -> tuple[str, ...]:
    """The path of a change; for a move also where the note was."""
    return (event.path, event.source) if isinstance(event, NoteMoved) else (event.path,)


def paths_in(events: Iterable[VaultEvent], home: AgentFolder, *folders: str) -> tuple[str, ...]:
    """The paths of the changes that are in one of these folders, each once."""
    return tuple(dict.fromkeys(path for each in events for path in paths_of(each) if home.holds(path, *folders)))


def changes_in(home: AgentFolder, *folders: str) -> Callable[[FilesChanged[NoteChange]], tuple[str, ...]]:
    """A function that returns the paths of a batch that are in one of these folders."""
    return lambda event: paths_in(event.events, home, *folders)
