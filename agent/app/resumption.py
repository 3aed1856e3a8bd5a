"""Takes up the runs whose person has decided, in threads of their own, for the daemon.

It looks when something has happened in the notes where people decide, and starts what is ready then: at most two runs
at a time, one in a session, and only runs that this machine has begun. The agent is built for each run, since most days
there is none. What cannot be started is said in `problem` and tried again when the next thing is decided.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field

from agent.app.build import App, reread
from agent.app.cut_off import close_cut_off
from agent.app.library import library
from agent.app.marks import Mark, marks_of
from agent.app.runs import Line, runs
from agent.app.waiting import approvals, is_ready, ready
from agent.errors import AgentError, LockHeld
from agent.loop.outcome import Ended
from agent.vault.folders import APPROVALS, QUESTIONS

TOGETHER = 2
"""Runs at the same time."""
PATIENCE = 4.0
"""Seconds that runs get to stop when the daemon does; they can be taken up again in any case."""
AGAIN = 10.0
"""Seconds until a session that another process is in is tried again."""
DAY = 86_400.0
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Resumption:
    """Runs that go on in the background. `problem` says in one line what did not work last; `close` stops them all.

    `told` hears how each ended, from its thread; `others` says how many runs go on elsewhere in this process.
    """

    app: App
    problem: str = ""
    told: Callable[[Ended], None] = lambda ended: None
    others: Callable[[], int] = lambda: 0
    _look_at: float = 0.0
    _expire_at: float = 0.0
    _wanted: bool = True
    _threads: dict[str, threading.Thread] = field(default_factory=dict)
    _stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def busy(self) -> int:
        """How many runs go on."""
        self._threads = {session: thread for session, thread in self._threads.items() if thread.is_alive()}
        return len(self._threads)

    def begin(self) -> None:
        """Close the runs whose process has gone."""
        closed = close_cut_off(self.app)
        if closed:
            logger.info("cut off, and closed as interrupted: %s", ", ".join(closed))

    def notice(self, paths: Iterable[str]) -> None:
        """Something has happened to these notes."""
        if any(path.startswith((APPROVALS, QUESTIONS)) for path in paths):
            self._wanted = True

    def step(self, now: float) -> None:
        """Start what is ready, if there may be something; once a day, close what nobody decided in time."""
        if now >= self._expire_at:
            self._expire_at = now + DAY
            self._guarded(lambda: approvals(self.app).expire())
        if self._wanted and now >= self._look_at:
            self._wanted = False
            self._guarded(lambda: self._start(now))

    def close(self) -> None:
        """Ask all runs to stop, and wait for them, but not for long."""
        self._stopping.set()
        for thread in self._threads.values():
            thread.join(PATIENCE / max(len(self._threads), 1))

    def _start(self, now: float) -> None:
        for mark in ready(self.app):
            if self.busy + self.others() >= TOGETHER:
                self._later(now)
            elif mark.session not in self._threads:
                thread = threading.Thread(target=self._run, args=(mark,), name="vault-agent-run", daemon=True)
                self._threads[mark.session] = thread
                thread.start()

    def _run(self, mark: Mark) -> None:
        """One run, in its thread."""
        try:
            app = reread(self.app)
            with closing(library(app)) as index, closing(runs(app, index)) as agent:
                ended = agent.resume(mark.session, Line(cancelled=self._stopping.is_set), lambda: self._check(mark))
            self.problem = f"{ended.session}: {ended.reason}" if ended.failure else ""
            self.told(ended)
        except LockHeld:
            self._later(self.app.clock.monotonic())
        except AgentError as error:
            self._trouble(mark, error.message)
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            logger.warning("the run in %s failed", mark.session, exc_info=True)
            self._trouble(mark, f"{type(error).__name__}: {error}")

    def _check(self, mark: Mark) -> None:
        """Nobody has taken the run up meanwhile, and nobody has changed its session."""
        if marks_of(self.app.vault).get(mark.id) != mark or not is_ready(self.app, mark):
            raise LockHeld(f"{mark.session} does not wait any more")

    def _later(self, now: float) -> None:
        self._wanted, self._look_at = True, now + AGAIN

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (AgentError, OSError) as error:
            logger.warning("approvals: %s", error)
            self.problem = str(error)

    def _trouble(self, mark: Mark, what: str) -> None:
        logger.warning("the run in %s does not go on: %s", mark.session, what)
        self.problem = f"{mark.session}: {what}"
