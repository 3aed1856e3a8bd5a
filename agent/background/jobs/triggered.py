"""Jobs that changes of notes or events of the program start: what has happened, and which jobs are due for it.

Events come from several threads; what follows from them is asked in the daemon's turn. Nothing that a job's own run
does starts a job.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agent.events.types import FilesChanged, Origin, Tick, TurnEnded
from agent.markdown.changes import NoteChange
from agent.metrics.names import event_name
from agent.schedule.job import Job
from agent.schedule.triggers import OnEvent
from agent.vault.folders import AgentFolder

_FREQUENT = (Tick, TurnEnded, FilesChanged)
"""Events of each turn: no job can wait for them."""


@dataclass(slots=True)
class Triggered:
    """The jobs of one vault that something else than the time starts."""

    home: AgentFolder
    _by_event: dict[str, list[str]] = field(default_factory=dict, init=False)
    _jobs: dict[str, Job] = field(default_factory=dict, init=False)
    _due: dict[str, None] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def set_jobs(self, jobs: Sequence[Job]) -> None:
        """The active jobs as they are now."""
        by_event: dict[str, list[str]] = {}
        for job in jobs:
            for trigger in job.triggers:
                if isinstance(trigger, OnEvent):
                    by_event.setdefault(trigger.name, []).append(job.id)
        with self._lock:
            self._jobs, self._by_event = {job.id: job for job in jobs}, by_event

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Notes have changed."""

    def heard(self, event: object) -> None:
        """An event has happened; it starts the jobs that name it, unless a job or the program itself is its cause."""
        if isinstance(event, _FREQUENT) or not self._by_event:
            return
        if getattr(event, "job", "") or getattr(event, "origin", None) is Origin.OWN:
            return
        with self._lock:
            for id in self._by_event.get(event_name(type(event).__name__), ()):
                self._due[id] = None

    def due(self, monotonic: float, now: datetime) -> Iterator[tuple[Job, datetime]]:
        """The jobs that are due now, each with the moment of its occurrence."""
        with self._lock:
            due, self._due = self._due, {}
        at = now.replace(microsecond=0)
        for id in due:
            if id in self._jobs:
                yield self._jobs[id], at
