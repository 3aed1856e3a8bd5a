"""What the anchor says beside the task and its progress: what is left of the run's limits, and what to mind.

Both are empty most of the time: a limit is named when less than a fifth of it is left. What has failed is not a
warning, since the anchor lists it.
"""

from collections.abc import Callable, Iterator

from agent.config.run_settings import RunSettings as Limits
from agent.errors import AgentError
from agent.loop.limits import Progress
from agent.loop.repetition import MOST, Breaker
from agent.texts import Language, text

_SCARCE = 0.2
"""The part of a limit below which the model is told what is left."""
_NEARLY_FULL = 0.8
"""The part of the window's budget from which the model is told so."""


def whats_left(
    progress: Progress, limits: Limits, now: float, spending: Callable[[], float], language: Language
) -> tuple[str, ...]:
    """The limits of which little is left, each in a few words; `spending` returns the part left of money and tokens."""
    return tuple(_left(progress, limits, now, spending, language))


def _left(
    progress: Progress, limits: Limits, now: float, spending: Callable[[], float], language: Language
) -> Iterator[str]:
    steps, calls = limits.steps - progress.steps, limits.tool_calls - progress.tool_calls
    seconds = max(limits.seconds - (now - progress.since), 0.0)
    if steps <= 0:
        yield text("anchor.last_step", language)
    elif steps < limits.steps * _SCARCE:
        yield text("anchor.steps", language, number=steps)
    if calls < limits.tool_calls * _SCARCE:
        yield text("anchor.calls", language, number=calls)
    if seconds < limits.seconds * _SCARCE:
        yield text("anchor.seconds", language, number=int(seconds))
    try:
        money = spending()
    except AgentError:
        return  # the next call of the model raises it
    if money < _SCARCE:
        yield text("anchor.spending", language, part=f"{money:.0%}")


def what_to_mind(breaker: Breaker, full: float, tainted: bool, language: Language) -> tuple[str, ...]:
    """The warnings: calls that bring nothing new, a nearly full window (`full` from 0 to 1), untrusted text."""
    found = [
        text("anchor.repeated_last" if times >= MOST else "anchor.repeated", language, tool=tool, times=times)
        for tool, times in breaker.repeated
    ]
    found += [text("anchor.full", language, part=f"{full:.0%}")] if full >= _NEARLY_FULL else []
    return (*found, *([text("anchor.tainted", language)] if tainted else []))
