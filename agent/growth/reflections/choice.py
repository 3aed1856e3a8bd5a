"""Which runs are looked at closely: by what became of them and what the person showed. The rest is counted. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from agent.config.growth_settings import ReflectionSettings
from agent.growth.reflections.course import RunCourse
from agent.growth.reflections.reactions import CORRECTIONS, Reaction
from agent.growth.reflections.reflection import Reflection

LookReason: TypeAlias = Literal["failed", "corrected", "long", "many_calls", "all"]


def why_look(course: RunCourse, reactions: Sequence[Reaction], settings: ReflectionSettings) -> LookReason | None:
    """Why a run is worth a close look; None if it is only counted.

    A run that ended before its model said anything teaches nothing: its model could not be asked. A guest's is only
    counted, as a guest shall not spend the owner's money by asking for what fails.
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


def is_known(run: str, known: Iterable[Reflection]) -> bool:
    """True if the run itself was reflected on; what was noted of errors in it is not that."""
    return any(run in each.runs and each.trigger == "task" for each in known)


def new_reactions(
    run: str, reactions: Sequence[Reaction], known: Iterable[Reflection], settings: ReflectionSettings
) -> tuple[Reaction, ...]:
    """The reactions to a run that a reflection on them is worth; nothing if there was one, or if they stand in one.

    A question about the answer is no sign that it was wrong, so that alone it counts only with the depth `all`.
    """
    about = [each for each in known if run in each.runs and each.trigger in ("task", "feedback")]
    if any(each.trigger == "feedback" for each in about):
        return ()
    told = {kind for each in about for kind in each.reactions}
    wanted = CORRECTIONS | ({"followed_up"} if settings.depth == "all" else frozenset())
    return tuple(reactions) if any(each.kind in wanted - told for each in reactions) else ()
