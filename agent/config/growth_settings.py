"""The settings of what the agent does by itself, to itself, and learns by itself. Part of `settings.Settings`."""

from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Form, Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MutationSettings:
    """Settings of trials of changed skills: each second use takes the variant, until each was used ten times."""

    mode: Literal["off", "careful", "usual", "autonomous"]
    """`usual`: of skills that the agent wrote itself, changes of a number, of the order or of one step are tried
    without asking, a new strategy after your yes; `careful`: each only after your yes; `autonomous`: a new strategy
    without asking, too; `off`: none is tried. Default usual. A skill that you wrote is never changed, and one that you
    have edited only after your yes."""

    min_improvement: Annotated[float, Range(0.01, 0.5)]
    """By how much the success rate of a variant must be higher, from 0 to 1, so that it is kept. Default 0.1: one
    more of ten uses."""

    tolerance: Annotated[float, Range(0.01, 0.5)]
    """By how much the success rate of a variant may be lower, from 0 to 1, before its trial ends early. Default 0.1."""

    pause_days: Annotated[int, Range(0, 365, "days")]
    """The days between the end of a trial of a skill and the next one. Default 7."""


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """Settings of the rules of conduct that the agent learns."""

    probation_uses: Annotated[int, Range(8, 200, "uses")]
    """The uses for which a rule is on probation: runs in which its case came up. Eight of ten have to go well. Default
    10: a rule with which nine of ten runs go well passes in 93 % of all cases, one with which every second run does in
    5 %."""


@dataclass(frozen=True, slots=True)
class CuriositySettings:
    """Settings of questions that the agent asks by itself."""

    unprompted: bool
    """Whether it may ask what nobody has prompted: which of two preferences holds, what it was unsure of in work that
    it did alone or could not do, and what such work needs before it begins. At most one question a day, after it has
    answered you or before such work, at most two open at once, none in quiet hours and none without a model; without an
    answer it goes on as it said. Default true."""

    days: Annotated[float, Range(0.1, 60, "days")]
    """How long such a question waits for an answer, in days. Default 3: then it does what it said it would."""

    spend: Annotated[float, Range(0, 1_000)]
    """What looking for questions may cost on a day, in US dollars, within what all jobs may (`spend.jobs`): one short
    call of the fast model before work that the agent does alone, once a week for the same task. Default 0.1: such a
    call is some six hundred tokens. When the money is spent, work begins without a look."""


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """The one switch of all growth."""

    enabled: bool
    """Whether the agent reflects on its runs, proposes rules for itself, tries changes of its own skills, learns its
    person's preferences and asks by itself. What it has learned already stays in use. Default true: each of these ends
    in a note that can be read, refused and undone, and costs a model's time only within `spend`."""

    mutations: MutationSettings
    """How changes of skills are tried. Default: small ones of the agent's own skills."""

    rules: RuleSettings
    """How long a rule is on probation. Default: about ten uses."""

    curiosity: CuriositySettings
    """What it asks by itself. Default: one question a day at most."""


@dataclass(frozen=True, slots=True)
class ReflectionSettings:
    """When the agent looks back at its runs, and how closely."""

    depth: Literal["notable", "all"]
    """Which runs are looked at closely: `all`, or the `notable` ones, which failed, were corrected or complained of,
    took long or used many tools. Default notable: most runs teach nothing, and each look is a call of a model. Only
    what teaches something is written down."""

    hour: Annotated[int, Range(0, 23, "o'clock")]
    """The hour of the day from which its runs are looked at together, once, if several of them may have something in
    common. Default 22."""

    long_minutes: Annotated[float, Range(0.1, 1_440, "minutes")]
    """The duration from which a run counts as long, in minutes. Default 5: most take seconds."""

    many_calls: Annotated[int, Range(1, 10_000, "calls")]
    """The tool calls from which a run counts as one with many. Default 10: a usual task needs one to five."""

    per_day: Annotated[int, Range(0, 1_000, "reflections")]
    """The most looks at single runs in a day. Default 20: a day with more trouble than that has one cause."""


@dataclass(frozen=True, slots=True)
class SearxngSettings:
    """An instance of SearXNG, such as one of your own, with `json` among the formats of its settings."""

    base_url: str
    """Its address, such as `http://127.0.0.1:8888`. Default empty: it is not asked."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """A search service that needs a key."""

    base_url: str
    """Its address. Default: the service itself."""

    api_key: Secret
    """The key, by reference: `env:NAME`, `keyring:NAME`, `file:PATH`. Default empty: it is not asked."""


@dataclass(frozen=True, slots=True)
class ResearchSettings:
    """The search engines. What is searched for goes to the first that is configured, and pages are read from here;
    without one, research reads the vault, folders that are named, and pages whose addresses are named."""

    searxng: SearxngSettings
    """Default: off."""

    brave: EngineSettings
    """Brave Search. Default: off."""

    tavily: EngineSettings
    """Tavily. Default: off."""

    @property
    def has_engine(self) -> bool:
        """True if an engine is configured."""
        keys = (self.brave.api_key.reference, self.tavily.api_key.reference)
        return bool(self.searxng.base_url or any(keys))


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
