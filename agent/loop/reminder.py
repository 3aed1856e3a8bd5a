"""When a model is reminded of its task, and what the reminder says beside the task and its progress.

A reminder stays in the conversation, so there are few: after many steps, when the task is out of sight, and when there
is something new to mind. What has failed is not a warning, since the anchor lists it.
"""

from collections.abc import Callable, Iterable, Iterator

from agent.config.run_settings import RunSettings as Limits
from agent.context.anchor import ANCHOR, Anchor
from agent.errors import AgentError
from agent.llm.messages import Assistant, Context, Message
from agent.loop.limits import Progress
from agent.loop.records import RecordedEvent, Spoken
from agent.loop.repetition import MOST, Breaker
from agent.texts import Language, text

EVERY = 8
"""The steps after which the model is reminded again."""
_SCARCE = 0.2
"""The part of a limit below which the model is told what is left."""
_FULL = (0.9, 0.8)
"""The parts of the window's budget from which the model is told so."""


def is_due(anchor: Anchor, of_run: Iterable[RecordedEvent], in_sight: Iterable[Message]) -> bool:
    """True if the model is to be reminded now. `of_run` are the events of the run, `in_sight` the messages that the
    model sees; it is told of its last step whatever it was told before."""
    said = [event.message for event in of_run if isinstance(event, Spoken)]
    told = [at for at, message in enumerate(said) if _is_anchor(message)]
    before = "\n".join(said[at].text for at in told)
    steps = sum(isinstance(message, Assistant) for message in said[told[-1] if told else 0 :])
    is_new = any(each not in before for each in (*anchor.warnings, *anchor.answers))
    is_scarce = bool(anchor.left) and text("anchor.left", anchor.language) not in before
    others = [message for message in in_sight if not isinstance(message, Assistant)]
    knows = any(anchor.task in each.text or _is_anchor(each) for each in others)
    is_last = text("anchor.last_step", anchor.language) in anchor.left
    return is_last or is_new or is_scarce or steps >= EVERY or not knows


def _is_anchor(message: Message) -> bool:
    return isinstance(message, Context) and message.source == ANCHOR


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
    reached = next((each for each in _FULL if full >= each), None)
    found += [text("anchor.full", language, part=f"{reached:.0%}")] if reached is not None else []
    return (*found, *([text("anchor.tainted", language)] if tainted else []))
