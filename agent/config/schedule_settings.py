"""The settings of what the agent does by itself: waking, working, and jobs. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Form, Range
from agent.dataclass import dataclass

DAYS = Form(r"[0-6](-[0-6])?(,[0-6](-[0-6])?)*", "days such as 0-4 or 0,2,4; 0 is Monday")

MINUTES = Form(r"(\d{1,4}(,\d{1,4})*)?", "minutes such as 1,5,30")


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """When the agent is awake, and its work while it is."""

    enabled: bool
    """Run jobs and tasks at their times. Default true: nothing runs until you have written or enabled a job."""

    active_days: Annotated[str, DAYS]
    """The days of the week on which jobs run, such as `0-4` or `0,2,4`; 0 is Monday. A job's own `active_days` can only
    take days away; reminders come on all days of their own. Default `0-6`, every day."""

    idle_minutes: Annotated[float, Range(0.1, 1_440, "minutes")]
    """The time awake without any work after which the agent goes to sleep, in minutes. Default 5: several tasks in a
    row are one time awake."""

    work_minutes: Annotated[float, Range(1, 1_440, "minutes")]
    """The longest time of one piece of work, in minutes; what takes longer is asked to stop, unless its own limit is a
    longer one. Default 30, as long as a run may take."""

    task_minutes: Annotated[float, Range(0.1, 1_440, "minutes")]
    """The longest time of one task, in minutes. Default 10: ten times what most of them need."""

    research_minutes: Annotated[float, Range(0.1, 1_440, "minutes")]
    """The longest time of a task that explores a topic, in minutes. Default 60: it reads many sources."""

    tasks_waiting: Annotated[int, Range(1, 10_000, "tasks")]
    """The most tasks that wait; a new one is refused until one is done. Default 100: at ten minutes each a day and a
    night of work."""

    tasks_kept: Annotated[int, Range(0, 100_000, "tasks")]
    """The most tasks that are kept in `tasks/done/`; the oldest move to `archive/` first. Default 500."""

    @property
    def days(self) -> tuple[int, ...]:
        """The active days, 0 for Monday; a span such as `5-1` goes over the end of the week."""
        days: set[int] = set()
        for part in self.active_days.split(","):
            first, _, last = part.partition("-")
            days |= {(int(first) + step) % 7 for step in range((int(last or first) - int(first)) % 7 + 1)}
        return tuple(sorted(days))


@dataclass(frozen=True, slots=True)
class JobSettings:
    """Settings of jobs, the notes in `jobs/`."""

    max_consecutive_failures: Annotated[int, Range(1, 1_000, "failures")]
    """The failures of a job in a row after which it is stopped until you resume it. Default 3: one may be an outage,
    three are a mistake in the job."""

    retry_minutes: Annotated[str, MINUTES]
    """What was to be done once and was not is tried again after so many minutes, then after so many more, such as
    `1,5,30`; empty: not before the morning. Default `1,5,30`: a restart, an outage, a longer one. A job's own `retry`
    comes in place of it."""

    retry_hour: Annotated[int, Range(0, 23, "hours")]
    """The hour of the day at which it is tried again after that, each day. Default 8: its person reads the day's note
    then."""

    retry_days: Annotated[int, Range(0, 366, "days")]
    """The days for which it is tried again; 0: not at all. Default 7."""
