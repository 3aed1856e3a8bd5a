"""What a procedure is given, what it makes of it, and the form that each of them has."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, never
from agent.markdown.title import short_title
from agent.runs.service import RunService
from agent.schedule.job import Job
from agent.schedule.procedures import target_name
from agent.schedule.task import Task
from agent.texts import Language, text
from agent.vault.change import Request, actor_of
from agent.vault.folders import REFLECTIONS, AgentFolder
from agent.vault.store import Vault

OpenRuns: TypeAlias = Callable[[], AbstractContextManager[RunService]]
"""Opens the agent of the vault with the settings as they are now."""
ModelPart: TypeAlias = Literal["instead", "if_found", "own", "never"]
"""What a model does where one is configured: the work `instead` of the plain form, the same but only `if_found`, if the
plain form has found something, or nothing, `never`. `own`: the procedure asks models itself, in rooms of its own, and
its `Work` has the `result`."""
_REFLECTION = re.compile(rf"\[\[[^\]\n]*{REFLECTIONS}")
"""The begin of a link to a look back: a task with such a context was planned there."""
PLANNED = "task/"
"""The beginning of what a commit of a task names as its job: a task is not one of the jobs in `jobs/`."""


@dataclass(frozen=True, slots=True)
class ProcedureResult:
    """What a procedure came to.

    `text` says it to a person. `did_something` is false if there was nothing to do; then nothing was written but what
    the caller wanted (`ProcedureCall.also`). `paths` are the notes that were written, `money` is in US dollars.
    `is_plain`: no model was asked. `waits_for` is the note in which the person has to decide before the run goes on,
    `failure` why it failed; `is_stopped`: it was stopped and may be begun again. `strangers` are the sources of text
    that its run has read and that is not the person's. `stands_in` is the note that was written with all that `text`
    says: nobody need tell it a second time. `is_changed`: the tools of its run have changed notes.
    """

    text: str = ""
    did_something: bool = False
    paths: tuple[str, ...] = ()
    run: str = ""
    session: str = ""
    commits: tuple[str, ...] = ()
    is_changed: bool = False
    money: float = 0.0
    is_plain: bool = True
    waits_for: str = ""
    failure: str = ""
    is_stopped: bool = False
    strangers: tuple[str, ...] = ()
    stands_in: str = ""


def nothing_more(result: ProcedureResult) -> Sequence[Request]:
    """No request; for callers who write nothing of their own into the commit of a procedure."""
    return ()


@dataclass(frozen=True, slots=True)
class ProcedureCall:
    """One piece of work to be done.

    `job` names it in its commits, and in the account of what it costs; `spend` is what all runs of that name may cost
    on a day, in US dollars (None: no limit of its own). `target_file` is the note to work on, as the table of folders
    names it. `also` gives the requests that belong into the commit of the result. `cancelled` says whether to stop.
    """

    open_runs: OpenRuns
    job: str
    title: str = ""
    description: str = ""
    target_file: str = ""
    context: str = ""
    spend: float | None = None
    also: Callable[[ProcedureResult], Sequence[Request]] = nothing_more
    cancelled: Cancelled = never


def do_nothing() -> None:
    """Do nothing; for work after which nothing is left to do."""


def is_of_look_back(task: Task) -> bool:
    """True for a task that a look back has planned: nothing that a person said has led to it."""
    return _REFLECTION.match(task.context) is not None


def call_of_task(task: Task, open_runs: OpenRuns) -> ProcedureCall:
    """The call for a task."""
    words = (task.title, task.description, task.target_file, task.context)
    return ProcedureCall(open_runs, PLANNED + task.id, *words)


def call_of_job(job: Job, open_runs: OpenRuns, home: AgentFolder) -> ProcedureCall:
    """The call for a run of a job with a procedure; raises `BadPath` for a note that its procedure does not work on."""
    target = target_name(job.task, job.target_file, home) if job.task and job.target_file else ""
    return ProcedureCall(open_runs, job.id, job.title, job.text, target, spend=job.spend)


@dataclass(frozen=True, slots=True)
class ProcedureContext:
    """A call with the open agent, for a procedure's module; `session` is that of its run, once it has ended."""

    call: ProcedureCall
    runs: RunService
    now: datetime
    session: str = ""

    @property
    def vault(self) -> Vault:
        return self.runs.workspace.vault

    @property
    def language(self) -> Language:
        """The language of the vault's notes."""
        return self.runs.workspace.settings.vault.language

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def actor(self) -> str:
        """Who acts, as a commit names it."""
        return actor_of(self.call.job)

    def path(self, name: str) -> str:
        """The path in the vault of what the table of folders calls `name`."""
        return self.vault.home.at(name)

    def text(self, key: str, /, **values: object) -> str:
        """The sentence of a procedure, in the language of the vault."""
        return text(f"procedure.{key}", self.language, **values)

    def day_note(self, day: date) -> str:
        """The text of the note of a day that counts as the person's, empty if there is none."""
        return (self.vault.own_version(self.vault.home.day_note(day)) or b"").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Work:
    """What there is to do and to say: `text` for a person (empty: nothing was to be done), and `requests` to be
    written. `is_quiet`: nothing was to be done, and `text` says why. `stands_in` is the note in which the requests put
    what `text` says.

    `result` is what a procedure came to that asks models itself.
    """

    text: str = ""
    requests: tuple[Request, ...] = ()
    is_quiet: bool = False
    stands_in: str = ""
    result: ProcedureResult = ProcedureResult()


def answer_itself(context: ProcedureContext, answer: str) -> Work:
    """The answer as the result."""
    return Work(answer)


@dataclass(frozen=True, slots=True)
class Procedure:
    """One kind of work: the part of a `model` in it, the work without one (`plain`; where a model does the work, the
    `text` of that is what it is given), and what is written of its answer, and said of it."""

    model: ModelPart
    plain: Callable[[ProcedureContext], Work]
    from_answer: Callable[[ProcedureContext, str], Work] = answer_itself


def bullets(lines: Iterable[str]) -> str:
    """The lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def title_of(name: str) -> str:
    """A title for a note, from its name, such as `20-skills-abilities.md`."""
    words = re.sub(r"^\d+-", "", PurePosixPath(name).stem).replace("-", " ").replace("_", " ")
    return short_title(words) or words
