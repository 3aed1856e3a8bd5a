"""Does one task from its begin to its note in `tasks/done/`, for the daemon and for a person at the terminal.

The end of the note, what the task wrote, and the record of its run are one commit. That it was begun is on disk before
anything else, so that a task in which the program was stopped is neither lost nor begun for ever.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from agent.clock import in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable, UserError
from agent.growth.procedures.procedure import (
    PLANNED,
    OpenRuns,
    ProcedureCall,
    ProcedureResult,
    call_of_task,
    do_nothing,
)
from agent.growth.procedures.run import resume_procedure, run_procedure
from agent.llm.messages import Assistant, Cancelled, never
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Closed
from agent.loop.session import Session, load_session
from agent.markdown.links import note_link
from agent.runs.registry import run_registry
from agent.schedule.recurring import job_of_task, job_path
from agent.schedule.task import Task, TaskStatus
from agent.schedule.task_notes import (
    TaskEnd,
    TaskShelf,
    archive_done,
    count_done,
    end_task,
    load_task,
    load_tasks,
    mark_begun,
)
from agent.schedule.task_progress import BegunTask, TaskProgress
from agent.texts import text
from agent.vault.change import Request, Stamp, actor_of
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_LONG = frozenset(("explore_topic",))
"""Kinds of tasks that may take as long as research."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """The end of a task that was begun: `status` is `in_progress` if it waits for its person, and `pending` if it
    was stopped and will be begun again."""

    task: Task
    result: ProcedureResult

    @property
    def status(self) -> TaskStatus:
        """The status in its note."""
        if self.result.waits_for:
            return "in_progress"
        if self.result.is_stopped:
            return "pending"
        return "failed" if self.result.failure else "completed"

    @property
    def text(self) -> str:
        """Its result, or the reason why it failed."""
        return self.result.failure or self.result.text


@dataclass(frozen=True, slots=True)
class TaskWork:
    """The work on the tasks of one vault. `before_end` is called before the result of a task that is done is written;
    what it raises, leaves all as it was."""

    workspace: Workspace
    open_runs: OpenRuns
    before_end: Callable[[], object] = do_nothing

    def do(self, task: Task, cancelled: Cancelled = never) -> TaskEnded:
        """Do a task.

        Raises `LockHeld` while another process does it, `UserError` if it is not there any more or is over.
        """
        with run_registry(self.workspace.vault).held(f"task-{self.workspace.vault.content_id(task.id.encode())[:16]}"):
            fresh = load_task(self.workspace.vault, task.path)
            if not isinstance(fresh, Task) or not fresh.may_begin:
                raise UserError("{path} does not wait any more", hint="vault-agent jobs tasks history", path=task.path)
            progress = self.progress
            if progress.is_worn_out(fresh.id):
                return self._end(fresh, ProcedureResult(failure=self._text("stopped_twice")))
            progress.begin(fresh.id, self.workspace.clock.now())
            return self._do(fresh, cancelled)

    def finish_waiting(self, task: Task) -> TaskEnded | None:
        """End a task whose run has waited for its person, once that is over; None while it waits.

        Raises `UserError` for a task that waits for nobody.
        """
        begun = self.progress.begun.get(task.id)
        if begun is None or not begun.session:
            raise UserError("{path} waits for nobody", path=task.path)
        session = load_session(self.workspace.vault, begun.session)
        if session.open_run is not None:
            return None
        return self._ended(task, resume_procedure(task.kind, self._call(task, never), ended_run(session)))

    def cancel(self, task: Task, reason: str = "") -> None:
        """End a task that its person does not want, in the person's name."""
        end = TaskEnd("cancelled", self.workspace.clock.now(), reason)
        requests = end_task(self.workspace.vault, task, end, self.workspace.settings.vault.language)
        self._write(task, requests, Stamp("human", tool="tasks"))
        self.progress.end(task.id)

    def tidy(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """Move tasks that a person has ended in an editor to where tasks lie that are over; returns them."""
        moved: list[Task] = []
        vault, language, now = self.workspace.vault, self.workspace.settings.vault.language, self.workspace.clock.now()
        for task in tasks:
            requests = end_task(vault, task, TaskEnd(task.status, now, task.result or task.error), language)
            self._write(task, requests, Stamp("agent", tool="tasks"))
            self.progress.end(task.id)
            moved.append(task)
        return tuple(moved)

    @property
    def progress(self) -> TaskProgress:
        """The tasks that were begun on this machine, as they are on disk."""
        return TaskProgress.load(self.workspace.vault.records)

    def _do(self, task: Task, cancelled: Cancelled) -> TaskEnded:
        settings, clock = self.workspace.settings.schedule, in_machine_seconds(self.workspace.clock)
        minutes = settings.research_minutes if task.kind in _LONG else settings.task_minutes
        deadline = clock.monotonic() + minutes * 60
        call = self._call(task, lambda: cancelled() or clock.monotonic() >= deadline)
        try:
            result = run_procedure(task.kind, call)
        except Retryable:
            self.progress.give_up(task.id)
            raise
        except Exception as error:  # a task that cannot be done ends in its note, and the queue goes on
            if not isinstance(error, AgentError | OSError):
                logger.warning("the task %s failed", task.path, exc_info=True)
            reason = error.message if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            return self._end(task, ProcedureResult(failure=self.workspace.vault.masked(reason)))
        if result.is_stopped and not cancelled():
            late = replace(result, is_stopped=False, failure=self._text("too_long", minutes=f"{minutes:g}"))
            return self._end(task, late)
        return self._ended(task, result)

    def _call(self, task: Task, cancelled: Cancelled) -> ProcedureCall:
        def also(result: ProcedureResult) -> Sequence[Request]:
            self.before_end()
            if self.workspace.vault.read(task.path) is None:
                raise UserError("{path} does not wait any more", hint="vault-agent jobs tasks history", path=task.path)
            return self._end_requests(task, result)

        return replace(call_of_task(task, self.open_runs), cancelled=cancelled, also=also)

    def _ended(self, task: Task, result: ProcedureResult) -> TaskEnded:
        """The end of a task, by the result of its procedure; its note is written, if it is over."""
        progress, now = self.progress, self.workspace.clock.now()
        if result.waits_for:
            progress.wait(task.id, result.session, result.waits_for)
            says = self._text("waits", link=note_link(result.waits_for))
            begun = mark_begun(self.workspace.vault, task, _started(progress.begun.get(task.id), now), says)
            stamp = Stamp(actor_of(PLANNED + task.id), run=result.run, tool="tasks", session=result.session)
            self._write(task, begun, stamp, self.workspace.vault.held_of(result.session))
        elif result.is_stopped:
            progress.give_up(task.id)
        else:
            progress.end(task.id)
        return TaskEnded(task, result)

    def _end(self, task: Task, result: ProcedureResult) -> TaskEnded:
        """End a task whose procedure has written nothing."""
        self.before_end()
        vault, session = self.workspace.vault, result.session
        stamp = Stamp(actor_of(PLANNED + task.id), tool="tasks", session=session)
        self._write(task, self._end_requests(task, result), stamp, vault.held_of(session))
        self.progress.end(task.id)
        return TaskEnded(task, result)

    def _end_requests(self, task: Task, result: ProcedureResult) -> tuple[Request, ...]:
        """The requests with which a task is over; a recurring one that went well becomes a job."""
        vault, clock, language = self.workspace.vault, self.workspace.clock, self.workspace.settings.vault.language
        now, says = clock.now(), result.text
        started = _started(self.progress.begun.get(task.id), now)
        more: list[Request] = []
        if not result.failure and (job := job_of_task(vault, task, now)):
            more.append(job)
            link = f"[[{job_path(vault, task).removesuffix('.md')}]]"
            says = "\n\n".join(filter(None, (says, self._text("repeated", link=link))))
        if result.session:
            says = "\n\n".join(filter(None, (says, note_link(result.session))))
        end = TaskEnd(
            TaskEnded(task, result).status, now, result.failure or says, started, (now - started).total_seconds()
        )
        most = self.workspace.settings.schedule.tasks_kept
        old = archive_done(vault, _done_if_many(vault, most), max(most - 1, 0))
        return (*end_task(vault, task, end, language), *more, *old)

    def _write(self, task: Task, requests: Sequence[Request], stamp: Stamp, held: Sequence[str] = ()) -> None:
        if not requests:
            return
        subject = f"task({task.kind.replace('_', '-')}): {task.title}"
        with self.workspace.vault.transaction(subject, stamp, masked=True) as change:
            change.requests += requests
            change.release(*held)

    def _text(self, key: str, **values: object) -> str:
        return text(f"task.{key}", self.workspace.settings.vault.language, **values)


def ended_run(session: Session) -> Ended:
    """How the last run in a session that is over has ended, as the session's note says it."""
    closed = next(each.event for each in reversed(session.records) if isinstance(each.event, Closed))
    answer = next((each.text for each in reversed(session.history) if isinstance(each, Assistant) and each.text), "")
    return Ended(closed.run, session.path, RunOutcome(closed.outcome), answer, closed.reason)


def _started(begun: BegunTask | None, now: datetime) -> datetime:
    try:
        return datetime.fromisoformat(begun.at) if begun is not None else now
    except ValueError:
        return now


def _done_if_many(vault: Vault, most: int) -> TaskShelf:
    """The tasks that are over, if there are as many as may be kept; their notes are not read for nothing."""
    return load_tasks(vault) if count_done(vault) >= most else TaskShelf()
