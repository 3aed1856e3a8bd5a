"""Does the tasks in `tasks/`, one after the other, while the agent is awake: work for the pool, after what people ask.

The queue is read again when a note in `tasks/` or a decision has changed, and once a minute. Of several machines the
one that has the task's turn does it, after it has taken in what the others have done. What came of a task is in its
note; what does not work now is said in `problem` and tried again later.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from functools import partial

from agent.background.failures import failure_of, failure_text, log_failed_work
from agent.background.part import PACE
from agent.background.pool import Pool, Priority
from agent.background.presence import Presence
from agent.background.turns import TurnsToGiveBack
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, Retryable, UserError
from agent.events.types import FilesChanged
from agent.growth.procedures.procedure import OpenRuns, is_of_look_back
from agent.growth.task_work import TaskEnded, TaskWork
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.schedule.task import TURN, Task
from agent.schedule.task_notes import TaskShelf, load_task, load_tasks, ready
from agent.schedule.task_progress import TaskProgress
from agent.vault.folders import APPROVALS, TASKS
from agent.vault.sync.turns import NotOurTurn, Turn, take_turn
from agent.workspace.workspace import Workspace, reload_settings

KEY = "tasks"
"""The pool's key of all tasks: one is done at a time."""
PATIENCE = 20.0
"""Seconds that a task which has begun gets when the daemon stops."""
QUIET = 3.0
"""Seconds for which the notes in `tasks/` must have lain still, since a person may be writing them."""
LOOK = 60.0
"""Seconds until the queue is read again though nothing is known to have changed."""
LATER = 15.0
"""Seconds until a run that waits for the person is looked at again."""
AGAIN, AGAIN_AT_MOST = 10.0, 120.0
"""Seconds, at first and at most, until a task is tried again that could not be begun."""

logger = logging.getLogger(__name__)


def ignore_end(ended: TaskEnded) -> None:
    """Do nothing with what became of a task."""


