"""The settings of what the agent does to itself and learns by itself. Part of `settings.Settings`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from agent.config.values import Range


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """The one switch of all growth."""

    enabled: bool
    """Whether the agent reflects on its runs, proposes rules for itself, tries changes of its own skills, learns its
    person's preferences and asks by itself. What it has learned already stays in use. Default true: each of these ends
    in a note that can be read, refused and undone, and costs a model's time only within `spend`."""


@dataclass(frozen=True, slots=True)
class ReflectionSettings:
    """When the agent looks back at its runs, and how closely."""

    depth: Literal["notable", "all"]
    """Which runs are looked at closely: `all`, or the `notable` ones, which failed, were corrected or complained of,
    took long or used many tools. The rest is counted in the review of the day. Default notable: most runs teach
    nothing, and each look is a call of a model."""

    hour: Annotated[int, Range(0, 23, "o'clock")]
    """The hour of the day from which its runs are reviewed together, once. Default 22: at 22:00 the job
    `self-reflection` looks back, too, and then both are one run."""

    long_minutes: Annotated[float, Range(0.1, 1_440, "minutes")]
    """The duration from which a run counts as long, in minutes. Default 5: most take seconds."""

    many_calls: Annotated[int, Range(1, 10_000, "calls")]
    """The tool calls from which a run counts as one with many. Default 10: a usual task needs one to five."""

    per_day: Annotated[int, Range(0, 1_000, "reflections")]
    """The most runs that are looked at closely in a day, without its review. Default 20: a day with more trouble than
    that has one cause."""

    errors_per_run: Annotated[int, Range(0, 100, "diagnoses")]
    """The most times in one run that the fast model is asked what an error means, so that the run goes on with its
    answer; 0 for never. Default 2: what two hints did not solve, a third will not."""

    error_seconds: Annotated[float, Range(0, 60, "seconds")]
    """The longest time that a run waits for such an answer, in seconds; a later one comes with the next step. Default
    5: about what the fast model needs, and as long as a person will wait."""
