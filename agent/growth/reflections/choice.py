"""Which runs are looked at closely: by what became of them and what the person showed. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from agent.config.growth_settings import ReflectionSettings
from agent.growth.reflections.looked import RunLook
from agent.growth.reflections.reflecting import Occasion
from agent.runs.reactions import CORRECTIONS, Reaction
from agent.runs.run_course import RunCourse

LookReason: TypeAlias = Literal["failed", "corrected", "long", "many_calls", "all"]
PENDING = timedelta(days=1)
"""How long a run that is over waits to be reflected on, such as while no model can be asked."""


def occasion_of(
    course: RunCourse,
    reactions: Sequence[Reaction],
    looks: Sequence[RunLook],
    settings: ReflectionSettings,
    now: datetime,
) -> Occasion | None:
    """On which occasion a run is looked at now, after the `looks` at it so far; None if it is not.

    A question about the answer is no sign that it was wrong, so that alone it counts only with the depth `all`.
    """
    if not looks:
        is_fresh = now - course.ended <= PENDING
        return "task" if is_fresh and why_look(course, reactions, settings) is not None else None
    if course.is_guests or any(each.trigger == "feedback" for each in looks):
        return None
    known = {kind for each in looks for kind in each.reactions}
    wanted = CORRECTIONS | ({"followed_up"} if settings.depth == "all" else frozenset())
    return "feedback" if any(each.kind in wanted - known for each in reactions) else None


def why_look(course: RunCourse, reactions: Sequence[Reaction], settings: ReflectionSettings) -> LookReason | None:
    """Why a run is worth a close look; None if it is not.

    A run that ended before its model said anything teaches nothing: its model could not be asked. Neither does a
    guest's, as a guest shall not spend the owner's money by asking for what fails.
    """
    if not course.steps or (course.is_guests and settings.depth != "all"):
        return None
    if course.has_failed:
        return "failed"
    if any(each.kind in CORRECTIONS for each in reactions):
        return "corrected"
    if course.seconds >= settings.long_minutes * 60:
        return "long"
    if len(course.calls) >= settings.many_calls:
        return "many_calls"
    return "all" if settings.depth == "all" else None
