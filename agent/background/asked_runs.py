"""Runs that a person has asked for through a connection: begun at once in the pool, followed by their events.

A client of the pool. A run goes on when its reader leaves; what it says is kept for the one who comes back.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import field
from datetime import datetime

from agent.background.failures import failure_text
from agent.background.feed import Feed
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns, session_key
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.events.runs import (
    IterationStarted,
    ModelRetry,
    PlanChanged,
    TaskStarted,
    ToolCallFailed,
    ToolCallStarted,
    ToolCompleted,
)
from agent.llm.messages import Cancelled
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.runs.report import RunReport, report
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.workspace.workspace import Workspace

MOST = 8
"""Runs that may go on at the same time; more are refused."""
KEPT = 100
"""Runs that are remembered once they are over; all of them have their session's note."""
FOLLOWED = 20
"""Runs whose news are kept once they are over, as many as the page of questions lists; of older ones only how they
ended. The news of one take 6 KB and more."""


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelText:
    """A piece of the answer as the model writes it."""

    text: str


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run ended with an error before it had a result; `error` is None if the daemon was stopped before it began."""

    reason: str
    error: Exception | None = None


_Followed = TaskStarted | IterationStarted | PlanChanged | ToolCallStarted | ToolCompleted | ToolCallFailed | ModelRetry
RunNews = ModelText | _Followed | RunReport | RunFailed
"""What a reader of a run is shown; a `RunReport` or `RunFailed` is the last."""


@dataclass(slots=True, eq=False)
class AskedRun:
    """A run that was asked for: `session` is the path of its note, empty until it has one."""

    id: str
    task: str
    began: datetime
    session: str = ""
    news: Feed[RunNews] = field(default_factory=Feed)
    result: RunReport | RunFailed | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Ask the run to stop; what it has done so far stays."""
        self._stopped.set()

    def is_stopped(self) -> bool:
        """True if it was asked to stop."""
        return self._stopped.is_set()


@dataclass(slots=True)
class AskedRuns:
    """The runs of one daemon that were asked for through a connection. Thread-safe."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    _runs: dict[str, AskedRun] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, asked: RunRequest, session: str = "") -> AskedRun:
        """Begin a run, in a new session or in the one at this path; raises `UserError` if too many go on."""
        key = session_key(session) if session else ""
        return self.begin(asked.task, session, lambda runs, line: runs.ask(asked, session, line), key=key)

    def resume(self, session: str) -> AskedRun:
        """Go on with the run of a session that was cut off or waits; raises `UserError` if too many go on."""
        return self.begin("", session, lambda runs, line: runs.resume(session, line), key=session_key(session))

    def get(self, id: str) -> AskedRun | None:
        """The run with this id; None if it is not known any more."""
        return self._runs.get(id)

    def all(self) -> tuple[AskedRun, ...]:
        """The runs that go on and the last that are over, the newest first."""
        with self._lock:
            return tuple(reversed(self._runs.values()))

    def begin(
        self,
        task: str,
        session: str,
        work: Callable[[RunService, RunIO], Ended],
        *,
        key: str = "",
        resumed: bool = False,
    ) -> AskedRun:
        """Begin a run by `work`, in a session if it has a path already; it waits for other work of the pool with the
        `key`. `resumed`: its report is of the whole run. Raises `UserError` if too many go on."""
        run = AskedRun(self.workspace.clock.new_id(), task, self.workspace.clock.now(), session)
        with self._lock:
            going_on = [each for each in self._runs.values() if each.result is None]
            if len(going_on) >= MOST:
                raise UserError(
                    "{count} runs go on already", hint="wait until one is over, or stop one", count=len(going_on)
                )
            over = [each for each in self._runs.values() if each.result is not None]
            for old in over[: max(0, len(over) - KEPT)]:
                del self._runs[old.id]
            for old in over[: max(0, len(over) - FOLLOWED)]:
                if old.news.closed:
                    old.news.shorten(1)
            self._runs[run.id] = run
        future = self.pool.submit(
            lambda cancelled: self._perform(run, work, cancelled, resumed),
            key=key or f"asked:{run.id}",
            priority=Priority.PERSON,
        )
        future.add_done_callback(lambda done: self._finish(run, None if done.cancelled() else done.exception()))
        return run

    def _perform(
        self, run: AskedRun, work: Callable[[RunService, RunIO], Ended], cancelled: Cancelled, resumed: bool
    ) -> None:
        def follow(event: _Followed) -> None:
            if not isinstance(event, ModelRetry):
                run.session = run.session or event.session
            run.news.put(event)

        with self.open_runs() as runs:
            tools = (ToolCallStarted, ToolCompleted, ToolCallFailed, PlanChanged)
            runs.bus.subscribe(follow, *tools, name="asked run's tools", timeout=None)
            runs.bus.subscribe(follow, TaskStarted, IterationStarted, ModelRetry, name="asked run", timeout=None)
            line = RunIO(lambda piece: run.news.put(ModelText(piece)), lambda: run.is_stopped() or cancelled())
            ended = work(runs, line)
            run.session = ended.session
            spent = runs.account.spent(ended.run.partition(".")[0])
            run.result = report(ended, spent, self.workspace.vault, runs.capturing.wait_for, resumed=resumed)
            run.news.put(run.result)  # what it says is written into memory after that

    def _finish(self, run: AskedRun, error: BaseException | None) -> None:
        if run.result is None:
            failure = error if isinstance(error, Exception) else None
            run.result = RunFailed(failure_text(error) if error is not None else "the daemon was stopped", failure)
            run.news.put(run.result)
            level = logging.INFO if isinstance(error, AgentError) else logging.WARNING
            logger.log(level, "a run that was asked for failed: %s", run.result.reason)
        run.news.close()
