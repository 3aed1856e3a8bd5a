"""Takes up the runs whose person has decided: work for the pool, of one key for each session.

It looks when something has happened in the notes where people decide, and submits what is ready then; only runs that
this machine has begun. What cannot be started is said in `problem` and tried again when the next thing is decided.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import field
from functools import partial

from agent.background.failures import failure_text
from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld
from agent.events.types import FilesChanged, Tick
from agent.llm.provider import Cancelled
from agent.loop.outcome import Ended
from agent.markdown.changes import NoteChange
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import approvals, is_ready, ready
from agent.runs.registry import RunMark, run_registry
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.folders import APPROVALS, QUESTIONS
from agent.workspace.workspace import Workspace

AGAIN = 10.0
"""Seconds until a session that another process is in is tried again."""
DAY = 86_400.0
OVER = 300.0
"""Seconds between two looks for questions that nobody answered in time."""

OpenRuns = Callable[[], AbstractContextManager[RunService]]
"""Opens the agent of the vault with the settings as they are now."""

logger = logging.getLogger(__name__)


def session_key(session: str) -> str:
    """The pool's key for the run that waits in the session at this path."""
    return f"run {session}"


@dataclass(slots=True)
class Resume:
    """The waiting runs of one vault. `tell` publishes how each that was taken up has ended (`Ended`).

    `problem` says in one line what did not work last.
    """

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    tell: Callable[[Ended], object]
    problem: str = ""
    _look_at: float = field(default=0.0, init=False)
    _expire_at: float = field(default=0.0, init=False)
    _over_at: float = field(default=0.0, init=False)
    _wanted: bool = field(default=True, init=False)

    def start(self, _: object) -> None:
        """Close the runs whose process has gone."""
        closed = close_cut_off(self.workspace)
        if closed:
            logger.info("cut off, and closed as interrupted: %s", ", ".join(closed))

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A note in which people decide may have changed."""
        if any(self.workspace.vault.home.holds(each.path, APPROVALS, QUESTIONS) for each in event.events):
            self._wanted = True

    def tick(self, event: Tick) -> None:
        """Submit what is ready, if there may be something; once a day, close what nobody decided in time."""
        try:
            if event.now >= self._expire_at:
                self._expire_at = event.now + DAY
                approvals(self.workspace).expire()
            if event.now >= self._over_at:
                self._over_at, self._wanted = event.now + OVER, True  # a question may have run out
            if self._wanted and event.now >= self._look_at and not approvals(self.workspace).is_deciding:
                self._wanted = False
                self._submit()
        except (AgentError, OSError) as error:
            logger.warning("approvals: %s", error)
            self.problem = str(error)
            self._wanted, self._look_at = True, event.now + AGAIN

    def _submit(self) -> None:
        for mark in ready(self.workspace):
            key = session_key(mark.session)
            if not self.pool.has(key):
                priority = Priority.JOB if mark.job else Priority.RESUMED
                future = self.pool.submit(partial(self._run, mark), key=key, priority=priority)
                future.add_done_callback(partial(self._done, mark))

    def _run(self, mark: RunMark, cancelled: Cancelled) -> Ended:
        with self.open_runs() as runs:
            return runs.resume(mark.session, RunIO(cancelled=cancelled), lambda: self._check(mark))

    def _check(self, mark: RunMark) -> None:
        """Raises `LockHeld` where somebody has taken the run up meanwhile, or has changed its session."""
        if run_registry(self.workspace.vault).get(mark.id) != mark or not is_ready(self.workspace, mark):
            raise LockHeld("{session} does not wait any more", session=mark.session)

    def _done(self, mark: RunMark, future: "Future[Ended]") -> None:
        """A run has ended, or could not be taken up; called in its thread."""
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            ended = future.result()
            self.problem = f"{ended.session}: {ended.reason}" if ended.failure else ""
            self.tell(ended)
        elif isinstance(error, LockHeld):
            self._wanted, self._look_at = True, self.workspace.clock.monotonic() + AGAIN
        else:
            what = failure_text(error)
            logger.warning("the run in %s does not go on: %s", mark.session, what, exc_info=error)
            self.problem = f"{mark.session}: {what}"
