"""Looks at what goes wrong in a run while it goes on, and tells its model: a tool that has failed twice, a call that
the person refused or that took too long, and the person's own word that the last answer was no good.

Off by default: a strong model reads errors itself. The fast model is asked beside the run, which never waits for it;
its answer comes with the step after it is there. A run that has read what others have written is left alone: their
words could come back as advice.
"""

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import field

from agent.config.growth_settings import ReflectionSettings
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.bus import Injection, InjectionType
from agent.events.runs import IterationStarted, TaskCompleted, TaskStarted, ToolCallFailed
from agent.growth.reflections.course import CourseStep, is_own_work, steps_so_far
from agent.growth.reflections.error_record import COMPLAINT, SOURCE, ErrorRecord, error_text
from agent.growth.reflections.material import NOTHING, TASK, step_rows
from agent.growth.reflections.reactions import is_complaint
from agent.growth.reflections.reflecting import Reflecting
from agent.loop.records import Began
from agent.loop.session import Session, load_session
from agent.markdown.title import clipped

PRIORITY = 80
"""Before memories: it is about this step."""
MOST_TOKENS = 500
_STEPS, _ERROR = 12, 600
"""The last steps, and the characters of an error, that the model is shown."""
_KEPT = 64
_TWICE = 2
"""The failures of a tool from which it is looked at."""
_CLEAR = (" was not called:", "not carried out", "there is no tool ", " is not among the tools ")
"""Parts of errors that say themselves what to do."""

logger = logging.getLogger(__name__)


def start_beside(work: Callable[[], None]) -> None:
    """Begin some work beside the run."""
    threading.Thread(target=work, name="vault-agent-reflection", daemon=True).start()


@dataclass(slots=True)
class _Watched:
    """One run: what is to be asked about, what was noted already, how often each tool has failed, and the answer that
    is to come."""

    failures: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    times: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    pending: "Future[ErrorRecord | None] | None" = None


@dataclass(slots=True)
class RunningErrors:
    """What goes wrong in the runs of one process. `reflecting` opens the models of now; `enabled` and `settings` are
    those of the process. Thread-safe."""

    reflecting: Callable[[], Reflecting]
    enabled: bool
    settings: ReflectionSettings
    _runs: OrderedDict[str, _Watched] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def started(self, event: TaskStarted) -> None:
        """A run begins; its task may say that the answer before it was no good."""
        if not event.speaker.group and is_complaint(event.task):
            self._note(event.run, COMPLAINT, f"{COMPLAINT}“{clipped(event.task, _ERROR)}”", _TWICE)

    def failed(self, event: ToolCallFailed) -> None:
        """A call has failed; an error that says itself what to do is left alone, and so is the first of a tool."""
        if not any(words in event.error for words in _CLEAR):
            self._note(event.run, event.tool, f"{event.tool}: {clipped(' '.join(event.error.split()), _ERROR)}")

    def step(self, event: IterationStarted) -> Sequence[Injection]:
        """What the model of the run is told before its next step."""
        with self._lock:
            watched = self._runs.get(event.run)
        if watched is None:
            return ()
        with self._lock:
            failures, watched.failures = watched.failures, []
            is_free = watched.pending is None and watched.asked < self.settings.errors_per_run
            if failures and is_free:
                watched.asked += 1
                watched.pending = self._ask(event.session, event.run, tuple(failures))
            pending = watched.pending
        if pending is None or not pending.done():
            return ()
        try:
            record = pending.result()
        except (AgentError, OSError) as error:
            logger.info("run %s: what went wrong was not looked at: %s", event.run, error)
            record = None
        with self._lock:
            watched.pending = None
        if record is None:
            return ()
        return (Injection(error_text(record), SOURCE, PRIORITY, type=InjectionType.WARNING),)

    def over(self, event: TaskCompleted) -> None:
        """A run has ended or paused."""
        with self._lock:
            self._runs.pop(event.run, None)

    def _note(self, run: str, kind: str, failure: str, times: int = 1) -> None:
        if not self.enabled or not self.settings.errors_per_run:
            return
        with self._lock:
            watched = self._runs.setdefault(run, _Watched())
            watched.times[kind] += times
            if failure not in watched.known and watched.times[kind] >= _TWICE:
                watched.known.add(failure)
                watched.failures.append(failure)
            while len(self._runs) > _KEPT:
                self._runs.popitem(last=False)

    def _ask(self, session: str, run: str, failures: tuple[str, ...]) -> "Future[ErrorRecord | None]":
        """Ask beside the run; the future has what was found, None if there is nothing to ask or nobody."""
        future: Future[ErrorRecord | None] = Future()

        def work() -> None:
            try:
                future.set_result(self._found(session, run, failures))
            except Exception as error:  # noqa: BLE001 - whoever waits for it hears of it
                future.set_exception(error)

        start_beside(work)
        return future

    def _found(self, path: str, run: str, failures: tuple[str, ...]) -> ErrorRecord | None:
        reflecting = self.reflecting()
        session = load_session(reflecting.vault, path)
        began = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
        is_wanted = began is not None and not is_own_work(began) and began.role == "owner" and not began.group
        if began is None or not is_wanted or session.untrusted or not reflecting.has_model:
            return None
        about, steps = _about(session, began, failures)
        values = {
            "original_request": clipped(about.task, TASK),
            "execution_trace": "\n".join(step_rows(steps)[-_STEPS:]) or NOTHING,
            "error": "\n".join(failures),
            "language": reflecting.prompt_language(),
        }
        asked = reflecting.ask("fast", "reflect_error", values, most=MOST_TOKENS)
        answer, failure = asked.answer, "; ".join(failures)
        if answer is None:
            return ErrorRecord(failure, kept=asked.kept) if asked.kept else None
        if not answer.error and not answer.strategies:
            return None
        return ErrorRecord(failure, answer.error, answer.error_kind, answer.strategies)


def _about(session: Session, began: Began, failures: Sequence[str]) -> tuple[Began, tuple[CourseStep, ...]]:
    """The run that the failures are about, with its steps: the present one, or the one before if the person complains
    as this one begins."""
    steps = steps_so_far(session, began.run)
    before = [each.event for each in session.records if isinstance(each.event, Began)]
    earlier = [each for each in before if each.sender == began.sender and each.run != began.run]
    is_complaint_only = not any(each.tool for each in steps) and bool(earlier) and bool(failures)
    if not is_complaint_only:
        return began, steps
    return earlier[-1], steps_so_far(session, earlier[-1].run)
