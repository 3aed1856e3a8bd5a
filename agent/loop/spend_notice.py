"""The notice that a day's limit of spending has stopped a run that its person does not watch."""

from agent.errors import LimitReached
from agent.events.notices import NoticeRaised
from agent.loop.request import RunRequest
from agent.loop.stop_messages import stop_hint, stop_reason
from agent.texts import Language, text

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