@dataclass(slots=True)
class Tasks:
    """The tasks of one vault. `presence` says whether the agent is awake, and is told of the work; `on_end` is called
    with what became of each task, in its thread. `open_unasked` opens the runs of those that nobody has asked for."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    turns: TurnsToGiveBack
    presence: Presence
    open_unasked: OpenRuns
    on_end: Callable[[TaskEnded], object] = ignore_end
    problem: str = ""
    _shelf: TaskShelf = field(default_factory=TaskShelf, init=False)
    _progress: TaskProgress = field(init=False)
    _load_at: float = field(default=0.0, init=False)
    _wait_at: float = field(default=0.0, init=False)
    _is_enabled: bool = field(default=True, init=False)
    _later: dict[str, tuple[float, int]] = field(default_factory=dict, init=False)
    """The monotonic time of the next try by the task's id, and how often it could not be begun."""

    def __post_init__(self) -> None:
        self._progress = TaskProgress.load(self.workspace.vault.records)

    def turns_going_on(self) -> set[str]:
        """The names of the turns for the tasks that the last daemon has begun."""
        return {TURN + task for task in self._progress.begun}

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A note of a task, or of a decision about one, may have changed."""
        if any(self.workspace.vault.home.holds(each.path, TASKS, APPROVALS) for each in event.events):
            self._load_at = event.now + QUIET

    def turn(self, now: float) -> float:
        """Begin the next task, if there is one and nothing else of this kind goes on."""
        try:
            self._tend(now)
        except (AgentError, OSError) as error:
            self.problem = failure_text(error)
            logger.info("tasks: %s", self.problem)
        return 0.0 if self.pool.has(KEY) else PACE

    def _tend(self, now: float) -> None:
        if now >= self._load_at:
            self._load_at = now + LOOK
            self._load()
        if self.pool.has(KEY) or not self._is_enabled:
            return
        if self._shelf.ended:
            self._submit(self._tidy)
        elif now >= self._wait_at and (waiting := self._waiting()):
            self._wait_at = now + LATER
            self._submit(partial(self._look_after, waiting))
        elif task := self._next(now):
            self._begin(task)

    def _begin(self, task: Task) -> None:
        """Begin a task. After its person has sent the agent to sleep, only one that came later wakes it."""
        came, since = task.due or task.created_at, self.presence.sent_to_sleep
        if since is None or (came is not None and came > since):
            self.presence.wake(task.title)
        if self.presence.is_awake():
            self._submit(partial(self._work, task))

    def _load(self) -> None:
        """Read the queue; what is done only if a task needs another one."""
        self._is_enabled = reload_settings(self.workspace).settings.schedule.enabled
        shelf = load_tasks(self.workspace.vault, done=False)
        if any(task.dependencies for task in shelf.waiting):
            shelf = load_tasks(self.workspace.vault)
        self._shelf = shelf
        self._progress = TaskProgress.load(self.workspace.vault.records)
        wrong = shelf.problems
        self.problem = "; ".join(f"{each.path}: {each.message}" for each in wrong)

    def _next(self, now: float) -> Task | None:
        """The next task that may be begun: none that has to be tried later."""
        found = ready(self._shelf.waiting, self._shelf.done, self.workspace.clock.now())
        late = {task for task, (due, _) in self._later.items() if now < due}
        return next((each for each in found if each.id not in late), None)

    def _waiting(self) -> tuple[Task, ...]:
        """The tasks whose run waits for the person."""
        begun = self._progress.begun
        return tuple(each for each in self._shelf.waiting if each.id in begun and begun[each.id].session)

    def _submit(self, work: Callable[[Cancelled], object]) -> None:
        future = self.pool.submit(work, key=KEY, priority=Priority.JOB, patience=PATIENCE)
        future.add_done_callback(self._over)

    def _over(self, future: "Future[object]") -> None:
        """Some work is over: the queue has changed."""
        self._load_at = 0.0
        error = failure_of(future)
        if error is not None:
            self.problem = log_failed_work(logger, "tasks", error)

    def _tidy(self, cancelled: Cancelled) -> None:
        for task in TaskWork(self.workspace, self.open_runs).tidy(load_tasks(self.workspace.vault, done=False).ended):
            logger.info("%s was ended by hand (%s)", task.path, task.status)

    def _look_after(self, tasks: tuple[Task, ...], cancelled: Cancelled) -> None:
        """End the tasks whose run has waited for the person and is over."""
        for task in tasks:
            ended = TaskWork(self.workspace, self.open_runs).finish_waiting(task)
            if ended is not None:
                self._end(ended)

    def _work(self, task: Task, cancelled: Cancelled) -> None:
        """One task, in its thread."""
        try:
            turn = take_turn(self.turns.claims, TURN + task.id)
        except Retryable as error:
            self._try_later(task, error)
            return
        try:
            if isinstance(load_task(self.workspace.vault, task.path), Task):
                with self.presence.working(task.title, is_task=True) as done:
                    self._do(task, turn, cancelled, done)
        finally:
            self.turns.add(turn)

    def _do(self, task: Task, turn: Turn, cancelled: Cancelled, done: list[str]) -> None:
        def keep_turn() -> None:
            if not turn.finish():
                raise NotOurTurn("another machine has taken {path} over", path=task.path)

        workspace, open_runs = reload_settings(self.workspace), self.open_runs
        if is_of_look_back(task):
            workspace, open_runs = workspace.unasked, self.open_unasked
        try:
            work = TaskWork(workspace, open_runs, keep_turn)
            ended = work.do(task, lambda: cancelled() or turn.is_lost() or self._is_cancelled(task))
        except (Retryable, LockHeld) as error:
            self._try_later(task, error)
        except UserError as error:
            logger.info("%s: %s", task.path, error.message)
        else:
            self._later.pop(task.id, None)
            done += [task.title] if ended.result.did_something else []
            self._end(ended)

    def _is_cancelled(self, task: Task) -> bool:
        """True if the queue, as it was read last, has the task among those that a person has ended."""
        return any(each.id == task.id for each in self._shelf.ended)

    def _try_later(self, task: Task, error: AgentError) -> None:
        _, missed = self._later.get(task.id, (0.0, 0))
        wait = min(AGAIN * 2.0**missed, AGAIN_AT_MOST)
        self._later[task.id] = self.workspace.clock.monotonic() + wait, missed + 1
        logger.info("%s: not now: %s", task.path, error.message)

    def _end(self, ended: TaskEnded) -> None:
        logger.info("%s: %s", ended.task.path, ended.status)
        self.on_end(ended)
