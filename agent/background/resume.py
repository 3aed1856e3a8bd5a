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
from agent.background.part import Hears
from agent.background.pool import Pool, Priority
from agent.background.routine import LookEvery, On, Routine, changes_in
from agent.dataclass import dataclass
from agent.errors import LockHeld
from agent.events.types import DaemonStarted, FilesChanged
from agent.llm.messages import Cancelled
from agent.loop.outcome import Ended
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import approvals, is_ready, ready
from agent.runs.registry import RunMark, run_registry
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.folders import APPROVALS, QUESTIONS
from agent.workspace.workspace import Workspace

AGAIN = 10.0
"""Seconds until a session that another process is in is tried again."""

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
    _is_locked: bool = field(default=False, init=False)

    def start(self, _: object) -> None:
        """Close the runs whose process has gone."""
        closed = close_cut_off(self.workspace)
        if closed:
            logger.info("cut off, and closed as interrupted: %s", ", ".join(closed))

    def routines(self) -> tuple[Routine, ...]:
        """To submit what is ready, if there may be something; and once a day, to close what nobody decided in time."""
        decided = Routine(
            "decisions",
            lambda *_: self._submit(),
            on=(On(FilesChanged, changes_in(self.workspace.vault.home, APPROVALS, QUESTIONS)),),
            looks=(LookEvery(300.0), LookEvery(AGAIN, lambda: self._is_locked)),
            hears=(Hears(DaemonStarted, self.start),),
            retry=AGAIN,
            needs_settled=False,
            may_begin=lambda: not approvals(self.workspace).is_deciding,
            priority=None,
            trouble=lambda: self.problem,
        )
        expire = lambda *_: approvals(self.workspace).expire()  # noqa: E731
        daily = LookEvery(86_400.0)
        over = Routine("approvals", expire, looks=(daily,), retry=AGAIN, needs_settled=False, priority=None)
        return decided, over

    def _submit(self) -> None:
        self._is_locked = False
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
            self._is_locked = True
        else:
            what = failure_text(error)
            logger.warning("the run in %s does not go on: %s", mark.session, what, exc_info=error)
            self.problem = f"{mark.session}: {what}"
