"""The settings of attention: how often, and when, the agent may speak up by itself. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Form, Range
from agent.dataclass import dataclass

_DAY = "(mon|tue|wed|thu|fri|sat|sun)"
_START, _END = r"([01]?\d|2[0-3])(:[0-5]\d)?", r"(([01]?\d|2[0-3])(:[0-5]\d)?|24(:00)?)"
_SPAN = f"({_DAY}(-{_DAY})? )?{_START}-{_END}"
QUIET_HOURS = Form(
    f"({_SPAN}(, ?{_SPAN})*)?",
    "hours such as 22-8, or by days: mon-fri 22-8, sat-sun 23-10",
)

INTERVALS = Form(
    r"([a-z][a-z_]*:\d{1,4}(, ?[a-z][a-z_]*:\d{1,4})*)?",
    "types of notices with minutes, such as spend:120, job_failed:60",
)


@dataclass(frozen=True, slots=True)
class AttentionSettings:
    """The person's attention, which is scarce: notices beyond these limits wait for the digest."""

    daily: Annotated[int, Range(0, 1_000, "notices")]
    """The most notices that are sent on one day. Default 5: more are read by nobody."""

    interval_minutes: Annotated[float, Range(0, 1_440, "minutes")]
    """The least time between two notices, in minutes. Default 30."""

    intervals: Annotated[str, INTERVALS]
    """The least times between two notices of one type, in minutes, such as `spend:120, job_failed:60`; the types are
    in `vault-agent notices`. Default empty: `interval_minutes` alone."""

    quiet: Annotated[str, QUIET_HOURS]
    """The hours without notices, such as `22-8`, or by days: `mon-fri 22-8, sat-sun 23-10`; `0-0` for none. Hours
    without days are for every day, and those of a night belong to the day on which they begin. Default `22-8`: jobs run
    at night, but what they have to say waits."""

    threshold: Annotated[float, Range(0, 1)]
    """The least priority of a notice that is sent, from 0 to 1. Default 0.6: what is below it is in the digest."""

    boost: Annotated[float, Range(0, 1)]
    """What is added to the priority of a notice that goes to a channel of `boosted`, from 0 to 1. Default 0.1."""

    boosted: str
    """The names of the channels whose notices count for more, such as `lark telegram`. Default empty: none."""
