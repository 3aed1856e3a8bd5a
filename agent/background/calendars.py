"""Keeps the copies of the person's calendars fresh, and says when one has changed: that may start a job."""

from collections.abc import Callable

from agent.background.pool import Priority
from agent.background.routine import LookEvery, Routine
from agent.events.types import CalendarChanged
from agent.llm.messages import Cancelled
from agent.runs.calendars import refresh_calendars
from agent.workspace.workspace import Workspace, reload_settings

_LOOK = 60.0
"""Seconds between two looks whether a copy is old; `calendars.minutes` says when it is."""
_RELOAD = 600.0
"""Seconds after which calendars that were set up meanwhile are seen."""


def calendar_routine(workspace: Workspace, publish: Callable[[CalendarChanged], object]) -> Routine:
    """The calendars of one vault's daemon."""
    has_some = bool(workspace.settings.calendars.sources.reference)

    def look(_: dict[str, None], cancelled: Cancelled) -> None:
        nonlocal has_some
        fresh = reload_settings(workspace)
        has_some = bool(fresh.settings.calendars.sources.reference)
        if changed := refresh_calendars(fresh, cancelled):
            publish(CalendarChanged(changed))

    return Routine(
        "calendars",
        look,
        looks=(LookEvery(_LOOK, lambda: has_some), LookEvery(_RELOAD)),
        needs_settled=False,
        names_problem=True,
        priority=Priority.NETWORK,
    )
