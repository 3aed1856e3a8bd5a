"""Jobs that changes of notes or events of the program start: what has happened, and which jobs are due for it.

Events come from several threads; what follows from them is asked in the daemon's turn. Nothing that a job's own run
does starts a job. Changed notes that wait for more of them, or for their job's turn, are kept, so that the third of
five is not forgotten by a restart.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.events.types import FilesChanged, Origin
from agent.loop.outcome import Ended
from agent.markdown.changes import NoteChange
from agent.metrics.names import event_name
from agent.records.database import Records
from agent.records.table import Table
from agent.schedule.conditions import ChangesReady, ChangeWatch
from agent.schedule.job import Job
from agent.schedule.triggers import OnEvent

LEAST_PAUSE = 60
"""Seconds between two runs of a job that changes or events start, by default: what happens meanwhile is one more."""


@dataclass(slots=True)
class Triggered:
    """The jobs of one vault that something else than the time starts. `is_of_job` says whether the last run in a
    session belongs to a job, `records` has what waits."""

    is_of_job: Callable[[str], bool]
    records: Records
    _changes: ChangeWatch = field(default_factory=ChangeWatch, init=False)
    _by_event: dict[str, list[Job]] = field(default_factory=dict, init=False)
    _heard: dict[str, Job] = field(default_factory=dict, init=False)
    _saved: dict[str, list[str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def _table(self) -> Table[dict[str, list[str]]]:
        return Table(self.records, "changed-notes", dict[str, list[str]])

    def set_jobs(self, jobs: Sequence[Job]) -> None:
        """The jobs as they are now; only active ones count."""
        by_event: dict[str, list[Job]] = {}
        for job in jobs:
            for trigger in job.triggers if job.status == "active" else ():
                if isinstance(trigger, OnEvent):
                    by_event.setdefault(trigger.name, []).append(job)
        self._changes.set_jobs(jobs)
        with self._lock:
            self._by_event = by_event

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Notes have changed."""
        self._changes.take(event)

    def heard(self, event: object) -> None:
        """An event has happened; it starts the jobs that name it, unless a job or the program itself is its cause."""
        if not self._by_event or getattr(event, "origin", None) is Origin.OWN:
            return
        if getattr(event, "job", "") or (isinstance(event, Ended) and self.is_of_job(event.session)):
            return
        with self._lock:
            for job in self._by_event.get(event_name(type(event).__name__), ()):
                self._heard[job.id] = job

    def due(self, now: float) -> tuple[ChangesReady, ...]:
        """The jobs that are due now, each with the notes because of which."""
        with self._lock:
            heard, self._heard = self._heard, {}
        return (*self._changes.ready(now), *(ChangesReady(job, ()) for job in heard.values()))

    @property
    def waits(self) -> bool:
        """True while changed notes wait for more of them."""
        return bool(self._changes.collected())

    def save(self, waiting: Mapping[str, Sequence[str]]) -> None:
        """Write down which notes wait, if that has changed: those that are collected, and those of runs that wait, by
        job."""
        state = {job: [*paths] for job, paths in self._changes.collected().items()}
        for job, paths in waiting.items():
            state[job] = [*dict.fromkeys((*state.get(job, ()), *paths))]
        if state != self._saved:
            self._table.put(state)
            self._saved = state

    def restore(self, now: float) -> None:
        """Let the notes wait again that waited when the last daemon ended; none where that is damaged."""
        self._saved = self._table.get() or {}
        self._changes.restore(self._saved, now)
