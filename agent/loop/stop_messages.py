"""The sentence for the reason of a run's stop, in the vault's language: notes with it are read much later.

Errors are raised in English, with their figures. A person's stop, and in other languages a limit and a repetition,
have a sentence of their own (`stopped` in `agent/texts/`); any other error is quoted unchanged.
"""

from agent.errors import AgentError, Interrupted, LimitReached, Stopping
from agent.events.notices import NoticeRaised
from agent.llm.spend import OF_ONE_JOB
from agent.loop.limits import Repeated
from agent.loop.request import RunRequest
from agent.texts import Language, text, translated


def stop_reason(stop: Exception, language: Language) -> str:
    """The reason in one line."""
    match stop:
        case Repeated(call=call, times=times) if language != "en":
            key = "stopped.same_failure" if stop.failed else "stopped.same_result"
            return text(key, language, call=call, times=times)
        case LimitReached(limit=limit):
            return _limit_sentence(limit, language) or translated(stop.message, language)
        case Interrupted():  # raised wherever the run was at that moment
            return text("stopped.by_person", language)
        case Stopping() if language != "en":
            return text("stopped.by_person", language)
        case AgentError():
            return stop.message
    return f"{type(stop).__name__}: {stop}"


def stop_hint(stop: Exception, language: Language) -> str:
    """The action that solves the problem; empty for none."""
    if isinstance(stop, Repeated) and language != "en":
        return text("stopped.ask_otherwise", language)
    if isinstance(stop, LimitReached) and _limit_sentence(stop.limit, language):
        key = "stopped.raise_in_job" if stop.limit == OF_ONE_JOB else "stopped.raise"
        return text(key, language, key=stop.limit)
    if isinstance(stop, LimitReached):
        return translated(stop.hint, language)
    return stop.hint if isinstance(stop, AgentError) else ""


def _limit_sentence(limit: str, language: Language) -> str:
    """The sentence for a limit; empty in English, and for a limit without one."""
    try:
        return text(f"stopped.{limit}", language) if language != "en" else ""
    except KeyError:
        return ""


_OF_A_DAY = frozenset({"spend.daily", "spend.daily_tokens", "spend.jobs", "spend.jobs_tokens"})
_PRIORITY = 0.8
"""Until the next day nothing more is done without the person."""
_WATCHED = "cli"
"""The channel of runs whose person sees their end."""


def spend_notice(stop: Exception, request: RunRequest, language: Language) -> NoticeRaised | None:
    """The notice about a run that was stopped; None if there is nothing that its person has to hear of."""
    if not isinstance(stop, LimitReached) or stop.limit not in _OF_A_DAY or request.speaker.channel == _WATCHED:
        return None
    lines = tuple(filter(None, (stop_reason(stop, language), stop_hint(stop, language))))
    return NoticeRaised("spend", _PRIORITY, text("notices.spend", language), lines, subject=stop.limit)
