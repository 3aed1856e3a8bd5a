"""A job: a note in `jobs/` that says when to wake and what to do then.

The header has the settings, the body is the task in plain words. A job without a body and without `task` only wakes the
agent. What a job's runs came to is never written into its note: `history` has it. A header with a wrong field is no job
but a `JobProblem`, so that nothing runs otherwise than its person wrote.
"""

from datetime import datetime
from itertools import islice, takewhile
from pathlib import PurePosixPath
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from agent.dataclass import dataclass
from agent.schedule.header_fields import plain_id
from agent.schedule.occurrences import Occurrence, machine_zone, next_times, zone_of
from agent.schedule.procedures import TaskType
from agent.schedule.triggers import At, Trigger
from agent.texts import Sentence

TYPE = "job"
JobStatus: TypeAlias = Literal["active", "paused", "error", "ended"]
"""`error`: its failures have stopped it; `ended`: it ran at the last of its times. Its note need not say so."""
Mode: TypeAlias = Literal["main", "isolated"]
CatchUp: TypeAlias = Literal["skip", "once"]
JobSource: TypeAlias = Literal["static", "dynamic", "goal"]
DAILY_CHANNEL = "daily"
"""The channel of answers that are written into the day's note."""
NO_CHANNEL = "none"
"""The channel of answers that stay in the session's note."""
EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
NO_TYPE = "type"
"""The `key` of the problem that a note in `jobs/` does not say that it is a job."""
PROBLEM = "> [!warning] vault-agent: "
"""The beginning of the line that the program writes into a job's note while it has a wrong field."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The number of tries after a failed run, and the seconds before the first one; doubled each time."""

    most: int = 0
    backoff_seconds: int = 60

    def seconds_after(self, attempt: int) -> float:
        """The seconds between the end of this attempt, counted from 1, and the next one."""
        return self.backoff_seconds * 2.0 ** (attempt - 1)


@dataclass(frozen=True, slots=True)
class Job:
    """One job, as its note says it.

    `text` is the task in plain words, `task` the procedure that does it, for the note `target_file` if it has one; both
    empty: the job only wakes the agent. `remind`: its person hears the text at its time, and no model is asked.
    `spend` is the most dollars that it may cost a day, `timeout` the most seconds of one run (None: the settings').
    `run_on` names the only machine that runs it (empty: one of them, whichever is first). `active_days`: 0 is Monday.
    `digest` is the id of the note's content, `warnings` name what is likely misspelt in it.
    """

    id: str
    path: str
    title: str
    triggers: tuple[Trigger, ...]
    text: str = ""
    task: TaskType | None = None
    zone_name: str = ""
    status: JobStatus = "active"
    priority: int = 5
    channel: str = DAILY_CHANNEL
    mode: Mode = "isolated"
    approval_required: bool = False
    cooldown_seconds: int = 0
    max_concurrency: int = 1
    retry: Retry = Retry()
    spend: float | None = None
    timeout: int | None = None
    run_on: str = ""
    catch_up: CatchUp = "skip"
    source: JobSource = "static"
    active_days: tuple[int, ...] = EVERY_DAY
    user_id: str = ""
    created: datetime | None = None
    digest: str = ""
    target_file: str = ""
    remind: bool = False
    warnings: tuple[Sentence, ...] = ()

    @property
    def name(self) -> str:
        """The name of the job on the command line: its id, or the name of its note where that is no id."""
        stem = PurePosixPath(self.path).stem
        return stem if self.id == plain_id(stem, TYPE) else self.id

    @property
    def only_wakes(self) -> bool:
        """True if the job wakes the agent and does nothing else."""
        return not self.text and self.task is None and not self.remind

    @property
    def zone(self) -> ZoneInfo:
        """The zone of its times: the header's, else the machine's as it is now."""
        return zone_of(self.zone_name) if self.zone_name else machine_zone()

    @property
    def is_once(self) -> bool:
        """True if all its times are single ones."""
        return all(isinstance(each, At) for each in self.triggers)

    def next_occurrences(self, after: datetime, count: int) -> tuple[Occurrence, ...]:
        """The next times after a moment (aware), at most `count`; fewer if there are no more."""
        times = next_times(self.triggers, self.zone, after, self.created)
        return tuple(Occurrence(self.id, at) for at, _ in zip(times, range(count), strict=False))

    def coming(self, after: datetime, count: int) -> tuple[Occurrence, ...]:
        """The next times after a moment at which the job may run, on its active days; fewer if there are no more."""
        most = count if len(self.active_days) == 7 else count * 7 + 1_440
        return tuple(islice(filter(self.has_day_of, self.next_occurrences(after, most)), count))

    def occurrences_until(self, after: datetime, end: datetime, most: int) -> tuple[Occurrence, ...]:
        """The times after a moment and before another (both aware) on its active days, at most `most`."""
        times = takewhile(lambda at: at.timestamp() < end.timestamp(),
                          next_times(self.triggers, self.zone, after, self.created))  # fmt: skip
        found = (Occurrence(self.id, at) for at in times)
        return tuple(islice(filter(self.has_day_of, found), most))

    def has_day_of(self, occurrence: Occurrence) -> bool:
        """True if the job may run on the day of one of its own times, which is in its zone."""
        return occurrence.at.weekday() in self.active_days


@dataclass(frozen=True, slots=True)
class JobProblem:
    """A note in `jobs/` that cannot run: `key` of its header is wrong (empty: the header as a whole)."""

    path: str
    key: str
    message: Sentence
    hint: Sentence
